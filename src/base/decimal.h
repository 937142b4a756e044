// Decimal texts to numbers, whatever the locale is.
#pragma once

#include <string_view>

namespace sardonyx {

// The nearest number to digits with at most one point and an exponent (`12.5e-3`; `_` among the
// digits counts for nothing), without a sign; infinity where there is none.
double nearest_double(std::string_view text);
float nearest_float(std::string_view text);

}  // namespace sardonyx
