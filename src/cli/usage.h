// The words for mistakes on the command line: what is unknown, missing, or has no such value.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace sardonyx::cli {

bool is_option(std::string_view word);
// With a pointer to the help of the command, or of the program for null.
Answer usage_error(const CLI::App* command, std::string_view message);
Answer unknown_command(const CLI::App& app, std::string_view word);
// What a parse of the command line failed with.
Answer parse_failure(const CLI::App& app, const CLI::ParseError& error);

}  // namespace sardonyx::cli
