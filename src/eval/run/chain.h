// Runs chains of elementwise operators, such as x * (0.5 * (erf(x * 0.7) + 1)).
//
// One by one, each operator of a chain reads its operands from memory and writes its result there.
// Run as one, the chain takes a block of rows through all of its operators, with the same kernels
// on parts of the tensors, before the next block: the values between the operators stay in the
// cache and never have storage of their own. Each element is made by the same loop as otherwise, so
// that the results are the same bit by bit.
#pragma once

#include "eval/plan/plan.h"
#include "eval/run/runner.h"

namespace sardonyx::eval {

// Runs a chain of the graph in blocks and releases what dies in it. False, and nothing is changed:
// the tensors are too small or their shapes differ in other ways than by leading axes, or a kernel
// fails.
bool run_chain(const GraphPlan& graph, const ChainPlan& chain, Frame& frame,
               const RunOptions& options);

}  // namespace sardonyx::eval
