// The graph in which a list or dict was made, where alone it may be changed.

#include "elaborate/objects/owners.h"

#include <algorithm>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

void claim(Context& c, const Object& object) {
    if (c.graph != c.unit->graph) {
        c.owners->graphs.insert_or_assign(object.pointer(), c.graph);
    }
}

const ir::Graph* owner_of(const Context& c, const Object& object) {
    auto found = c.owners->graphs.find(object.pointer());
    return found == c.owners->graphs.end() ? c.unit->graph : found->second;
}

bool is_owned(const Context& c, const Object& object) {
    return c.graph == c.unit->graph || owner_of(c, object) == c.graph;
}

bool is_shared(const Context& c, const Object& object) {
    auto is_it = [&object](const Change& one) { return one.object.pointer() == object.pointer(); };
    return object.pointer().use_count() >
           1 + std::count_if(c.changes.begin(), c.changes.end(), is_it);
}

}  // namespace sardonyx::elaborate
