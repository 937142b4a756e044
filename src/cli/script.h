// The script that a target on the command line names.
#pragma once

#include <memory>

#include "cli/commands.h"
#include "elaborate/elaborate.h"
#include "ops/schema_set.h"

namespace sardonyx::cli {

// Loads the file and finds the script. After a mistake, which has been printed, `script` is null
// and `status` is that of the program.
struct LoadedScript {
    std::shared_ptr<elaborate::ScriptFunction> script;
    elaborate::FileModule* module = nullptr;  // its file
    int status = kSuccess;
};
LoadedScript load_script(elaborate::Program& program, const Target& target);

// Reads schema files into `schemas`; false when there are mistakes in them, which are printed.
bool load_schema_files(elaborate::Program& program, const std::vector<std::string>& paths,
                       ops::SchemaSet& schemas);

// Reads the options; prints what is wrong with them.
std::optional<elaborate::Options> compile_options(const api::OptionTexts& texts);

}  // namespace sardonyx::cli
