// Functions of `math` on integers, which are exact.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object math_gcd(Context& c, const Arguments& a);
Object math_lcm(Context& c, const Arguments& a);
Object math_comb(Context& c, const Arguments& a);
Object math_perm(Context& c, const Arguments& a);
Object math_factorial(Context& c, const Arguments& a);
Object math_isqrt(Context& c, const Arguments& a);
// pow(base, exponent, modulus)
Object power_modulo(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
