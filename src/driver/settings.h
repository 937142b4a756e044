// The section [tool.sardonyx] of a pyproject.toml: what a project says once for all commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sardonyx::driver {

struct Settings {
    std::string path;  // of the file; empty: there is none
    std::vector<std::string> select;
    std::vector<std::string> ignore;
    std::vector<std::string> exclude;
    std::vector<std::string> schemas;       // as paths from where the program runs
    std::vector<std::string> library_path;  // the same
    int64_t opset = 0;                      // 0: not said
};

// Of the nearest pyproject.toml with that section, in the current folder or one above it. Errors:
// what is no TOML, names that are not known, values of other types.
Result<Settings> find_settings();
// The same of another folder, which is an absolute path.
Result<Settings> find_settings(const std::string& folder);
// Of this file.
Result<Settings> read_settings(const std::string& path);

}  // namespace sardonyx::driver
