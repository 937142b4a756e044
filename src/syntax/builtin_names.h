// The names that Python defines everywhere.
#pragma once

#include <string_view>

namespace sardonyx::syntax {

// Whether this is a public name of the module `builtins`, those of the interactive prompt included;
// None, True and False are keywords.
bool is_builtin_name(std::string_view name);

}  // namespace sardonyx::syntax
