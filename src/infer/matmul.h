// The shape rule of matrix products, which MatMul and its quantized forms share.
#pragma once

#include <optional>

#include "infer/node_context.h"

namespace sardonyx::infer {

// numpy.matmul of inputs `a` and `b`: a vector counts as a row on the left and as a column on the
// right and then leaves no axis; the axes before the last two broadcast.
std::optional<Shape> matmul_shape(NodeContext& c, size_t a, size_t b);

}  // namespace sardonyx::infer
