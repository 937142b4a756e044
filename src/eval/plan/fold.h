// Nodes whose inputs are constants, which a plan runs once and for all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// What the node makes, at most `max_bytes` of it. Nothing: it must run each time, because it
// depends on the function's attributes or on chance, is large, or fails: the run says how.
std::optional<std::vector<RuntimeValue>> fold(const ir::Node& node, const NodePlan& plan,
                                              const FramePlan& frame, int64_t max_bytes);

}  // namespace sardonyx::eval
