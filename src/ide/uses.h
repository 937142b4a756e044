// Where a name of a file is used, by the scopes of Python (its reference, section 4.2): those of
// the file, of functions, of classes and of comprehensions.
#pragma once

#include <optional>
#include <string>
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
    // A variable of a function or comprehension, and no parameter (shared_names.h).
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
    // Of a parameter: where the function has it.
    Range bound = {};
    // The class whose body binds it; null: none.
    const syntax::OpaqueStmt* of_class = nullptr;
};
// All places of names, in order; one that is both read and bound stands once, as bound.
std::vector<SeenName> seen_names(const Analysis& analysis);

// In order of the text; a name that is both read and bound at one place stands once, as bound.
void put_in_order(std::vector<Use>& uses);

// Of the name at an offset that is no member behind a dot; nothing: there is none.
std::optional<NameUses> uses_at(const Analysis& analysis, uint32_t offset);

// The target of a statement that binds one: `a += b`, `a: T = b`, `for a in b`, `type a = b`; null:
// it binds none, or several.
const syntax::Expr* single_target(const syntax::Stmt* node);

// Whether a text can be the name of something.
bool is_name(std::string_view text);

// Why what has these uses, and the names around them, cannot have a new name; nothing: it can.
std::optional<std::string> obstacle(const NameUses& uses, std::string_view new_name);

}  // namespace sardonyx::ide
