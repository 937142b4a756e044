// The object of a name.
#pragma once

#include "elaborate/context.h"

namespace sardonyx::elaborate {

// The object of a name, from the scopes outwards to the environment; reports an unknown or unbound
// one.
Object lookup(Context& c, Symbol name, syntax::Range range);

}  // namespace sardonyx::elaborate
