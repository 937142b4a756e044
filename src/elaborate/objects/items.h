// What a static iterable gives, item by item.
#pragma once

#include <optional>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The items of a static iterable (list, tuple, range, string, dict, array); nothing when it is
// none, or has more than Limits::static_iterations items. Reports nothing.
std::optional<std::vector<Object>> static_items(Context& c, const Object& object);

// The first items of such an iterable, at most so many, where it has them without the others.
std::optional<std::vector<Object>> first_items(Context& c, const Object& object, size_t most);

// The items of each iterable for `zip`, at least as many as the shortest one has, and at most so
// many of iterators that give their first ones alone. Nothing: one has no items that are known.
std::optional<std::vector<std::vector<Object>>> columns_of(Context& c,
                                                           const std::vector<Object>& iterables,
                                                           int64_t most);

// Whether it is an iterator without an end.
bool is_endless(const Object& object);

// Whether it is itertools.count, of ints.
bool is_counted(const Object& object);

// What is left of itertools.count, of which a loop takes one after the other: it is used up then.
// Nothing: another iterator, or it has been used up, which a diagnostic says.
std::optional<RangeObject> take_counted(Context& c, const Object& iterator);

// What `next` gives; nothing: there are no more items. The error object after a diagnostic.
std::optional<Object> next_item(Context& c, const Object& iterator);

// Whether the iterable reads what `other` holds.
bool reads(const Object& iterable, const Object& other);

// Refuses a change, after the first `changes` of Context::undo, of what is being iterated over,
// whose items have been taken before; true: there is one.
bool refuse_change(Context& c, const Object& source, size_t changes, syntax::Range range);

// A view of the keys or items of a dict as the set that it is to Python; others as they are.
Object as_set(const Object& object);

// An iterator, which belongs to the graph that is being built.
Object make_iterator(Context& c, IteratorObject iterator);

// The place of an item of a static list, Python's negative indices counted; nothing, and a
// diagnostic, when there is no such item.
std::optional<size_t> list_index(Context& c, const Object& list, const Object& index, size_t size,
                                 syntax::Range index_range);

}  // namespace sardonyx::elaborate
