// The body of a script, run to the outputs of a graph.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

void run_body(Context& c, const ScriptFunction& function);

}  // namespace sardonyx::elaborate
