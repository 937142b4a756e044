// What NumPy and other libraries call the element types, and how an array becomes one of another.
#pragma once

#include <string>
#include <string_view>

#include "types/element_type.h"

namespace sardonyx {

// The name of its NumPy dtype (of ml_dtypes, for the small ones): "float32".
std::string_view numpy_name(ElementType type);
// kUndefined: no element type has this one.
ElementType element_type_from_numpy(std::string_view name);

// What a name of other libraries means among those of Sardonyx, in either letter case: "DOUBLE" for
// "FLOAT64", "f64" and "FP64". Empty: nothing is known of it. The nearest by spelling would be
// another type.
std::string_view element_name_meant(std::string_view name);

// How to mend a value of another element type, as the end of a message:
// ": convert it, as NumPy's `x.astype("float32")` does". Empty: the types are the same, one is not
// known, or one is STRING.
std::string conversion_help(std::string_view name, ElementType given, ElementType wanted);

}  // namespace sardonyx
