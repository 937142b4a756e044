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
#include "elaborate/emit/static_tensors.h"
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

// What gives the inputs of a type variable their element type: `like` where it is a tensor of the
// run, whose type may be unknown; `type` where it is known.
struct Settled {
    ElementType type = ElementType::kUndefined;
    ir::Value* like = nullptr;
};

// The tensor or array that settles the element type of an argument: itself, or the first one in a
// list. Null: Python's numbers alone, which bend to what stands beside them.
const Object* settling_item(const Object& object) {
    if (object.is_sequence()) {
        for (const Object& item : object.items()) {
            const Object* settling = settling_item(item);
            if (settling != nullptr) {
                return settling;
            }
        }
        return nullptr;
    }
    bool is_tensor = object.is_tensor() && !object.is_number_tensor() && !is_numpys_float(object);
    bool settles = is_tensor || object.is(ObjectKind::kConstant) || is_numpys_int(object);
    return settles ? &object : nullptr;
}

// The inputs of a type variable that is the same for all of them: `visit(object)`.
template <typename Visit>
void each_of_variable(const ops::Schema& schema, const BoundCall& call, int variable,
                      const Visit& visit) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const ops::Parameter* parameter = schema.input(i);
        const Object* object = call.inputs[i].object;
        bool is_same =
            parameter != nullptr &&
            (parameter->option != ops::ParameterOption::kVariadic || parameter->is_homogeneous);
        if (is_same && parameter->type_variable == variable && object != nullptr) {
            visit(*object);
        }
    }
}

// What settles a type variable; a tensor whose type is not known where there is no other.
Settled settled_by(const ops::Schema& schema, const BoundCall& call, int variable) {
    Settled found;
    each_of_variable(schema, call, variable, [&found](const Object& object) {
        const Object* item = settling_item(object);
        if (item == nullptr || found.type != ElementType::kUndefined) {
            return;
        }
        Settled one;
        if (item->is_tensor()) {
            one = {item->value()->type.element_type(), item->value()};
        } else {
            one.type = beside_tensors(*item).get<Tensor>().element_type();
        }
        if (one.type != ElementType::kUndefined || found.like == nullptr) {
            found = one;
        }
    });
    return found;
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

// A list that the graph makes, which is a row where a tensor is needed, as one that is written
// down.
bool is_list_of_scalars(const Type& type) {
    return type.kind() == TypeKind::kSequence && type.element().is_tensor() &&
           type.element().has_shape() && type.element().shape().empty();
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
    bool is_one = false;
    each_of_variable(schema, call, variable, [&is_one](const Object& object) {
        const Object* item = settling_item(object);
        is_one = is_one || (item != nullptr && !item->is_either());
    });
    return is_one;
}

}  // namespace

ir::Value* input_value(Context& c, const ops::Schema& schema, const BoundCall& call, size_t index,
                       Range call_range) {
    const Object& object = *call.inputs[index].object;
    Range range = call.inputs[index].range;
    const ops::Parameter* parameter = schema.input(index);
    const ops::TypeSet& types =
        schema.type_variables[static_cast<size_t>(parameter->type_variable)].types;
    if (object.is_tensor() && types.sequence == 0 && is_list_of_scalars(object.value()->type)) {
        return Emitter(c, range).emit(
            "ConcatFromSequence", {object.value()},
            {ir::make_attribute("axis", int64_t{0}), ir::make_attribute("new_axis", int64_t{1})});
    }
    if (object.is_tensor() && !object.is_number_tensor()) {
        return object.is_either() && !is_settled(schema, call, parameter->type_variable)
                   ? (report_either(c, range), nullptr)
                   : object.value();
    }
    if (object.is_sequence() && types.sequence != 0 &&
        (types.tensor == 0 || has_tensor_items(object))) {
        return make_sequence(c, object, range);
    }
    if (parameter->option == ops::ParameterOption::kVariadic &&
        (has_tensor_items(object) || (object.is_sequence() && has_array(object)))) {
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
    Settled by = settled_by(schema, call, parameter->type_variable);
    if (by.type == ElementType::kUndefined && by.like == nullptr) {
        by.type = default_type(types, object);
    }
    std::optional<Object> sizes = plain_sizes(schema, call, index);
    return as_value(c, sizes ? *sizes : object, range, by.type, by.like);
}

}  // namespace sardonyx::elaborate
