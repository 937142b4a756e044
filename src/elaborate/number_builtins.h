// Builtins on numbers: min, max, abs, round, pow, divmod, sum. What a graph computes becomes nodes.
#pragma once

#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/calls.h"

namespace sardonyx::elaborate {

Object py_max(Context& c, const Arguments& a);
Object py_min(Context& c, const Arguments& a);
Object py_abs(Context& c, const Arguments& a);
Object py_round(Context& c, const Arguments& a);
Object py_pow(Context& c, const Arguments& a);
Object py_divmod(Context& c, const Arguments& a);
Object py_sum(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
