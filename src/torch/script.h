// A program as the text of a script, and which node each of its lines is.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "torch/library.h"
#include "torch/program.h"

namespace sardonyx::torch {

struct ScriptOptions {
    int64_t opset = 20;
    // The file that the arrays are in; empty: the script finds them in a dict `w`.
    std::string weights;
    OwnOperators own = {};  // of the user, which the script imports
};

struct Script {
    std::string text;
    std::vector<const Node*> lines;  // of the program; null: a line that is no node
};

Script write_script(const Program& program, const ScriptOptions& options);

// The modules of the operators of the user that the program calls, in the order of their names.
std::set<std::string> own_modules(const Program& program, const OwnOperators& own);

// Whether `py::` may be followed by it.
bool is_python_operation(std::string_view name);

}  // namespace sardonyx::torch
