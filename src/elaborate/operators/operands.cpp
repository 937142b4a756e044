// The two operands of an operator as values of one element type: which of them bends to the other.
#include "elaborate/operators/operands.h"

#include <fmt/format.h>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// Operands of which one at least is a number that is known when the graph runs: it bends to the
// other one; of two Python numbers, an int bends to a float.
void bend_numbers(Context& c, const Operand& first, const Operand& second, ir::Value*& left,
                  ir::Value*& right) {
    const Object &a = first.object, &b = second.object;
    Range a_range = first.range, b_range = second.range;
    if (is_python_number(a) && is_python_number(b)) {
        ElementType type = common_type(a, b).value_or(ElementType::kUndefined);
        bool is_wide =
            number_type(a) == ElementType::kUint64 || number_type(b) == ElementType::kUint64;
        if (is_wide && type == ElementType::kInt64) {
            c.report(kUnsupportedOperand, is_wide ? a_range : b_range,
                     "an int of a UINT64 tensor beside one that may be negative")
                .with_help("cast the tensor first, as in `op.Cast(x, to=INT64.dtype)`");
            return;
        }
        left = as_typed_value(c, a, type, a_range);
        right = as_typed_value(c, b, type, b_range);
        return;
    }
    left = a.is_tensor() ? a.value() : as_value(c, a, a_range);
    right = b.is_tensor() ? b.value() : as_value(c, b, b_range);
    if (left != nullptr && right != nullptr && a.is_number_tensor()) {
        left = number_beside(c, left, right, a_range);
    } else if (left != nullptr && right != nullptr) {
        right = number_beside(c, right, left, b_range);
    }
}

}  // namespace

void as_operands(Context& c, const Operand& first, const Operand& second, ir::Value*& left,
                 ir::Value*& right) {
    const Object &a = first.object, &b = second.object;
    Range a_range = first.range, b_range = second.range;
    bool are_numbers = is_python_number(a) && is_python_number(b);
    if (a.is_number_tensor() || b.is_number_tensor() || are_numbers) {
        bend_numbers(c, first, second, left, right);
    } else if (a.is_tensor() || (a.is(ObjectKind::kAttribute) && !b.is_tensor())) {
        left = as_value(c, a, a_range);
        right =
            left == nullptr ? nullptr : as_value(c, b, b_range, left->type.element_type(), left);
    } else if (a.is(ObjectKind::kConstant) && !b.is_tensor()) {
        left = as_value(c, a, a_range);
        right =
            left == nullptr ? nullptr : as_value(c, b, b_range, left->type.element_type(), left);
    } else {
        right = as_value(c, b, b_range);
        left =
            right == nullptr ? nullptr : as_value(c, a, a_range, right->type.element_type(), right);
    }
}

Object refuse_operand(Context& c, std::string_view symbol, const Object& a, const Object& b,
                      Range range) {
    auto kind = [](const Object& object) {
        return is_optional_value(object) ? "an optional value" : kind_name(object);
    };
    c.report(kUnsupportedOperand, range,
             fmt::format("`{}` between {} and {}", symbol, kind(a), kind(b)))
        .with_help(is_optional_value(a) || is_optional_value(b)
                       ? "read it where `is not None` holds, or take what it holds: "
                         "`op.OptionalGetElement(...)`"
                       : "use tensors, numbers or lists of numbers");
    return Object::error();
}

bool meets_numpys_int(const Object& a, const Object& b) {
    auto is_other = [](const Object& one) {
        return one.is_tensor() && !is_python_number(one) &&
               one.value()->type.element_type() != ElementType::kUndefined &&
               one.value()->type.element_type() != ElementType::kInt64;
    };
    return (is_numpys_int(a) && is_other(b)) || (is_numpys_int(b) && is_other(a));
}

Object refuse_numpys_int(Context& c, Range range) {
    return refuse(c, range, "an int of NumPy, which is INT64, beside a tensor that is not",
                  "write `int(...)` around it, or `math.prod` for `np.prod`");
}

bool is_collection(const Object& object) {
    return object.is_sequence() || object.is(ObjectKind::kDict) || object.is_shape_tensor();
}

bool is_operand(const Object& object) {
    return (object.is_tensor_like() && !is_optional_value(object)) || object.is_number() ||
           object.is_sequence() || object.is(ObjectKind::kString);
}

}  // namespace sardonyx::elaborate
