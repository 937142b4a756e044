// The object of a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/pointer_map.h"
#include "base/symbol_map.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Values of names of files, once looked up: one value for one elaboration.
struct Globals {
    using Key = std::pair<const syntax::Tree*, uint32_t>;
    PointerMap<syntax::Tree, SymbolMap<Object>> values;
    // Where it stands that one is not known.
    struct Said {
        size_t place = SIZE_MAX;
        std::string message;
    };
    std::map<Key, Said> said;
};

// The object of a name, from the scopes outwards to the environment; reports an unknown or unbound
// one.
Object lookup(Context& c, Symbol name, syntax::Range range);

}  // namespace sardonyx::elaborate
