// isinstance(), issubclass(), type(), hasattr(), getattr() and setattr().
#pragma once

#include <optional>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The class of an object, as `type` gives it. Nothing: only a call or the environment can say.
std::optional<Object> known_type(const Object& object);

Object py_type(Context& c, const Arguments& a);
Object py_isinstance(Context& c, const Arguments& a);
Object py_issubclass(Context& c, const Arguments& a);
Object py_hasattr(Context& c, const Arguments& a);
Object py_getattr(Context& c, const Arguments& a);
Object py_setattr(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
