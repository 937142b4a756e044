// Expressions with an operator of arithmetic.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object eval_unary(Context& c, const syntax::UnaryExpr* expr);

// a + b + c + ... leans to the left as deep as it is long: its spine is walked, not recursed into.
Object eval_binary(Context& c, const syntax::BinaryExpr* expr);

}  // namespace sardonyx::elaborate
