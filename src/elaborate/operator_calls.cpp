// Calls of operators: op.Add(x, y). How many results there are, and the node.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/attributes.h"
#include "elaborate/emit/body_graphs.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/names.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/operator_inputs.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/scopes/held_values.h"
#include "elaborate/scopes/lookup.h"
#include "ops/ops.h"
#include "ops/standard.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// --- Results -------------------------------------------------------------------------------------

// `op.Split(x, sizes)` used as one value has as many results as there are sizes, where that is
// known.
std::optional<size_t> split_count(const ops::Schema& schema, const BoundCall& call) {
    if (!ops::is_standard(schema, "Split") || call.inputs.size() < 2) {
        return std::nullopt;
    }
    const Object& sizes = *call.inputs[1].object;
    if (sizes.is_sequence()) {
        return std::max<size_t>(sizes.items().size(), 1);
    }
    if (sizes.is(ObjectKind::kConstant)) {
        return std::max<size_t>(static_cast<size_t>(sizes.get<Tensor>().count()), 1);
    }
    const ir::Value* value = sizes.is_tensor() ? sizes.value() : nullptr;
    bool is_vector = value != nullptr && value->type.is_tensor() && value->type.has_shape() &&
                     value->type.shape().size() == 1 && value->type.shape()[0].is_static();
    return is_vector ? std::optional<size_t>(static_cast<size_t>(
                           std::max<int64_t>(value->type.shape()[0].value(), 1)))
                     : std::nullopt;
}

// How many outputs the node has when its results go into `wanted` targets (0: used as one value).
std::optional<size_t> output_count(Context& c, const ops::Schema& schema, const BoundCall& call,
                                   const Arguments& arguments, size_t wanted) {
    size_t least = schema.minimum_outputs, most = schema.maximum_outputs;
    for (const ir::Attribute& attribute : call.attributes) {
        // Control flow gives back what its body gives back.
        ir::Graph* const* graph = attribute.get<ir::Graph*>();
        if (graph != nullptr && most == UINT16_MAX) {
            size_t hidden = ops::is_standard(schema, "Loop") ? 1 : 0;
            least = most = (*graph)->outputs.size() - std::min((*graph)->outputs.size(), hidden);
        }
        if (ops::is_standard(schema, "Split") && attribute.name == "num_outputs") {
            const int64_t* count = attribute.get<int64_t>();
            least = most = count != nullptr && *count > 0 && *count < 10000
                               ? static_cast<size_t>(*count)
                               : most;
        }
    }
    if (wanted == 0) {
        std::optional<size_t> sizes = split_count(schema, call);
        return sizes ? *sizes : std::max<size_t>(least, 1);
    }
    if (wanted < least || wanted > most) {
        std::string range = least == most        ? fmt::format("{}", least)
                            : most == UINT16_MAX ? fmt::format("at least {}", least)
                                                 : fmt::format("{} to {}", least, most);
        c.report(kResultCount, arguments.range,
                 fmt::format("`{}` has {} result{}, and {} are unpacked", schema.name, range,
                             least == 1 && most == 1 ? "" : "s", wanted))
            .with_help("unpack as many as there are");
        return std::nullopt;
    }
    return wanted;
}

Object results(ir::Node* node, size_t wanted) {
    if (node == nullptr) {
        return Object::error();
    }
    if (wanted == 0 && node->output_count() == 1) {
        return Object::tensor(node->output());
    }
    std::vector<Object> items;
    for (ir::Value* output : node->outputs()) {
        items.push_back(Object::tensor(output));
    }
    return Object::tuple(std::move(items));
}

// An operator of a domain that has no schemas: inputs by position, attributes by keyword.
Object call_unknown_operator(Context& c, const OpsetObject& opset, std::string_view name,
                             const Arguments& arguments, size_t wanted) {
    import_opset(c, opset, arguments.callee_range);
    std::vector<ir::Value*> inputs;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        const Object& object = arguments.positional[i];
        inputs.push_back(object.is_none() ? nullptr : as_value(c, object, arguments.ranges[i]));
        if (inputs.back() == nullptr && !object.is_none()) {
            return Object::error();
        }
    }
    NodeRequest request;
    for (const KeywordArgument& keyword : arguments.keywords) {
        if (keyword.value.is_none()) {
            continue;
        }
        std::optional<ir::Attribute> attribute = make_attribute(
            c, keyword.name, ir::AttributeType::kUndefined, keyword.value, keyword.range);
        if (!attribute) {
            return Object::error();
        }
        request.attributes.push_back(std::move(*attribute));
    }
    request.domain = opset.domain;
    request.op_type = name;
    request.inputs = inputs;
    request.output_count = std::max<size_t>(wanted, 1);
    request.range = arguments.range;
    request.input_ranges = arguments.ranges;
    return results(emit_node(c, std::move(request)), wanted);
}

