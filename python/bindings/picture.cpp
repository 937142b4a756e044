#include "bindings/picture.h"

#include <memory>
#include <string>

#include "infer/infer.h"
#include "ir/copy.h"
#include "view/layout.h"
#include "view/write.h"

namespace sardonyx::python {

namespace {

constexpr size_t kMaxBoxes = 1500;

}  // namespace

nb::object picture(const ir::Model& model) {
    Result<view::Scene> scene = view::make_scene(model, nullptr, {});
    if (!scene.ok() || scene->box_count > kMaxBoxes) {
        return nb::none();
    }
    // Types are inferred in a copy, which shares the weights, so the model itself does not change.
    std::unique_ptr<ir::Model> copy = ir::copy(model);
    (void)infer::infer_model(*copy);
    scene = view::make_scene(*copy, nullptr, {});
    if (!scene.ok()) {
        return nb::none();
    }
    view::lay_out(*scene, true);
    std::string text = view::to_svg(*scene);
    return nb::str(text.c_str(), text.size());
}

}  // namespace sardonyx::python
