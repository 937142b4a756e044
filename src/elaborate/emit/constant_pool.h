// Constants that several nodes of a model read, and the names of arrays.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/emit/constants.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What tells such constants apart: the graph, and the type, dims and elements.
struct SmallConstant {
    const ir::Graph* graph;
    ElementType type;
    Dims dims;
    std::string bytes;

    auto operator<=>(const SmallConstant&) const = default;
};

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
    // Small constants that have been made of literals, of subscripts and the like.
    std::map<SmallConstant, ir::Value*> small;
};

}  // namespace sardonyx::elaborate
