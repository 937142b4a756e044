// Methods of strings.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// "text".method(...).
Object string_method(Context& c, const MethodObject& method, const Arguments& arguments);

}  // namespace sardonyx::elaborate
