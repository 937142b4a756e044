// Constants that several nodes of a model read, and the names of arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/emit/constants.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

struct NamedArray {
    Tensor array;  // holds on to the place of its elements
    std::string name;
    NamedBy by = NamedBy::kVariable;
};

struct ConstantPool {
    // The names of arrays by where their elements lie.
    std::map<const std::byte*, NamedArray> array_names;
    // Arrays with the name of a variable that have so many bytes are initializers; those with the
    // key of a dict, as weights have them, are at any size.
    size_t initializer_bytes = kInitializerBytes;
    // Of the main graph, by a fingerprint of their elements: equal arrays share one.
    std::multimap<size_t, ir::Value*> initializers;
    // The integer constants of subscripts and the like, by graph and elements.
    std::map<std::pair<const ir::Graph*, std::pair<bool, std::vector<int64_t>>>, ir::Value*> int64s;
};

}  // namespace sardonyx::elaborate
