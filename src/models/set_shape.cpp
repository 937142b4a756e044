#include "models/set_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "infer/infer.h"
#include "ir/copy.h"
#include "ir/edit.h"
#include "models/dims.h"
#include "models/values.h"
#include "types/type_meant.h"

namespace sardonyx::models {
namespace {

Result<Type> type_of(const ir::Value& value, const std::string& text) {
    bool is_shape = !text.empty() && text[0] == '[';
    std::string whole = is_shape ? "FLOAT" + text : text;
    std::optional<Type> type = parse_type(whole);
    if (!type || !type->is_known()) {
        return Error{fmt::format("`{}={}`: this is not a type; write it as `{}=FLOAT[N,4]`{}",
                                 value.name, text, value.name,
                                 is_shape ? std::string() : type_help(text))};
    }
    if (is_shape) {
        ElementType element = value.type.element_type();
        if (!value.type.is_tensor() || element == ElementType::kUndefined) {
            return Error{
                fmt::format("`{0}` is not a tensor of a known element type: write the whole "
                            "type, as `{0}=FLOAT{1}`",
                            value.name, text)};
        }
        type->set_element_type(element);
    }
    if (value.is_initializer() && value.constant &&
        !merge(*type, value.constant->type()).has_value()) {
        return Error{fmt::format("`{}` holds a tensor of type {}, which is not {}", value.name,
                                 value.constant->type().to_string(), type->to_string())};
    }
    return *type;
}

Result<void> set_sizes(ir::Model& model, const ShapeRequest& request) {
    std::vector<std::string> known = dims_of(model);
    std::vector<std::string_view> names(known.begin(), known.end());
    for (const auto& [name, size] : request.sizes) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            std::string near = did_you_mean(name, names);
            return Error{fmt::format("there is no dimension `{}`{}", name, near)};
        }
    }
    if (!request.sizes.empty()) {
        replace_dims(model, [&](std::string_view name) {
            for (const auto& [one, size] : request.sizes) {
                if (one == name) {
                    return Dim(size);
                }
            }
            return Dim::symbol(name);
        });
    }
    return {};
}

// What the outputs are now: where it is known, what the operators say.
Result<void> infer_outputs(ir::Model& model) {
    std::unique_ptr<ir::Model> typed = ir::copy(model);
    for (const infer::Finding& finding : infer::infer_model(*typed)) {
        if (finding.kind->severity == diagnostics::Severity::kError) {
            return Error{fmt::format("the operators contradict it: {}", finding.message)};
        }
    }
    for (size_t i = 0; i < model.graph->outputs.size(); ++i) {
        ir::Value& output = *model.graph->outputs[i];
        const Type& inferred = typed->graph->outputs[i]->type;
        if (inferred.is_known()) {
            output.type = inferred;
        }
    }
    return {};
}

}  // namespace

Result<void> set_shapes(ir::Model& model, const ShapeRequest& request) {
    SDX_TRY(main_graph(model));
    SDX_TRY(set_sizes(model, request));
    ir::Editor editor(model);
    for (const auto& [name, text] : request.types) {
        SDX_ASSIGN(ir::Value * value, find_value(model, name));
        SDX_ASSIGN(Type type, type_of(*value, text));
        SDX_TRY(editor.set_type(*value, std::move(type)));
    }
    editor.settle();
    return infer_outputs(model);
}

}  // namespace sardonyx::models
