// Objects as values of the graph: literals take the element type of what stands beside them.
#include "elaborate/emit/as_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "elaborate/emit/constants.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/static_tensors.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/context.h"
#include "infer/infer.h"
#include "lowering/operators.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

namespace {

// An attribute parameter as a tensor.
ir::Value* attribute_value(Context& c, const AttributeObject& attribute, syntax::Range range) {
    struct Row {
        ir::AttributeType type;
        std::string_view constant_attribute;
        ElementType element;
        bool is_list;
    };
    static constexpr Row kRows[] = {
        {ir::AttributeType::kFloat, "value_float", ElementType::kFloat, false},
        {ir::AttributeType::kInt, "value_int", ElementType::kInt64, false},
        {ir::AttributeType::kString, "value_string", ElementType::kString, false},
        {ir::AttributeType::kTensor, "value", ElementType::kUndefined, false},
        {ir::AttributeType::kFloats, "value_floats", ElementType::kFloat, true},
        {ir::AttributeType::kInts, "value_ints", ElementType::kInt64, true},
        {ir::AttributeType::kStrings, "value_strings", ElementType::kString, true},
    };
    for (const Row& row : kRows) {
        if (row.type != attribute.type) {
            continue;
        }
        OpsetObject opset = operator_opset(c);
        import_opset(c, opset, range);
        NodeRequest request;
        request.version = opset.version;
        request.op_type = "Constant";
        ir::Attribute reference;
        reference.name = row.constant_attribute;
        reference.type = attribute.type;
        reference.reference = attribute.name;
        request.attributes.push_back(std::move(reference));
        request.range = range;
        ir::Node* node = emit_node(c, std::move(request));
        if (node == nullptr) {
            return nullptr;
        }
        ir::Value* value = node->output();
        if (row.element != ElementType::kUndefined && !value->type.is_known()) {
            value->type = Type::tensor(row.element, row.is_list ? Shape{Dim()} : Shape{});
        }
        if (attribute.is_bool) {
            Emitter e(c, range);
            value = e.emit("Cast", {value},
                           {ir::make_attribute("to", static_cast<int64_t>(ElementType::kBool))});
        }
        return value;
    }
    c.report(kUnsupportedOperand, range,
             fmt::format("the attribute parameter `{}` cannot be a tensor", attribute.name))
        .with_help("use it only as an attribute of an operator");
    return nullptr;
}

// Whether FLOAT holds all floats in it exactly.
bool fits_float(const Object& object) {
    if (object.is_sequence()) {
        return std::all_of(object.items().begin(), object.items().end(), fits_float);
    }
    double value = object.is(ObjectKind::kFloat) ? object.as_double() : 0;
    return static_cast<double>(static_cast<float>(value)) == value || std::isnan(value);
}

// A Python number that is known when the graph runs, as a literal would be: of `type`, of the type
// of `like`, or of what its kind implies.
ir::Value* number_value(Context& c, const Object& number, syntax::Range range, ElementType type,
                        ir::Value* like) {
    ir::Value* value = number.value();
    ElementType from = value->type.element_type();
    if (type == ElementType::kUndefined && like != nullptr) {
        return number_beside(c, value, like, range);
    }
    if (type == ElementType::kUndefined && number.is_either()) {
        report_either(c, range);
        return nullptr;
    }
    if (type == ElementType::kUndefined && from == ElementType::kUint64) {
        c.report(kUnsupportedOperand, range,
                 "an int of a UINT64 tensor as a tensor: it may not fit in INT64")
            .with_help("cast the tensor first, as in `op.Cast(x, to=INT64.dtype)`");
        return nullptr;
    }
    if (refuse_overflow(c, value, type, range)) {
        return nullptr;
    }
    type = type == ElementType::kUndefined && is_floating(from) ? ElementType::kFloat : type;
    bool stays = type == ElementType::kUndefined || from == ElementType::kUndefined ||
                 (from != ElementType::kBool && !is_floating(type) &&
                  (is_floating(from) || !is_integer(type)));  // a mismatch, as a literal is
    Emitter e(c, range);
    return stays ? value : lowering::cast(e, value, type);
}

// Whether every value of the attribute parameter can be of the element type: what its callers give
// is not known here. Where they are known, the function is built anew for what they give.
bool fits_unseen(Context& c, const AttributeObject& attribute, ElementType from, ElementType to,
                 syntax::Range range) {
    bool is_cut = is_floating(from) && !is_floating(to);
    bool is_narrowed = from == ElementType::kInt64 && is_integer(to) && to != ElementType::kInt64 &&
                       c.model.graph != nullptr;
    if (!is_cut && !is_narrowed) {
        return true;
    }
    c.report(kLossyLiteral, range,
             fmt::format("the attribute parameter `{}` is {}, and may not fit in {}",
                         attribute.name, is_cut ? "a float" : "an int", name(to)))
        .with_help(fmt::format("cast the tensor, or the attribute as in `op.Cast({}, to={}.dtype)`",
                               attribute.name, name(to)));
    return false;
}

}  // namespace

