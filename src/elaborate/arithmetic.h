// Arithmetic on objects.
#pragma once

#include "elaborate/context.h"

namespace sardonyx::elaborate {

Object binary(Context& c, syntax::BinaryOp op, const Object& a, const Object& b,
              syntax::Range range, syntax::Range a_range, syntax::Range b_range);

Object eval_unary(Context& c, const syntax::UnaryExpr* expr);

// a + b + c + ... leans to the left as deep as it is long: its spine is walked, not recursed into.
Object eval_binary(Context& c, const syntax::BinaryExpr* expr);

}  // namespace sardonyx::elaborate
