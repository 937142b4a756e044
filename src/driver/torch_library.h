// Files with the user's own operators of PyTorch: functions below `@operator("mylib::op")`.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "torch/library.h"

namespace sardonyx::driver {

// The operators that the files declare. Errors: a file cannot be read or has none, a declaration
// is none, two of them are of one overload, or scripts cannot import a file by its name.
Result<torch::OwnOperators> read_torch_libraries(const std::vector<std::string>& paths);

// Whether a script in the folder of `path` finds the files of the modules that it imports.
Result<void> check_imports(const std::string& path, const std::set<std::string>& modules,
                           const torch::OwnOperators& own);

}  // namespace sardonyx::driver
