// The types of values that objects name: FLOAT[2], Sequence[FLOAT], OPTIONAL[FLOAT], SPARSE[FLOAT],
// Mapping[STRING, FLOAT].
#pragma once

#include <optional>
#include <string_view>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

// ONNX's type of a value that may be absent when the model runs. typing.Optional is another thing:
// an input that a call may leave out.
inline constexpr std::string_view kOptionalType = "OPTIONAL";
// ONNX's type of tensors of which only some elements are stored.
inline constexpr std::string_view kSparseType = "SPARSE";

// The classes of Python's builtins that the compiler knows, bool before int, of which it is one.
inline constexpr std::string_view kBuiltinTypes[] = {
    "bool", "int", "float", "str", "list", "tuple", "dict", "set", "frozenset", "type", "object"};

bool is_builtin_type(std::string_view name);

// Of the module `enum`: the classes that enumerations are derived from.
bool is_enumeration_type(std::string_view name);

// The class of None, which has no name among the builtins.
inline constexpr std::string_view kNoneType = "NoneType";

// Whether an object of this builtin class has a member whose name does not begin with `_`. Nothing:
// that is not known here.
std::optional<bool> has_builtin_member(std::string_view type, std::string_view name);

// Whether a class of Python names a list of what is in its brackets.
bool names_list(std::string_view python_type);
// The same of a map of what is in its brackets.
bool names_map(std::string_view python_type);

// The members of a union, `int | None` or Optional[int], and of those in it, without repetition; of
// another type the type itself. None is a member as None is.
std::vector<Object> union_members(const Object& type);

// Whether `|` makes a union of it: a type, a class or None.
bool is_of_union(const Object& object);

// Nothing: it names none.
std::optional<Type> named_type(const Object& object);

}  // namespace sardonyx::elaborate
