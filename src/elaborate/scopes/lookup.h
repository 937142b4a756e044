// The object of a name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Values of names of files, once looked up: one value for one elaboration.
struct Globals {
    std::map<std::pair<const syntax::Tree*, uint32_t>, Object> values;
    // Where it stands that one is not known.
    struct Said {
        size_t place = SIZE_MAX;
        std::string message;
    };
    std::map<std::pair<const syntax::Tree*, uint32_t>, Said> said;
};

// The object of a name, from the scopes outwards to the environment; reports an unknown or unbound
// one.
Object lookup(Context& c, Symbol name, syntax::Range range);

}  // namespace sardonyx::elaborate
