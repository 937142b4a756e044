// The library: the modules and functions that the compiler knows without Python: builtins, math, a
// part of NumPy, typing, onnx's enumerations, and the public names of sardonyx and onnxscript.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::elaborate {

// The module that the library of PyTorch's operators declares its functions with. To the compiler
// each declaration says that calls run in place; which overload is which, torch/library.h says.
inline constexpr std::string_view kDeclarations = "sardonyx.torch.aten.declare";

// The names of `sardonyx.torch` itself, under a name that no import has: files lie below it, too.
inline constexpr std::string_view kTorchPackage = "<sardonyx.torch>";

// The type that enum.auto() gives, which stands for a value yet to come.
inline constexpr std::string_view kAuto = "auto";

// The class of typing that classes of named tuples have as their base, and what a call of it makes.
inline constexpr std::string_view kNamedTuple = "NamedTuple";

// The object of a builtin name (`len`, `range`, `float`); nothing when there is none.
std::optional<Object> library_name(std::string_view name);

// For "did you mean".
std::vector<std::string_view> library_names();

// Whether a dotted module name is one of the library's.
bool is_library_module(std::string_view module);

// For "did you mean".
std::vector<std::string_view> library_modules();

// A member of a library module: ("math", "sqrt"), ("onnxscript", "opset18"), ("numpy", "float32").
std::optional<Object> library_attribute(std::string_view module, std::string_view name);

// Whether Python's module has no such member either; known of sardonyx alone.
bool surely_lacks(std::string_view module, std::string_view name);

std::vector<std::string_view> library_module_names(std::string_view module);

// The builtin with this dotted name, which must exist: "range", "math.sqrt".
BuiltinObject library_builtin(std::string_view name);
// int, list and the like, by the last part of its name.
Object python_type(std::string_view name);

// Whether Python computes it itself where it runs: NumPy on known arrays.
bool is_left_to_python(const Object& object);

bool is_builtin(const Object& object, std::string_view name);

// Calls it.
Object call_library(Context& c, const BuiltinObject& builtin, const Arguments& arguments);

}  // namespace sardonyx::elaborate
