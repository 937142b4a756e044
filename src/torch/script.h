// A program as the text of a script, and which node each of its lines is.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// What a script calls an overload; empty: it has no name.
using NameOfOverload = std::function<std::string(std::string_view overload)>;

struct ScriptOptions {
    int64_t opset = 20;
    // The file that the arrays are in; empty: the script finds them in a dict `w`.
    std::string weights;
};

struct Script {
    std::string text;
    std::vector<const Node*> lines;  // of the program; null: a line that is no node
};

Script write_script(const Program& program, const NameOfOverload& name_of,
                    const ScriptOptions& options);

// Whether `py::` may be followed by it.
bool is_python_operation(std::string_view name);

}  // namespace sardonyx::torch
