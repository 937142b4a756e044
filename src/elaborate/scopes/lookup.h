// The object of a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Values of names of files, once looked up: one value for one elaboration.
struct Globals {
    using Key = std::pair<const syntax::Tree*, uint32_t>;
    struct Hash {
        size_t operator()(const Key& key) const {
            return std::hash<const syntax::Tree*>()(key.first) * 31 + key.second;
        }
    };
    std::unordered_map<Key, Object, Hash> values;
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
