// Generators that are functions with `yield`.
//
// One runs to its end when its first item is asked for. In Python it runs in turn with what asks
// for its items; where that could be seen, it is refused: the generator changes what is older than
// itself, or what it has given already, or its user changes what it reads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What the generator that runs has given.
struct Yields {
    const ir::Graph* graph = nullptr;  // in which it runs
    Object iterator;
    size_t most = SIZE_MAX;  // with so many items it stops
    std::vector<Object> items;
    std::vector<size_t> changes;  // the size of the log of changes at each item
};

// The iterator that a call gives. `scope` holds the arguments; `run` runs the body with it, and
// leaves what it gives in the `Yields`.
Object make_generator(Context& c, const std::shared_ptr<Scope>& scope, const syntax::Stmts& body,
                      syntax::Range range,
                      std::function<void(Context&, const std::shared_ptr<Yields>&)> run);

// `yield item` in the function that runs; false after a diagnostic.
bool add_yield(Context& c, const Object& item, syntax::Range range);

// Whether a generator is running around.
bool is_in_generator(const Context& c);

// Whether the iterator is such a generator, or reads one.
bool is_of_generator(const Object& iterator);

// Reports that the iterator, or one that it reads, is a generator that would have gone on with
// other values than it has seen.
bool refuse_outdated(Context& c, const Object& iterator, syntax::Range range);

}  // namespace sardonyx::elaborate
