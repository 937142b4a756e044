// isinstance(), issubclass() and type().
#pragma once

#include <optional>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Whether it is an object, or a member of an enumeration, that the environment alone looks into.
bool is_of_environment(const Object& object);

// The class of an object, as `type` gives it. Nothing: only a call or the environment can say.
std::optional<Object> known_type(const Object& object);

Object py_type(Context& c, const Arguments& a);
Object py_isinstance(Context& c, const Arguments& a);
Object py_issubclass(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
