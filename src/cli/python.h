// `--python`: the file is imported by the user's Python, whose package compiles it
// (python/sardonyx/_from_file.py), with the values that its names have there.
#pragma once

#include "cli/commands.h"

namespace sardonyx::cli {

// Does what the words ask for in Python, and does not return where it takes over; the exit status
// where the options have no meaning there, or where Python cannot be started.
int run_in_python(const Command& command, int count, char** words);

}  // namespace sardonyx::cli
