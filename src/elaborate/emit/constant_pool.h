// Constants that several nodes of a model read, and the names of arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

struct ConstantPool {
    // The names of arrays by where their elements lie, and the arrays, which hold on to the place.
    std::map<const std::byte*, std::pair<Tensor, std::string>> array_names;
    // Arrays with a name that have so many bytes are initializers.
    size_t initializer_bytes = kInitializerBytes;
    // Of the main graph, by a fingerprint of their elements: equal arrays share one.
    std::multimap<size_t, ir::Value*> initializers;
    // The integer constants of subscripts and the like, by graph and elements.
    std::map<std::pair<const ir::Graph*, std::pair<bool, std::vector<int64_t>>>, ir::Value*> int64s;
};

}  // namespace sardonyx::elaborate
