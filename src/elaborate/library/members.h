// Members of objects: op.Add, x.shape, math.pi.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A member of an object: op.Add, x.shape, math.pi.
Object member(Context& c, const Object& object, std::string_view name, syntax::Range range,
              syntax::Range name_range);

// The `name` of a Closure that `functools.wraps` has given one which the compiler does not know.
inline constexpr std::string_view kUnknownFunctionName = "?";

// The `__name__` of a function of a file, a lambda or a script; nothing: it is not known.
std::optional<std::string> name_of_function(const Object& function);

}  // namespace sardonyx::elaborate
