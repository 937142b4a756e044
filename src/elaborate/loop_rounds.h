// Runs over the body of a loop in the graph, until the types of its names have settled.
#pragma once

#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/loop_parts.h"

namespace sardonyx::elaborate {

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
