// Finds the chains of elementwise operators that may run as one (run/chain.h).
#pragma once

#include <span>
#include <vector>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// The chains among the nodes, whose `releases` are set. QuantizeLinear and DequantizeLinear with
// one constant scale are elementwise too.
std::vector<ChainPlan> plan_chains(std::span<const NodePlan> nodes, const FramePlan& frame);

}  // namespace sardonyx::eval
