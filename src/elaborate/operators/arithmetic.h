// Arithmetic on objects.
#pragma once

#include "elaborate/objects/context.h"
#include "elaborate/operators/operands.h"

namespace sardonyx::elaborate {

Object binary(Context& c, syntax::BinaryOp op, const Operand& first, const Operand& second,
              syntax::Range range);

}  // namespace sardonyx::elaborate
