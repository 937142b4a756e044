// Truth values. Python asks a tensor for one in a condition, and where `and`, `or` or a chain of
// comparisons stands.
#include "elaborate/operators/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/operators/special_methods.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::Range;

bool has_one_element(const Type& type) {
    return type.has_shape() && std::all_of(type.shape().begin(), type.shape().end(),
                                           [](const Dim& dim) { return dim.equals(Dim(1)); });
}

ir::Value* truth_operand(Context& c, const Object& object, Range range, std::string_view word,
                         const std::string& repair) {
    ir::Value* value = as_value(c, object, range);
    if (value == nullptr) {
        return nullptr;
    }
    ElementType type = value->type.element_type();
    if (type != ElementType::kBool && type != ElementType::kUndefined) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} on a tensor of {}: Python returns one of the operands", word,
                             name(type)))
            .with_help("compare it, as in `x != 0`, or choose with `op.Where`");
        return nullptr;
    }
    if (has_one_element(value->type)) {
        return value;
    }
    if (value->type.has_shape()) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} on `{}`, whose elements have no single truth value", word,
                             type_text(value->type)))
            .with_help(repair);
        return nullptr;
    }
    Emitter e(c, range);
    return e.emit("Reshape", {value, e.int64s({})});
}

Object condition(Context& c, const Object& object, Range range) {
    if (object.is_error() || (truth(object) && !object.is_tensor_like())) {
        return object.is_error() ? object : Object::boolean(*truth(object));
    }
    if (std::optional<Object> special = special_truth(c, object, range)) {
        return *special;
    }
    if (object.is(ObjectKind::kConstant)) {
        if (std::optional<bool> holds = truth(object)) {
            return Object::boolean(*holds);
        }
    }
    if (std::optional<bool> holds = settled_truth(object)) {
        return Object::boolean(*holds);
    }
    if (object.is_numbers() || is_sequence_value(object)) {
        Emitter e(c, range);
        const char* counts = object.is_numbers() ? "Size" : "SequenceLength";
        return as_object(e.emit("Greater", {e.emit(counts, {object.value()}), e.int64_scalar(0)}));
    }
    if (!object.is_tensor_like() || object.is_shape_tensor()) {
        c.report(kUnsupportedOperand, range, fmt::format("{} as a condition", kind_name(object)))
            .with_help("compare it with something");
        return Object::error();
    }
    ir::Value* value = as_value(c, object, range);
    if (value == nullptr) {
        return Object::error();
    }
    if (value->type.kind() != TypeKind::kTensor && value->type.is_known()) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("`{}` as a condition", type_text(value->type)))
            .with_help("use a tensor of BOOL");
        return Object::error();
    }
    if (value->type.has_shape() && !has_one_element(value->type)) {
        c.report(kAmbiguousTruthValue, range,
                 fmt::format("`{}` as a condition: its elements have no single truth value",
                             type_text(value->type)))
            .with_help("reduce it to one, as with `op.ReduceMax`, or choose with `op.Where`");
        return Object::error();
    }
    // What inference has computed is known: a branch that cannot run is not compiled.
    if (value->content != nullptr && value->content->elements.size() == 1 &&
        value->content->elements[0].is_static()) {
        return Object::boolean(value->content->elements[0].value() != 0);
    }
    ElementType type = value->type.element_type();
    if (type == ElementType::kBool || type == ElementType::kUndefined) {
        return Object::tensor(value);
    }
    // A number is true when it is not zero.
    return as_object(Emitter(c, range).emit(
        "Cast", {value}, {ir::make_attribute("to", static_cast<int64_t>(ElementType::kBool))}));
}

}  // namespace sardonyx::elaborate
