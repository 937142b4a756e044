// `and`, `or` and `not`.
#pragma once

#include <functional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

enum class BoolOperator : uint8_t { kAnd, kOr };

// `first and second`, or with `or`, where `first` is known only in the graph. `evaluate` gives the
// truth value of the second one, which Python does not look at when the first one decides: what may
// fail or has effects runs in a branch.
Object skippable(Context& c, BoolOperator op, ir::Value* first, syntax::Range range, uint32_t after,
                 const std::function<Object()>& evaluate);

Object eval_not(Context& c, const syntax::UnaryExpr* expr, const Object& operand);

Object eval_bool_op(Context& c, const syntax::BoolOpExpr* expr);

// The truth value of the test of an `if`, `while` or conditional expression: a tensor is made a
// scalar.
Object test_value(Context& c, const syntax::Expr* expr);

}  // namespace sardonyx::elaborate
