// The results of a run: printed, and written as .npy files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"

namespace sardonyx::cli {

// "y: FLOAT[2]" and the numbers below.
std::string result_text(std::string_view name, const eval::RuntimeValue& value);

// NAME.npy for a tensor, NAME_0.npy, NAME_1.npy, ... for a sequence, nothing for None. `names` are
// those of the outputs; characters that could leave the folder or hide the file become `_`.
Result<void> write_results(const std::string& folder, const std::vector<std::string>& names,
                           const std::vector<eval::RuntimeValue>& values);

}  // namespace sardonyx::cli
