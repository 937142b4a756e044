// The table of inference functions: infer/operators.def, found by domain and name.
#pragma once

#include <string_view>

#include "infer/node_context.h"

namespace sardonyx::infer {

#define SDX_INFER(domain, name, function) void function(NodeContext& c);
#include "infer/operators.def"
#undef SDX_INFER

// Null for an operator that has no row. "ai.onnx" is "".
InferFunction find_operator(std::string_view domain, std::string_view name);

}  // namespace sardonyx::infer
