// The graph of a script as a picture of it has it.
#pragma once

#include <string>

#include "base/result.h"
#include "driver/driver.h"
#include "ide/analysis.h"

namespace sardonyx::ide {

// What a picture of a script is called: its file and its name. Of a compilation that has not
// failed.
std::string title_of_script(const driver::Compilation& compilation);

// The script `name` of the text of a file as it is now, as `sardonyx view --json` writes it.
// Errors: there is no such script, or it cannot be compiled.
Result<std::string> graph_json(const Texts& texts, const std::string& path, const std::string& name,
                               const Settings& settings);

}  // namespace sardonyx::ide
