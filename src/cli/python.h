// `--python`: the file is imported by the user's Python, whose package compiles it
// (python/sardonyx/_from_file.py), with the values that its names have there.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands.h"

namespace sardonyx::cli {

// The Python of SARDONYX_PYTHON, else that beside the program, as in a virtual environment, else
// `python3` of the PATH.
std::string python_program();

// What a program of Python prints. It is stopped after 64 KB. Error: Python cannot be started, or
// fails.
Result<std::string> python_output(const char* code);

// Does what the words ask for in Python, and does not return where it takes over; the exit status
// where the options have no meaning there, or where Python cannot be started.
int run_in_python(const Command& command, int count, char** words);

}  // namespace sardonyx::cli
