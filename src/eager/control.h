// If, Loop, Scan and SequenceMap whose bodies are functions of the surface: they run again and
// again as graphs do, and what the iterations give is put together by the same text
// (run/iterations.h, run/scan.h).
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eager/surface.h"
#include "eval/dispatch/dispatch.h"

namespace sardonyx::eager {

using Body = std::function<Result<std::vector<RuntimeValue>>(std::span<const RuntimeValue>)>;

struct NamedBody {
    std::string_view attribute;  // "body", "then_branch"
    Body run;
};

// Runs the operator, of ai.onnx, on these inputs, no pointer of which is null. Where no iteration
// runs and something has to say how the rows of a result look, the body runs once for that. Errors:
// the operator takes no functions, inputs or results of a body that do not fit, and those of a
// body, as they are.
Result<std::vector<RuntimeValue>> run_control(const ops::Schema& schema,
                                              std::span<const RuntimeValue* const> inputs,
                                              std::span<const ir::Attribute> attributes,
                                              std::span<const NamedBody> bodies,
                                              const eval::RunOptions& options = {});

}  // namespace sardonyx::eager