void report_either(Context& c, syntax::Range range) {
    c.report(kUnsupportedOperand, range,
             "whether it is an int, a float or a tensor is known only when the graph runs")
        .with_help(
            "give it one type in all cases, as by `0.0` or `op.CastLike(0, x)`, or annotate the "
            "result");
}

ir::Value* cast_like(Context& c, ir::Value* value, ir::Value* like, syntax::Range range) {
    Emitter e(c, range);
    // Inference tells this from a CastLike that somebody wrote by what it casts, which is made at
    // the same place.
    bool stands_here = value->producer() != nullptr && value->producer()->span == c.span(range);
    if (!stands_here && is_floating(value->type.element_type())) {
        value = e.emit("Cast", {value},
                       {ir::make_attribute("to", static_cast<int64_t>(ElementType::kDouble))});
    }
    return e.emit("CastLike", {value, like});
}

ir::Value* as_value(Context& c, const Object& object, syntax::Range range, ElementType type,
                    ir::Value* like) {
    switch (object.kind()) {
        case ObjectKind::kError:
            return nullptr;
        case ObjectKind::kTensor:
            return object.is_number_tensor() ? number_value(c, object, range, type, like)
                                             : object.value();
        case ObjectKind::kNumbers:
            return number_value(c, object, range, type, like);
        case ObjectKind::kAttribute:
        case ObjectKind::kConstant: {
            ir::Value* value = object.is(ObjectKind::kAttribute)
                                   ? attribute_value(c, object.get<AttributeObject>(), range)
                                   : emit_constant(c, object.get<Tensor>(), range);
            ElementType from = value != nullptr ? value->type.element_type() : type;
            if (object.is(ObjectKind::kConstant)) {
                return value;  // an array has its element type, as in NumPy
            }
            if (value != nullptr && type != ElementType::kUndefined &&
                !fits_unseen(c, object.get<AttributeObject>(), from, type, range)) {
                return nullptr;
            }
            if (value == nullptr || from == type ||
                (type == ElementType::kUndefined && like == nullptr)) {
                return value;
            }
            if (type != ElementType::kUndefined) {
                return Emitter(c, range).emit(
                    "Cast", {value}, {ir::make_attribute("to", static_cast<int64_t>(type))});
            }
            return cast_like(c, value, like, range);
        }
        default:
            break;
    }
    if (object.is_sequence() && (!object.is_static() || has_array(object))) {
        return mixed_list(c, object, range, type, like);
    }
    bool is_open = type == ElementType::kUndefined && like != nullptr;
    // Floats are exact until the type is known.
    type = is_open && !fits_float(object) ? ElementType::kDouble : type;
    std::optional<Tensor> tensor = static_tensor(c, object, type, range);
    if (!tensor) {
        return nullptr;
    }
    if (!is_open) {
        return shared_constant(c, std::move(*tensor), range);
    }
    // One of its own, which cast_like() tells by its place from what somebody has written.
    ir::Value* constant = emit_constant(c, std::move(*tensor), range);
    return constant != nullptr ? cast_like(c, constant, like, range) : nullptr;
}

}  // namespace sardonyx::elaborate
