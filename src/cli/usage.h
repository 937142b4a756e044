// The words for mistakes on the command line.
#pragma once

#include <span>
#include <string_view>

#include "cli/commands.h"

namespace sardonyx::cli {

bool is_option(std::string_view word);
// With a pointer to the help of the command, or of the program for an empty name.
Answer usage_error(std::string_view command, std::string_view message);
// There is no such option or command; the nearest of the names is proposed.
Answer unknown_word(std::string_view command, std::string_view kind, std::string_view word,
                    std::span<const std::string_view> names);

}  // namespace sardonyx::cli
