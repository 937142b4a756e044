// Which values of a plan have their channels innermost.
//
// ONNX says [n, channel, place ...], but convolutions are fastest with [n, place ..., channel]
// (kernels/onednn.h). Where a convolution makes a value and only operators read it that take it in
// either order, the value stays in that order: other convolutions, elementwise operators, pools.
// Everybody else sees the order of ONNX: outputs, subgraphs, observers, messages.
#pragma once

#include <span>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// Sets `channels_last` of the nodes of a graph of `frame`, whose constants may become more.
// `outside`: what graph outputs and subgraphs read.
void plan_layouts(std::span<const Operand> outside, std::span<NodePlan> nodes, FramePlan* frame);

}  // namespace sardonyx::eval
