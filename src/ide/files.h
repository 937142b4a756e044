// The scripts of folders, for questions about all files of a project.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sardonyx::ide {

// Of one file. Error: it cannot be read, or is of more than a megabyte.
Result<std::string> script_text(const std::string& path);
// The paths and texts of the scripts under the folders that have a word in their text, in order;
// without those that cannot be read.
std::vector<std::pair<std::string, std::string>> scripts_with(
    const std::vector<std::string>& folders, std::string_view word);

}  // namespace sardonyx::ide
