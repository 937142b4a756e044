// The dispatch table: which kernel runs which version of an operator.
#pragma once

#include <cstdint>
#include <string_view>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

class Runner;
struct NodePlan;
class Frame;
// An operator that runs subgraphs: it is part of the runner (run/control_flow.cpp).
using ControlKernel = Status (*)(Runner&, const NodePlan&, Frame&);

// One version of an operator, as the table answers. Without a kernel of either kind it is known but
// not implemented.
struct OperatorEntry {
    const ops::Schema* schema = nullptr;
    Kernel kernel = nullptr;
    ControlKernel control = nullptr;
    bool is_elementwise = false;  // SDX_ELEMENTWISE of kernels.def
};

// The entry in force at `opset_version`; null for an operator that no schema knows.
const OperatorEntry* find_operator(std::string_view domain, std::string_view op_type,
                                   int64_t opset_version);

}  // namespace sardonyx::eval
