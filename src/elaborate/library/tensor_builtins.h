// What Python's builtins and `math` mean on tensors. Python asks for one number where it compares
// or converts, so a tensor of several elements is refused there, with the operator that takes it.
#pragma once

#include <string_view>

#include "elaborate/emit/sizes.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object tensor_extreme(Context& c, const Arguments& arguments, Extreme which);
Object tensor_sum(Context& c, const Arguments& arguments);
enum class Quantifier : uint8_t { kAny, kAll };
Object tensor_any_all(Context& c, const Object& object, syntax::Range range, Quantifier which);
Object tensor_round(Context& c, const Arguments& arguments);
// int(x), float(x), bool(x).
Object tensor_number(Context& c, const Arguments& arguments, std::string_view type);
// math.sqrt(x); `name` without the module.
Object tensor_math(Context& c, std::string_view module, std::string_view name,
                   const Arguments& arguments);

}  // namespace sardonyx::elaborate
