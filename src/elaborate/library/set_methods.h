// Methods of sets.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// set.method(...). Those that change the set are called only where it may be changed (methods.h).
Object set_method(Context& c, const MethodObject& method, const Arguments& arguments);

// Whether the method changes the set that it is called on.
bool changes_set(std::string_view name);

}  // namespace sardonyx::elaborate
