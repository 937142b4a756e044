// Comparisons, `is` and `in`.
#pragma once

#include "elaborate/objects/context.h"
#include "elaborate/operators/operands.h"

namespace sardonyx::elaborate {

// a op b, of two operands of a comparison.
Object compare_pair(Context& c, syntax::CompareOp op, const Operand& first, const Operand& second,
                    syntax::Range range);

}  // namespace sardonyx::elaborate
