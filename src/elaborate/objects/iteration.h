// What only the interpreter, which is above, can ask an instance for its items.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What `__iter__` of an instance gives; nothing: its class has none.
std::optional<Object> asked_iterator(Context& c, const Object& instance);

}  // namespace sardonyx::elaborate
