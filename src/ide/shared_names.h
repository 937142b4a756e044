// Names that other files may use, too: members of classes, parameters, which keywords of calls
// name, and functions and classes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/analysis.h"
#include "ide/uses.h"

namespace sardonyx::ide {

enum class NameKind : uint8_t { kMember, kParameter, kDefinition };

struct SharedName {
    std::string name;
    std::string path;  // of the file of its class or function
    // There: the name of a parameter or definition, or the outermost class that has the member.
    uint32_t begin = 0;
    NameKind kind = NameKind::kMember;
};
bool operator==(const SharedName& a, const SharedName& b);

// That at an offset; nothing: another name stands there, or what it means is not known.
std::optional<SharedName> shared_name_at(const Analysis& analysis, uint32_t offset);

struct SharedUses {
    std::vector<Use> uses;       // in order
    std::vector<Range> unknown;  // where the same word may be this name or another one
};
SharedUses uses_of(const Analysis& analysis, const SharedName& name);

// Why it cannot have a new name, as far as this file shows it; nothing: it can.
std::optional<std::string> obstacle(const Analysis& analysis, const SharedName& name,
                                    std::string_view new_name);

}  // namespace sardonyx::ide
