// Calls of scripts.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object call_script(Context& c, const ScriptFunction& function, const Arguments& arguments,
                   size_t wanted);

}  // namespace sardonyx::elaborate
