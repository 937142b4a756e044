// Comparisons, `is` and `in`.
#pragma once

#include "elaborate/context.h"

namespace sardonyx::elaborate {

// a op b, of two operands of a comparison.
Object compare_pair(Context& c, syntax::CompareOp op, const Object& a, const Object& b,
                    syntax::Range range, syntax::Range a_range, syntax::Range b_range);

Object eval_compare(Context& c, const syntax::CompareExpr* expr);

}  // namespace sardonyx::elaborate
