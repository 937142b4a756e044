// The text of a plan, for people: what runs, in which order and place, and what was made ready.
#pragma once

#include <string>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// One line for each node, in the order of the run:
//
//     s2 = MatMul(s0, c1)  # `product`, 48 bytes, frees s0
//
// `s2` is the place of a value, which is empty again after the node that frees it, so that the next
// value takes it, `c1` a constant of the plan, and `_` an input that is left out or a result that
// nobody wants. The bytes are those of the results, and at the end of the main graph those of all
// values at one time (places.h), as far as the model says types and sizes. Nodes of a chain
// (run/chain.h) stand behind a bar. Subgraphs stand below their node, functions behind those that
// call them. The same plan gives the same text.
std::string dump(const Plan& plan);

}  // namespace sardonyx::eval
