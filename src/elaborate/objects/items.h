// What a static iterable gives, item by item.
#pragma once

#include <optional>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The items of a static iterable (list, tuple, range, string, dict, array); nothing when it is
// none, or has more than Limits::static_iterations items. Reports nothing.
std::optional<std::vector<Object>> static_items(Context& c, const Object& object);

// An iterator, which belongs to the graph that is being built.
Object make_iterator(Context& c, IteratorObject iterator);

// The place of an item of a static list, Python's negative indices counted; nothing, and a
// diagnostic, when there is no such item.
std::optional<size_t> list_index(Context& c, const Object& list, const Object& index, size_t size,
                                 syntax::Range index_range);

}  // namespace sardonyx::elaborate
