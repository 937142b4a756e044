// What functions and methods do to the objects that they are given, by their names.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

// Whether a method of this name leaves lists, dicts, strings and tuples as they are.
bool is_reading_method(std::string_view name);

template <size_t N>
bool has_word(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Builtins that look at their arguments only, and those whose result may hold items of them.
inline constexpr auto kReaders = std::to_array<std::string_view>(
    {"len",     "int",  "float", "str",      "bool",   "range", "isinstance", "print",
     "hasattr", "abs",  "round", "repr",     "all",    "any",   "hash",       "ord",
     "chr",     "type", "id",    "callable", "divmod", "pow",   "format"});

inline constexpr auto kItemKeepers = std::to_array<std::string_view>(
    {"min", "max", "sorted", "list", "tuple", "set", "frozenset", "dict", "zip", "enumerate",
     "reversed", "sum", "iter", "slice", "getattr"});

// Ways to bind any name of a file.
inline constexpr auto kReflectingNames = std::to_array<std::string_view>(
    {"globals", "locals", "vars", "exec", "eval", "__import__", "__builtins__"});

inline constexpr auto kReflectingMembers = std::to_array<std::string_view>(
    {"modules", "__dict__", "__globals__", "import_module", "reload", "f_globals"});

// Methods that make a list longer at its end, and those that change lists and dicts otherwise.
inline constexpr auto kGrowingMethods = std::to_array<std::string_view>({"append", "extend"});

inline constexpr auto kItemChangingMethods =
    std::to_array<std::string_view>({"insert", "pop", "remove", "clear", "reverse", "sort",
                                     "update", "setdefault", "popitem", "move_to_end", "subtract"});

// Whether a call changes nothing that it is given: its result may hold it.
bool changes_nothing(const Object& callee, std::string_view member);

}  // namespace sardonyx::elaborate
