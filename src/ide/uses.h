// Where a name of a file is used, by the scopes of Python (its reference, section 4.2): those of
// the file, of functions, of classes and of comprehensions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ide/analysis.h"

namespace sardonyx::ide {

struct Use {
    Range range;
    bool is_write = false;
};

struct NameUses {
    std::vector<Use> uses;  // in order
    // A variable of a function or comprehension, and no parameter, which callers may name, and
    // which names the input of the model.
    bool is_variable = false;
    // All places are known: it is bound by no class, pattern, `except`, `global` or `nonlocal`, and
    // named in no string.
    bool is_whole = true;
    // The names that the functions around the uses, and those inside of them, have already.
    std::vector<std::string_view> others;
};

struct SeenName {
    Range range;
    std::string_view name;
    bool is_write = false;
    bool is_parameter = false;
    bool is_of_file = false;  // no function around binds it
};
// All places of names, in order; one that is both read and bound stands once, as bound.
std::vector<SeenName> seen_names(const Analysis& analysis);

// Of the name at an offset; nothing: there is none.
std::optional<NameUses> uses_at(const Analysis& analysis, uint32_t offset);

// The places to change, where the variable at an offset can have the new name and the text means
// the same; nothing: it cannot.
std::optional<NameUses> renamed(const Analysis& analysis, uint32_t offset,
                                std::string_view new_name);

}  // namespace sardonyx::ide
