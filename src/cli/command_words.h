// From the words of the command line to a command.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace sardonyx::cli {

// What the options of all commands are stored in while CLI11 reads them.
struct Words {
    std::string color = "auto";
    std::string target;
    std::vector<std::string> input_types;
    std::vector<std::string> attributes;
    std::vector<std::string> inputs;
    std::vector<std::string> dims;
    std::string format = "text";
    bool json = false;
    bool sarif = false;
    bool python = false;
    bool stdio = false;
    std::string stage = "ir";
    std::string stdin_name;
    bool quiet = false;
    bool isolated = false;
    std::string config;
    std::string shell;
    ExplainOptions explain;

    BuildOptions build;
    RunOptions run;
    CheckOptions check;
    DumpOptions dump;
    LspOptions lsp;
    DecompileOptions decompile;
    ImportOptions imported;
    ViewOptions view;
};

Result<Command> build_command(Words& words);

Result<Command> run_command(Words& words);

Result<Command> check_command(Words& words);

Result<Command> dump_command(Words& words);

Result<Command> explain_command(Words& words);

// Answered in parse_arguments, which knows all commands.
Result<Command> completion_command(Words& words);

Result<Command> lsp_command(Words& words);

Result<Command> decompile_command(Words& words);

Result<Command> import_command(Words& words);

Result<Command> view_command(Words& words);

}  // namespace sardonyx::cli
