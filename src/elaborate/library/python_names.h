// Objects that a running Python has, as those of the library that mean the same: classes and
// functions by the module and the name that they say they have.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

// What an object is whose `__module__` and `__name__` are these: ("builtins", "len"),
// ("_functools", "reduce"), ("onnx.helper", "make_tensor"), ("sardonyx._script", "script").
// Nothing: it is not in the library, or Python calls it itself.
std::optional<Object> object_called(std::string_view module, std::string_view name);

// The function of the library of this name, also one that Python calls itself.
std::optional<Object> function_called(std::string_view module, std::string_view name);

// What `module.name` means where the program has not replaced it. Nothing: Python answers, because
// the library does not have it, because Python calls it itself, or because it takes paths, which
// begin at the current folder there and at the folder of the script here.
std::optional<Object> member_of_module(std::string_view module, std::string_view name);

// The class of this name with arguments, as Optional[FLOAT]. `int | None` has a name of its own.
Object generic_class(std::string_view name, std::vector<Object> arguments);

// The member of a class that is this value in its table of members, by what has made it: kField,
// with what it calls for each instance, "functools.cache", a decorator, or nothing.
Object member_made_by(std::string_view maker, const Object& value);

}  // namespace sardonyx::elaborate
