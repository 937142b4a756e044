// Functions of `math`, and those of one number that NumPy has, too.
#pragma once

#include <span>
#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object math_floor(Context& c, const Arguments& a);
Object math_ceil(Context& c, const Arguments& a);
Object math_trunc(Context& c, const Arguments& a);
Object math_prod(Context& c, const Arguments& a);
Object np_prod(Context& c, const Arguments& a);

Object math_pow(Context& c, const Arguments& a);
Object math_log(Context& c, const Arguments& a);
Object math_atan2(Context& c, const Arguments& a);
Object math_copysign(Context& c, const Arguments& a);
Object math_fmod(Context& c, const Arguments& a);
Object math_isfinite(Context& c, const Arguments& a);
Object math_isinf(Context& c, const Arguments& a);
Object math_isnan(Context& c, const Arguments& a);

// The functions of one real number that `math` and NumPy share: sqrt, exp, sin, ...
struct RealFunction {
    std::string_view name;
    double (*function)(double);
};
std::span<const RealFunction> real_functions();
bool is_real_function(std::string_view module, std::string_view name);
// The stored text of "math.sqrt", which BuiltinObject borrows.
std::string_view real_function_name(std::string_view module, std::string_view name);
// The call of one, of the name "math.sqrt" or "numpy.sqrt".
Object call_real_function(Context& c, const BuiltinObject& builtin, const Arguments& a);

}  // namespace sardonyx::elaborate
