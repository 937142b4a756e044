// The schemas of operators that ONNX Runtime adds to the standard (com.microsoft), those that have
// kernels here. The facts are those of python/sardonyx/schemas/com.microsoft.toml. The compiler
// knows these operators only where a script is given that file, so they are no part of ops/.
#pragma once

#include <span>

#include "ops/ops.h"

namespace sardonyx::eval {

std::span<const ops::Schema> contrib_schemas();

}  // namespace sardonyx::eval
