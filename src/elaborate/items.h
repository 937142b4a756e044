// What a static iterable gives, item by item.
#pragma once

#include <optional>
#include <vector>

#include "elaborate/context.h"

namespace sardonyx::elaborate {

// The items of a static iterable (list, tuple, range, string, dict); nothing when it is none, or
// has more than Limits::static_iterations items. Reports nothing.
std::optional<std::vector<Object>> static_items(Context& c, const Object& object);

// An iterator, which belongs to the graph that is being built.
Object make_iterator(Context& c, IteratorObject iterator);

}  // namespace sardonyx::elaborate
