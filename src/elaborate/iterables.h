// What a `for` runs over: static items, or what the graph counts through.
#pragma once

#include <functional>
#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

struct Iterable {
    Object items;                        // a range, list, ...; the error object: in the graph
    ir::Value* count = nullptr;          // in the graph: an INT64 scalar
    std::optional<int64_t> known_count;  // the same, where it is known
    Dim dim;                             // the same, as a dimension
    std::function<Object(ir::Value* index)> at;  // the item; emits into the current graph
    bool is_live = false;  // each item is read when its turn comes, as the loop assigns to them
    std::vector<Context::Iterated> iterated;  // the tensors whose items are not read so
    Object source;      // the iterator that has given the items; else the error object
    Object enumerated;  // the list that `enumerate` goes over, which a `for` reads as it goes on
    int64_t first = 0;  // the number of its first item
    bool is_asked = false;  // `__iter__` of an instance gives them: there is no last one

    bool is_static() const { return count == nullptr; }
};

// Evaluates the iterable of a `for` with this body, or of a comprehension. Nothing, after a
// diagnostic, when there is no way to run over it.
std::optional<Iterable> eval_iterable(Context& c, const syntax::Expr* expr,
                                      syntax::Stmts body = {});

// A static iterable as one that the graph counts through; nothing when its items have no common
// type.
std::optional<Iterable> in_graph(Context& c, const Object& items, syntax::Range range);

}  // namespace sardonyx::elaborate