// Graph attributes need the types of the inputs: they come after the inputs are values.
bool is_graph_argument(const ops::Schema& schema, const KeywordArgument& keyword) {
    const ops::AttributeSchema* attribute = schema.find_attribute(keyword.name);
    return attribute != nullptr && attribute->type == ops::AttributeType::kGraph &&
           keyword.value.is(ObjectKind::kClosure);
}

// Adds the variables that an operator Gradient names in strings as inputs (names.h). False: one of
// them is no tensor, which has been reported.
bool add_differentiated(Context& c, const OpsetObject& opset, std::string_view op_type,
                        const Arguments& arguments, BoundCall& call,
                        std::vector<ir::Value*>* inputs) {
    std::vector<DifferentiatedName> names =
        differentiated_names(opset.domain, op_type, call.attributes);
    if (!names.empty() && inputs->size() + 1 != names.size()) {
        bool is_few = inputs->size() + 1 < names.size();
        c.report(is_few ? kTooFewInputs : kTooManyInputs, arguments.range,
                 fmt::format("`Gradient` has {} inputs, but `xs` and `zs` name {} tensors",
                             inputs->size(), names.size() - 1))
            .with_help("give one input for each name, first for `xs`, then for `zs`");
        return false;
    }
    for (const auto& [attribute, text] : names) {
        Range range = arguments.range;
        for (const auto& [key, place] : call.attribute_ranges) {
            range = key == attribute ? place : range;
        }
        Symbol name = syntax::find_name(c.tree().names, *text);
        if (!name.valid()) {
            c.report(kUnknownName, range, fmt::format("`{}` is not defined", *text))
                .with_help("`xs`, `zs` and `y` name tensors of the script");
            return false;
        }
        Object object = lookup(c, name, range);
        if (object.is_error()) {
            return false;
        }
        if (!object.is_tensor()) {
            c.report(kUnsupportedOperand, range,
                     fmt::format("`{}` is {}", *text, kind_name(object)))
                .with_help("`xs`, `zs` and `y` name tensors of the script");
            return false;
        }
        inputs->push_back(object.value());
    }
    return true;
}

// A scalar is reduced over axis 0 or -1 as PyTorch and ONNX Runtime's kernels do, which is to
// reduce all of it; but onnx and ONNX Runtime refuse a model that says so with constant axes.
void leave_out_axes_of_scalar(const ops::Schema& schema, std::vector<ir::Value*>& inputs,
                              std::vector<ir::Attribute>& attributes) {
    if (!schema.domain.empty() || !schema.name.starts_with("Reduce") || inputs.empty() ||
        inputs[0] == nullptr || !inputs[0]->type.has_shape() || !inputs[0]->type.shape().empty()) {
        return;
    }
    auto are_of_scalar = [](const std::vector<int64_t>& axes) {
        return !axes.empty() && std::all_of(axes.begin(), axes.end(),
                                            [](int64_t axis) { return axis == 0 || axis == -1; });
    };
    if (inputs.size() > 1 && inputs[1] != nullptr && inputs[1]->constant) {
        std::optional<std::vector<int64_t>> axes = to_int64s(*inputs[1]->constant);
        if (axes && are_of_scalar(*axes)) {
            inputs.resize(1);
        }
    }
    std::erase_if(attributes, [&](const ir::Attribute& attribute) {
        const auto* axes = attribute.get<std::vector<int64_t>>();
        return attribute.name == "axes" && axes != nullptr && are_of_scalar(*axes);
    });
}

// onnx takes a vector of one element for the value of ConstantOfShape; scripts write a number.
void make_value_a_vector(const ops::Schema& schema, std::vector<ir::Attribute>& attributes) {
    if (!schema.domain.empty() || schema.name != "ConstantOfShape") {
        return;
    }
    for (ir::Attribute& attribute : attributes) {
        Tensor* value = std::get_if<Tensor>(&attribute.value);
        if (value != nullptr && value->count() == 1 && value->rank() != 1) {
            *value = value->reshaped({1});
        }
    }
}

}  // namespace

