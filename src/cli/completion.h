// What shells and `man` are told of the command line, as data from arguments.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::cli {

struct OptionWords {
    std::vector<std::string> names;  // "-o", "--output"; empty: an argument by position
    std::string value;               // what it takes: "FILE"; empty: a flag
    std::string about;
    std::vector<std::string> choices;  // all values that it takes; empty: others
};

struct CommandWords {
    std::string name;
    std::string about;
    std::string footer;
    std::vector<OptionWords> options;
};

// The words that options of the command take, where these are known.
void add_choices(CommandWords& command);
// A script for bash, zsh or fish; empty for another shell.
std::string completion_script(std::string_view shell, const std::vector<CommandWords>& commands);
// The manual page, for section 1.
std::string manual_page(std::string_view about, const std::vector<CommandWords>& commands);

}  // namespace sardonyx::cli
