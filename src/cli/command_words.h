// From the words of the command line to a command.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/model_words.h"

namespace sardonyx::cli {

// What the options of all commands are stored in while CLI11 reads them.
struct Words {
    std::string color = "auto";
    std::string target;
    std::optional<std::string> other;
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
    DoctorOptions doctor;

    BuildOptions build;
    RunOptions run;
    CheckOptions check;
    DumpOptions dump;
    LspOptions lsp;
    ImportOptions imported;
    ViewOptions view;
    ModelWords models;
};

// NAME=VALUE of each word. Error: a word without a name, with `example` for what to write; a name
// that comes twice.
Result<std::vector<driver::Assignment>> read_assignments(const std::vector<std::string>& words,
                                                         std::string_view example);
// The words behind the program's name, the last first, with `version` and `help` as options, and
// `-:NAME` as no option.
std::vector<std::string> reversed_words(int count, const char* const* words);

// Moves options before the command behind it: `sardonyx --color never check FILE`.
void command_first(int count, char** words);

// The option of a file to write that is given an empty word; empty: none.
std::string_view empty_path(std::span<const char* const> words);

// FILE or FILE:NAME. Looks at standard input where FILE is `-`.
Target split_target(const std::string& word);

Result<Command> build_command(Words& words);

Result<Command> run_command(Words& words);

Result<Command> check_command(Words& words);

Result<Command> dump_command(Words& words);

Result<Command> explain_command(Words& words);

Result<Command> doctor_command(Words& words);

// Answered in parse_arguments, which knows all commands.
Result<Command> completion_command(Words& words);

Result<Command> lsp_command(Words& words);

Result<Command> import_command(Words& words);

Result<Command> view_command(Words& words);

}  // namespace sardonyx::cli
