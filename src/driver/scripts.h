// Which script of a file is meant.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elaborate/files/module.h"

namespace sardonyx::driver {

// The scripts of the file that their own names stand for when it has run, or may stand for.
std::vector<std::shared_ptr<elaborate::ScriptFunction>> named_scripts(
    elaborate::FileModule& module);

// The script of this name; without a name, the only one that no other script of the file uses, or
// the only one of those that is a model without further types. The error lists the names.
Result<std::shared_ptr<elaborate::ScriptFunction>> choose_script(elaborate::Program& program,
                                                                 elaborate::FileModule& module,
                                                                 std::string_view name);

}  // namespace sardonyx::driver
