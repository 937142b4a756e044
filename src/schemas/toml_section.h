// A table of a TOML file as plain data, for those who read settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sardonyx::schemas {

struct TomlEntry {
    std::string key;
    // An integer, a list of strings, or something else.
    std::variant<std::monostate, int64_t, std::vector<std::string>> value;
    std::string key_place;  // "pyproject.toml:3:1"
    std::string value_place;
};

// The entries of the table `tool.NAME`; nothing: the file has none. Errors: it cannot be read, or
// is no TOML.
Result<std::optional<std::vector<TomlEntry>>> read_tool_section(const std::string& path,
                                                                std::string_view name);

}  // namespace sardonyx::schemas
