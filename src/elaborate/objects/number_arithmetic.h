// Python's arithmetic on ints and floats that are known.
#pragma once

#include "base/int128.h"
#include "elaborate/objects/context.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

// Reported as the ZeroDivisionError that Python raises.
Object division_by_zero(Context& c, syntax::Range range);

// The error object, after a diagnostic, for what Python refuses and past 128 bits.
Object int_binary(Context& c, lowering::Binary op, Int128 a, Int128 b, syntax::Range range);
Object float_binary(Context& c, lowering::Binary op, double a, double b, syntax::Range range);

}  // namespace sardonyx::elaborate
