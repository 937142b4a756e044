// The eager entry for callers that look an operator up once for many calls.
#pragma once

#include <span>
#include <vector>

#include "eval/dispatch/dispatch.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// Runs one operator at once, and fills `outputs`, as many as are wanted, which are none before. No
// pointer is null; inputs that are none are left out. `attributes` are as on a node, and
// `opset_version` holds for their subgraphs.
Status run_operator(const OperatorEntry& entry, int64_t opset_version,
                    std::span<const RuntimeValue* const> inputs,
                    std::span<const ir::Attribute> attributes, std::span<RuntimeValue> outputs,
                    const RunOptions& options = {});
Result<std::vector<RuntimeValue>> run_operator(const OperatorEntry& entry, int64_t opset_version,
                                               std::span<const RuntimeValue* const> inputs,
                                               std::span<const ir::Attribute> attributes,
                                               size_t output_count, const RunOptions& options = {});

}  // namespace sardonyx::eval
