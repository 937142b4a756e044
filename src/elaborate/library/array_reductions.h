// NumPy's reductions of known arrays, as functions and methods: over all elements or one axis. Sums
// and products of floats are computed where every order of additions gives the same, because
// NumPy's order depends on how the array lies in memory.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The arguments are NumPy's: the array, `axis` (an int) and `keepdims`.
Object np_sum(Context& c, const Arguments& a);

Object np_prod_of_array(Context& c, const Arguments& a);

Object np_mean(Context& c, const Arguments& a);

Object np_var(Context& c, const Arguments& a);

Object np_std(Context& c, const Arguments& a);

Object np_median(Context& c, const Arguments& a);
Object np_percentile(Context& c, const Arguments& a);
Object np_quantile(Context& c, const Arguments& a);

Object np_average(Context& c, const Arguments& a);

Object np_norm(Context& c, const Arguments& a);

Object np_max(Context& c, const Arguments& a);

Object np_min(Context& c, const Arguments& a);

Object np_argmax(Context& c, const Arguments& a);

Object np_argmin(Context& c, const Arguments& a);

Object np_all(Context& c, const Arguments& a);

Object np_any(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
