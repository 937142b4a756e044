// One run over the body of a loop in the graph.
#pragma once

#include <utility>
#include <vector>

#include "elaborate/carried.h"
#include "elaborate/graph_loop.h"

namespace sardonyx::elaborate {

// One run of the body.
struct Round {
    ir::Graph* graph = nullptr;
    std::vector<Object> results;                   // of the carried names
    std::vector<std::pair<Symbol, Object>> bound;  // the other names that it leaves bound
    std::vector<Symbol> failed;                    // those whose binding has been reported
    Object go_on;                                  // BOOL: static or a tensor of the body's graph
    Object broke, returned, result;                // the flags
};

bool is_bound(const Object* object);

bool has_failed(const Object* object);

// `typed`: bind the carried names to inputs of the body; otherwise to what they are before the
// loop, to learn the element types that the body gives them.
Round run_round(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                const std::vector<Carried>& carried, bool typed);

// Settles the element types of names that start as numbers. False after an error.
bool settle_literals(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                     std::vector<Carried>& carried);

// Whether what the body gives back fits the types that it was given; widens them where it does not.
Fit fit_round(Context& c, const GraphLoop& loop, std::vector<Carried>& carried, const Round& round,
              int rounds);

}  // namespace sardonyx::elaborate