Object call_operator(Context& c, const OpsetObject& written, std::string_view name,
                     const Arguments& arguments, size_t wanted) {
    auto differs = [](const KeywordArgument& one) { return differs_beside_tensors(one.value); };
    if (std::any_of(arguments.positional.begin(), arguments.positional.end(),
                    differs_beside_tensors) ||
        std::any_of(arguments.keywords.begin(), arguments.keywords.end(), differs)) {
        Arguments plain = arguments;
        std::transform(plain.positional.begin(), plain.positional.end(), plain.positional.begin(),
                       beside_tensors);
        for (KeywordArgument& keyword : plain.keywords) {
            keyword.value = beside_tensors(keyword.value);
        }
        return call_operator(c, written, name, plain, wanted);
    }
    OpsetObject opset = compiled_opset(c, written);
    bool is_known = true;
    const ops::Schema* schema = find_operator(c, opset, name, arguments, is_known);
    if (schema == nullptr) {
        return is_known ? Object::error()
                        : call_unknown_operator(c, opset, name, arguments, wanted);
    }
    import_opset(c, opset, arguments.callee_range);

    // Closures are set aside until the inputs have types.
    Arguments plain;
    std::vector<const KeywordArgument*> bodies;
    const Arguments* used = &arguments;
    for (const KeywordArgument& keyword : arguments.keywords) {
        if (is_graph_argument(*schema, keyword)) {
            bodies.push_back(&keyword);
        }
    }
    BoundCall call;
    if (bodies.empty()) {
        call = bind(c, *schema, *used);
    } else {
        plain = arguments;
        plain.keywords.clear();
        for (const KeywordArgument& keyword : arguments.keywords) {
            if (!is_graph_argument(*schema, keyword)) {
                plain.keywords.push_back(keyword);
            }
        }
        used = &plain;
        call.inputs.reserve(plain.positional.size() + plain.keywords.size());
        for (size_t i = 0; i < plain.positional.size(); ++i) {
            call.inputs.push_back({&plain.positional[i], plain.ranges[i]});
        }
        for (const KeywordArgument& keyword : plain.keywords) {
            bind_keyword(c, *schema, keyword, call);
        }
        check_inputs(c, *schema, plain, call);
        check_required(c, *schema, arguments, call);
    }
    if (call.failed) {
        return Object::error();
    }

    std::vector<ir::Value*> inputs(call.inputs.size());
    std::vector<Range> ranges;  // where keywords are among the inputs
    if (inputs.size() != used->ranges.size()) {
        std::transform(call.inputs.begin(), call.inputs.end(), std::back_inserter(ranges),
                       [](const auto& input) { return input.range; });
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Object* object = call.inputs[i].object;
        if (object == nullptr || object->is_none()) {
            continue;
        }
        inputs[i] = input_value(c, *schema, call, i, arguments.range);
        if (inputs[i] == nullptr) {
            return Object::error();
        }
    }
    while (!inputs.empty() && inputs.back() == nullptr) {
        inputs.pop_back();
    }
    if (name == "OptionalHasElement" && opset.domain.empty() && inputs.empty() &&
        !call.inputs.empty()) {
        return Object::boolean(false);
    }
    if (opset.domain.empty() && inputs.size() == 1 && is_held(c, inputs[0])) {
        if (name == "OptionalGetElement") {
            return Object::tensor(inputs[0]);
        }
        if (name == "OptionalHasElement") {
            return Object::boolean(true);
        }
    }
    if (name == "ConcatFromSequence" && opset.domain.empty() && inputs.size() == 1) {
        if (ir::Value* rows = stacked_rows(inputs[0], call.attributes)) {
            return Object::tensor(rows);
        }
    }
    leave_out_axes_of_scalar(*schema, inputs, call.attributes);
    make_value_a_vector(*schema, call.attributes);
    for (const KeywordArgument* body : bodies) {
        ir::Graph* graph = body_graph(c, *schema, inputs, call.attributes,
                                      body->value.get<Closure>(), body->range);
        if (graph == nullptr) {
            return Object::error();
        }
        call.attribute_ranges.emplace_back(body->name, body->range);
        call.attributes.push_back(ir::make_attribute(body->name, graph));
    }
    if (ops::is_standard(*schema, "Loop") && inputs.size() >= 2 && inputs[1] == nullptr) {
        // onnx.reference runs a Loop without a condition zero times.
        inputs[1] = emit_constant(c, Tensor::scalar<bool>(true), arguments.range);
    }
    std::optional<size_t> outputs = output_count(c, *schema, call, arguments, wanted);
    if (!outputs) {
        return Object::error();
    }
    if (!add_differentiated(c, opset, name, arguments, call, &inputs)) {
        return Object::error();
    }
    NodeRequest request;
    request.domain = opset.domain;
    request.op_type = name;
    request.inputs = inputs;
    request.attributes = std::move(call.attributes);
    request.output_count = *outputs;
    request.range = arguments.range;
    request.input_ranges = ranges.empty() ? used->ranges : ranges;
    request.attribute_ranges = call.attribute_ranges;
    return results(emit_node(c, std::move(request)), wanted);
}

}  // namespace sardonyx::elaborate
