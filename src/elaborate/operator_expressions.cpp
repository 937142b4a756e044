// Expressions with an operator of arithmetic.

#include "elaborate/operator_expressions.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "elaborate/bool_operators.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/values.h"
#include "elaborate/expressions.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/arithmetic.h"
#include "elaborate/operators/lowered.h"
#include "elaborate/operators/special_methods.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

using syntax::Range;

Object eval_unary(Context& c, const syntax::UnaryExpr* expr) {
    Object operand = eval(c, expr->operand);
    if (operand.is_error()) {
        return operand;
    }
    lowering::Unary op = lowered(expr->op);
    if (op == lowering::Unary::kNot) {
        return eval_not(c, expr, operand);
    }
    if (std::optional<Object> special = special_unary(c, expr->op, operand, expr->range)) {
        return *special;
    }
    if (!operand.is_tensor_like()) {
        return static_unary(c, op, operand, expr->range);
    }
    if (std::optional<Object> known = array_unary(op, operand)) {
        return *known;
    }
    if (operand.is_shape_tensor()) {
        return refuse(c, expr->range, fmt::format("`{}` on a tuple", c.source(expr->range)),
                      "use the tensor `op.Shape(x)`");
    }
    Range ranges[] = {expr->operand->range};
    Emitter e(c, expr->range, ranges);
    if (is_python_number(operand)) {
        // Of a bool, the int; of an attribute or a float that FLOAT holds, as Python computes.
        ElementType type = number_type(operand);
        type = type == ElementType::kBool ? ElementType::kInt64 : type;
        ir::Value* value = as_typed_value(c, operand, type, expr->operand->range);
        return as_number(value != nullptr ? lowering::lower_unary(e, op, value) : nullptr)
            .either(gives_either(operand, operand));
    }
    ir::Value* value = as_value(c, operand, expr->operand->range);
    if (value == nullptr || op == lowering::Unary::kPlus) {  // a tensor of its own
        return as_object(value != nullptr ? e.emit("Identity", {value}) : nullptr)
            .either(operand.is_either());
    }
    return as_object(lowering::lower_unary(e, op, value)).either(operand.is_either());
}

Object eval_binary(Context& c, const syntax::BinaryExpr* expr) {
    std::vector<const syntax::BinaryExpr*> spine{expr};
    while (const auto* inner = syntax::maybe_as<syntax::BinaryExpr>(spine.back()->left)) {
        spine.push_back(inner);
    }
    Object left = eval(c, spine.back()->left);
    for (size_t i = spine.size(); i-- > 0;) {
        const syntax::BinaryExpr* node = spine[i];
        Object right = eval(c, node->right);
        left = binary(c, node->op, {left, node->left->range}, {right, node->right->range},
                      node->range);
    }
    return left;
}

}  // namespace sardonyx::elaborate
