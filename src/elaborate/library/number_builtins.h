// Builtins on numbers: min, max, abs, round, pow, divmod, sum. What a graph computes becomes nodes.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object py_max(Context& c, const Arguments& a);
Object py_min(Context& c, const Arguments& a);
Object py_abs(Context& c, const Arguments& a);
Object py_round(Context& c, const Arguments& a);
Object py_pow(Context& c, const Arguments& a);
Object py_divmod(Context& c, const Arguments& a);
Object py_sum(Context& c, const Arguments& a);
// (5).bit_length() and the like, of numbers that are known.
Object number_method(Context& c, const MethodObject& method, const Arguments& a);

}  // namespace sardonyx::elaborate
