// Which scripts a file's functions call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/answers.h"

namespace sardonyx::ide {

// A script, in its own file.
struct ScriptPlace {
    std::string name;
    std::string path;
    std::string_view text;  // of that file, as long as the analysis lives
    Range range;
    Range name_range;
};

// A place where a function of the file names a script: it calls it, or gives it to an operator that
// does.
struct ScriptCall {
    Symbol caller;
    ScriptPlace callee;
    Range range;  // of the name
};

// In the order of the text.
std::vector<ScriptCall> script_calls(const Analysis& analysis);
// The script that is defined or named at an offset; nothing: there is none.
std::optional<ScriptPlace> script_at(const Analysis& analysis, uint32_t offset);

}  // namespace sardonyx::ide
