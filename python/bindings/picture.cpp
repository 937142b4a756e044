#include "bindings/picture.h"

#include <memory>
#include <string>

#include "infer/infer.h"
#include "proto/proto.h"
#include "view/layout.h"
#include "view/write.h"

namespace sardonyx::python {

namespace {

constexpr size_t kMaxBoxes = 1500;
constexpr size_t kMaxBytes = size_t{64} << 20U;  // of weights that are copied

size_t weight_bytes(const ir::Graph& graph) {
    size_t sum = 0;
    for (const ir::Value* value : graph.initializers) {
        bool has_bytes =
            value->constant.has_value() && value->constant->element_type() != ElementType::kString;
        sum += has_bytes ? value->constant->bytes().size() : 0;
    }
    return sum;
}

// A model is not changed once it is Python's, so types are found in a copy; null: no copy is made.
std::unique_ptr<ir::Model> typed_copy(const ir::Model& model) {
    if (model.graph == nullptr || weight_bytes(*model.graph) > kMaxBytes) {
        return nullptr;
    }
    Result<std::string> bytes = proto::write_model(model);
    if (!bytes.ok()) {
        return nullptr;
    }
    auto owner = std::make_shared<std::string>(std::move(*bytes));
    std::span<const std::byte> view(reinterpret_cast<const std::byte*>(owner->data()),
                                    owner->size());
    Result<std::unique_ptr<ir::Model>> copy = proto::read_model(view, owner);
    if (!copy.ok()) {
        return nullptr;
    }
    (void)infer::infer_model(**copy);
    return std::move(*copy);
}

}  // namespace

nb::object picture(const ir::Model& model) {
    Result<view::Scene> scene = view::make_scene(model, nullptr, {});
    if (!scene.ok() || scene->box_count > kMaxBoxes) {
        return nb::none();
    }
    if (std::unique_ptr<ir::Model> copy = typed_copy(model)) {
        scene = view::make_scene(*copy, nullptr, {});
    }
    if (!scene.ok()) {
        return nb::none();
    }
    view::lay_out(*scene, true);
    std::string text = view::to_svg(*scene);
    return nb::str(text.c_str(), text.size());
}

}  // namespace sardonyx::python
