// The inputs of a run: words of the command line to values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"

namespace sardonyx::cli {

// The value that `text` stands for: FILE.npy, `rand:TYPE`, `rand`, or a Python literal. `declared`
// is what the model says of the input; a literal takes its element type.
Result<eval::RuntimeValue> read_input(const std::string& name, const std::string& text,
                                      const Type& declared, uint64_t seed);

// Random numbers of a declared type; sizes that are not numbers are 4.
Result<eval::RuntimeValue> random_input(const std::string& name, const Type& declared,
                                        uint64_t seed);

}  // namespace sardonyx::cli
