// The Loop node of a body whose names have settled.
#pragma once

#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/loop_parts.h"

namespace sardonyx::elaborate {

// Names without a value at the end of an iteration have none after the loop either.
void forget_names(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                  const std::vector<Carried>& carried, const Round& round);

// Makes the node of a round whose types fit, and binds what it leaves.
Object emit_loop(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried,
                 Round& round);

}  // namespace sardonyx::elaborate
