// The command line: words in, a command with its options out.
#pragma once

#include "cli/commands.h"

namespace sardonyx::cli {

struct Arguments {
    Command command;
    bool in_python = false;  // --python
};

// Sets the terminal's colours as a side effect (--color). Help, version and mistakes are Answers.
Arguments parse_arguments(int count, const char* const* words);

}  // namespace sardonyx::cli
