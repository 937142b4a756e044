// Builtins on what can be iterated over: len, range, zip, enumerate, reversed, map, filter, sorted,
// all, any.
#pragma once

#include <optional>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object py_len(Context& c, const Arguments& a);
Object py_range(Context& c, const Arguments& a);
Object py_zip(Context& c, const Arguments& a);
Object py_enumerate(Context& c, const Arguments& a);
Object py_reversed(Context& c, const Arguments& a);
Object py_map(Context& c, const Arguments& a);
Object py_filter(Context& c, const Arguments& a);
Object py_sorted(Context& c, const Arguments& a);
Object py_iter(Context& c, const Arguments& a);
Object py_next(Context& c, const Arguments& a);
Object py_all(Context& c, const Arguments& a);
Object py_any(Context& c, const Arguments& a);

// The items in Python's order, by what `key` makes of them; `key` may be None.
Object sorted_list(Context& c, std::vector<Object> items, const Object& key, bool reverse,
                   syntax::Range range);

// Calls a function, or with None nothing, on one static item each; nothing after an error.
std::optional<std::vector<Object>> apply_to_each(Context& c, const Object& function,
                                                 const std::vector<Object>& items,
                                                 syntax::Range range);

}  // namespace sardonyx::elaborate
