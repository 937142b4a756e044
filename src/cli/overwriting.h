// Whether a file that a command writes is one that it reads, by the same path or by another one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace sardonyx::cli {

bool is_same_file(const std::string& one, const std::string& other);

// Error: one of the outputs would overwrite one of the inputs. Names of no files are passed over.
Result<void> keep_inputs(const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs);

}  // namespace sardonyx::cli
