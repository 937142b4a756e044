// The graph of a script as a picture of it has it.
#pragma once

#include "base/result.h"
#include "driver/driver.h"
#include "ide/analysis.h"
#include "view/scene.h"

namespace sardonyx::ide {

// Of a compilation that has not failed.
Result<view::Scene> scene_of_script(const driver::Compilation& compilation);

// The script `name` of the text of a file as it is now, as `sardonyx view --json` writes it.
// Errors: there is no such script, or it cannot be compiled.
Result<std::string> graph_json(const Texts& texts, const std::string& path, const std::string& name,
                               const Settings& settings);

}  // namespace sardonyx::ide
