// Nested functions and lambdas: called in place, or as subgraphs.
#pragma once

#include <span>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Runs a nested function or lambda in place.
Object call_closure(Context& c, const Closure& closure, const Arguments& arguments);

}  // namespace sardonyx::elaborate
