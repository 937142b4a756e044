// The object of a name.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Values of names of files, once looked up: one value for one elaboration.
struct Globals {
    std::map<std::pair<const syntax::Tree*, uint32_t>, Object> values;
};

// The object of a name, from the scopes outwards to the environment; reports an unknown or unbound
// one.
Object lookup(Context& c, Symbol name, syntax::Range range);

}  // namespace sardonyx::elaborate
