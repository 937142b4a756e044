// An argument of an operator as a value of the graph: its element type follows from the operator's
// type variables.
#include "elaborate/emit/operator_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calls/literal_types.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/context.h"
#include "lowering/literal.h"
#include "ops/ops.h"
#include "ops/standard.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// --- Python values as inputs ---------------------------------------------------------------------

// The tensor among the inputs that gives a type variable its element type; one whose type is not
// known where there is no other. Python's numbers bend to the others.
ir::Value* tensor_of_variable(const ops::Schema& schema, const BoundCall& call, int variable) {
    ir::Value* like = nullptr;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const ops::Parameter* parameter = schema.input(i);
        const Object* object = call.inputs[i].object;
        if (parameter == nullptr || parameter->type_variable != variable || object == nullptr ||
            !object->is_tensor() || object->is_number_tensor()) {
            continue;
        }
        if (parameter->option == ops::ParameterOption::kVariadic && !parameter->is_homogeneous) {
            continue;
        }
        auto is_known = [](const ir::Value* value) {
            return value->type.element_type() != ElementType::kUndefined;
        };
        if (like == nullptr || (!is_known(like) && is_known(object->value()))) {
            like = object->value();
        }
    }
    return like;
}

// What a literal consists of; numbers of the run are as those that are known.
lowering::LiteralKind kind_of_literal(const Object& object) {
    if (object.is_sequence()) {
        lowering::LiteralKind kind = lowering::LiteralKind::kNone;
        for (const Object& item : object.items()) {
            kind = std::max(kind, kind_of_literal(item));
        }
        return kind;
    }
    if (object.is_number_tensor()) {
        ElementType type = number_type(object);
        return type == ElementType::kInt64  ? lowering::LiteralKind::kInt
               : type == ElementType::kBool ? lowering::LiteralKind::kBool
                                            : lowering::LiteralKind::kFloat;
    }
    return object.is(ObjectKind::kBool) ? lowering::LiteralKind::kBool
           : object.is_whole()          ? lowering::LiteralKind::kInt
                                        : lowering::LiteralKind::kFloat;
}

// The type for a Python value where no tensor settles it: the only one that the variable admits,
// else FLOAT for an integer where integers are not admitted.
ElementType default_type(const ops::TypeSet& types, const Object& object) {
    ElementType only = calls::only_type(types);
    return only != ElementType::kUndefined ? only
           : calls::are_ints_floats(types) &&
                   lowering::implied_type(kind_of_literal(object)) == ElementType::kInt64
               ? ElementType::kFloat
               : ElementType::kUndefined;
}

bool has_tensor_items(const Object& object) {
    return object.is_sequence() &&
           std::any_of(object.items().begin(), object.items().end(), [](const Object& item) {
               return (item.is_tensor() && !item.is_number_tensor()) ||
                      item.is(ObjectKind::kConstant);
           });
}

ir::Value* make_sequence(Context& c, const Object& object, Range range) {
    Emitter e(c, range);
    std::vector<ir::Value*> items;
    for (const Object& item : object.items()) {
        items.push_back(as_value(c, item, range));
        if (items.back() == nullptr) {
            return nullptr;
        }
    }
    OpsetObject opset = operator_opset(c);
    import_opset(c, opset, range);
    NodeRequest request;
    request.op_type = items.empty() ? "SequenceEmpty" : "SequenceConstruct";
    request.inputs = items;
    request.range = range;
    ir::Node* node = emit_node(c, std::move(request));
    return node != nullptr ? node->output() : nullptr;
}

