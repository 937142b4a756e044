// From a program to one that the library of operators can express: the steps, in their order.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "torch/functional.h"
#include "torch/library.h"
#include "torch/program.h"

namespace sardonyx::torch {

// What becomes of buffers and inputs that the program changes: further outputs, nothing, an error.
enum class State : uint8_t { kOutputs, kDrop, kError };
// Of "outputs", "drop" and "error"; nothing: another word.
Result<State> state_of(std::string_view word);

// Rewrites the program. `problems` are those that are known already. The error lists all reasons
// why there is no script at once.
Result<void> finish(Program& program, std::vector<Problem> problems, State state,
                    const OwnOperators& own);

}  // namespace sardonyx::torch
