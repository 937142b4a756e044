// The check of many files at once, whose scripts may be texts that are not on the disk yet.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "elaborate/module.h"

namespace sardonyx::cli {

struct CheckedFile {
    std::string path;
    bool is_script = false;           // else a model
    std::optional<std::string> text;  // of a script; nothing: what the file holds
};

// The files of the paths; folders give the scripts under them.
std::vector<CheckedFile> files_to_check(const std::vector<std::string>& paths);

struct Checked {
    std::unique_ptr<elaborate::Program> program;
    std::vector<elaborate::FileModule*> modules;  // of the scripts among the files that can be read
    std::vector<diagnostics::Inlay> types;        // of their names, when wanted
};

Checked check_files(const std::vector<CheckedFile>& files, const CheckOptions& options);

}  // namespace sardonyx::cli
