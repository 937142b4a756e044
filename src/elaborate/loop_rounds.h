// Runs over the body of a loop in the graph, until the types of its names have settled.
#pragma once

#include <cstdint>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/loop_parts.h"

namespace sardonyx::elaborate {

// What the carried names are bound to: inputs of the body, or what they are before the loop, to
// learn the element types that the body gives them.
enum class BoundTo : uint8_t { kInputs, kStarts };
Round run_round(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                std::vector<Carried>& carried, BoundTo what);

// Settles the element types of names that start as numbers. False after an error. `hidden`:
// names and cells that the body changes and that are not carried; then nothing is settled.
bool settle_literals(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                     std::vector<Carried>& carried, std::vector<Symbol>& hidden);

// Whether what the body gives back fits the types that it was given; widens them where it does not.
Fit fit_round(Context& c, const GraphLoop& loop, std::vector<Carried>& carried, const Round& round,
              int rounds);

}  // namespace sardonyx::elaborate
