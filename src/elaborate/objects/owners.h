// The graph in which a list or dict was made, where alone it may be changed.
#pragma once

#include <map>
#include <memory>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Lists and dicts that were made in a subgraph. An entry outlives its list, and is nobody else's.
struct OwnerTable {
    std::map<std::weak_ptr<void>, const ir::Graph*, std::owner_less<>> graphs;
};

// Notes that a list or dict has been made in the current graph.
void claim(Context& c, const Object& object);

// Whether it may be changed in the current graph: what a branch or loop changes must be its own.
bool is_owned(const Context& c, const Object& object);

// Whether something else than one name holds a list or dict.
bool is_shared(const Context& c, const Object& object);

// The graph in which a list or dict was made.
const ir::Graph* owner_of(const Context& c, const Object& object);

}  // namespace sardonyx::elaborate