// `op.Concat([x, y], axis=0)`: the operator takes the tensors one by one, and stacks no list.
void report_list_of_inputs(Context& c, const ops::Schema& schema, const ops::Parameter& parameter,
                           Range range, Range call_range) {
    std::string_view list = c.source(range);
    bool is_display = list.size() > 2 && (list.front() == '[' || list.front() == '(');
    std::string inputs =
        is_display ? std::string(list.substr(1, list.size() - 2)) : fmt::format("*{}", list);
    while (!inputs.empty() && (inputs.back() == ',' || inputs.back() == ' ')) {
        inputs.pop_back();
    }
    std::string_view whole = c.source(call_range);
    std::string repaired(whole);
    if (range.begin >= call_range.begin && range.end <= call_range.end) {
        repaired.replace(range.begin - call_range.begin, range.end - range.begin, inputs);
    }
    c.report(kUnsupportedOperand, range,
             fmt::format("a list of tensors as input `{}` of `{}`, which takes them one by one",
                         parameter.name, schema.name))
        .with_help(fmt::format("write `{}`", repaired))
        .edit(c.span(range), inputs);
}

// The sizes of a Reshape without nodes (sizes.h); nothing: they need some, or it is no Reshape.
std::optional<Object> plain_sizes(const ops::Schema& schema, const BoundCall& call, size_t index) {
    const Object* data = call.inputs[0].object;
    if (index != 1 || !ops::is_standard(schema, "Reshape") || data == nullptr ||
        !data->is_tensor()) {
        return std::nullopt;
    }
    bool allow_zero = std::any_of(
        call.attributes.begin(), call.attributes.end(), [](const ir::Attribute& attribute) {
            const int64_t* flag = attribute.get<int64_t>();
            return attribute.name == "allowzero" && (flag == nullptr || *flag != 0);
        });
    return reshape_sizes(data->value(), *call.inputs[1].object,
                         allow_zero ? ZeroSize::kEmpty : ZeroSize::kStays);
}

// Whether an input of this type is a tensor in all cases.
bool is_settled(const ops::Schema& schema, const BoundCall& call, int variable) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const ops::Parameter* parameter = schema.input(i);
        const Object* object = call.inputs[i].object;
        if (parameter != nullptr && parameter->type_variable == variable && object != nullptr &&
            object->is_tensor_like() && !object->is_number_tensor() && !object->is_either()) {
            return true;
        }
    }
    return false;
}

}  // namespace

ir::Value* input_value(Context& c, const ops::Schema& schema, const BoundCall& call, size_t index,
                       Range call_range) {
    const Object& object = *call.inputs[index].object;
    Range range = call.inputs[index].range;
    const ops::Parameter* parameter = schema.input(index);
    if (object.is_tensor() && !object.is_number_tensor()) {
        return object.is_either() && !is_settled(schema, call, parameter->type_variable)
                   ? (report_either(c, range), nullptr)
                   : object.value();
    }
    const ops::TypeSet& types =
        schema.type_variables[static_cast<size_t>(parameter->type_variable)].types;
    if (object.is_sequence() && types.sequence != 0 &&
        (types.tensor == 0 || has_tensor_items(object))) {
        return make_sequence(c, object, range);
    }
    if (parameter->option == ops::ParameterOption::kVariadic && has_tensor_items(object)) {
        report_list_of_inputs(c, schema, *parameter, range, call_range);
        return nullptr;
    }
    if (object.is(ObjectKind::kNone) || object.is(ObjectKind::kClosure) ||
        object.is(ObjectKind::kScript) || object.is(ObjectKind::kOpset) ||
        object.is(ObjectKind::kDict) || object.is(ObjectKind::kOpaque)) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} as input `{}` of `{}`", kind_name(object), parameter->name,
                             schema.name))
            .with_help("give a tensor, a number, or a list of numbers");
        return nullptr;
    }
    ir::Value* like = tensor_of_variable(schema, call, parameter->type_variable);
    ElementType type = like != nullptr ? like->type.element_type() : ElementType::kUndefined;
    if (type == ElementType::kUndefined && like == nullptr) {
        type = default_type(types, object);
    }
    std::optional<Object> sizes = plain_sizes(schema, call, index);
    return as_value(c, sizes ? *sizes : object, range, type, like);
}

}  // namespace sardonyx::elaborate
