// Functions of `math` that look at or compute with floats that are known: hypot, isclose, frexp.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object math_hypot(Context& c, const Arguments& a);
Object math_dist(Context& c, const Arguments& a);
Object math_fsum(Context& c, const Arguments& a);
Object statistics_mean(Context& c, const Arguments& a);
Object statistics_median(Context& c, const Arguments& a);
Object math_isclose(Context& c, const Arguments& a);
Object math_remainder(Context& c, const Arguments& a);
Object math_nextafter(Context& c, const Arguments& a);
Object math_ulp(Context& c, const Arguments& a);
Object math_ldexp(Context& c, const Arguments& a);
Object math_frexp(Context& c, const Arguments& a);
Object math_modf(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
