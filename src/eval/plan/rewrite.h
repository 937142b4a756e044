// Nodes of a plan that others replace which do the same on 8-bit codes.
//
// A quantized model has DequantizeLinear before each product and QuantizeLinear after it, and says
// with these floats what may be computed from the codes:
//
//     MatMul(DequantizeLinear(a), DequantizeLinear(b))                  MatMulIntegerToFloat
//     QuantizeLinear(Conv(DequantizeLinear(x), DequantizeLinear(w)))    QLinearConv
//
// where b and w are constants. Sums of codes are exact, so that a result differs from that of the
// floats by their rounding alone, and the same nodes run whether or not somebody looks at values.
#pragma once

#include <span>
#include <unordered_map>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// The nodes that have been folded, by the constant that they made.
using FoldedNodes = std::unordered_map<Operand, NodePlan>;

// Rewrites the nodes of a graph of `frame`, whose constants may become more. Nodes that nobody
// reads any more become idle. `outside`: what graph outputs and subgraphs read.
void rewrite_quantized(const FoldedNodes& folded, std::span<const Operand> outside,
                       std::span<NodePlan> nodes, FramePlan* frame);

}  // namespace sardonyx::eval
