// The results of a run: printed, and written as .npy files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"

namespace sardonyx::cli {

// "y: FLOAT[2]" and the numbers below.
std::string result_text(std::string_view name, const eval::RuntimeValue& value);

// An object with one member for each output: {"type": "FLOAT[2]", "data": [1.0, 2.0]}; a sequence
// is a list of these, a map has "keys" and "values". NaN and Infinity are written so, as Python's
// json reads them; complex numbers are pairs.
std::string results_json(const std::vector<std::string>& names,
                         const std::vector<eval::RuntimeValue>& values);

// To a folder, or, where the path ends in .npz, to one file as numpy.savez writes it. In it
// NAME.npy for a tensor, NAME_0.npy, NAME_1.npy, ... for a sequence, nothing for None. `names` are
// those of the outputs; characters that could leave the folder or hide the file become `_`.
Result<void> write_results(const std::string& path, const std::vector<std::string>& names,
                           const std::vector<eval::RuntimeValue>& values);

}  // namespace sardonyx::cli
