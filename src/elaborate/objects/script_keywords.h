// What @script takes: one table for decorators in files and for those of Python.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elaborate/objects/object.h"
#include "elaborate/objects/program.h"

namespace sardonyx::elaborate {

// The names, those that may be given by position first.
std::span<const std::string_view> script_keywords();
inline constexpr size_t kScriptPositions = 3;

struct KeywordMistake {
    std::string message;
    std::string help;
};

// Says one of them to the script; nothing when it is fine.
std::optional<KeywordMistake> set_script_keyword(ScriptFunction& function, std::string_view name,
                                                 const Object& value);

}  // namespace sardonyx::elaborate
