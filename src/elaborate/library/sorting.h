// sorted() and list.sort().
#pragma once

#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The items in Python's order, by what `key` makes of them; `key` may be None.
Object sorted_list(Context& c, std::vector<Object> items, const Object& key, bool reverse,
                   syntax::Range range);

}  // namespace sardonyx::elaborate
