// Classes of named tuples of Python as those of the compiler (elaborate/library/named_tuples.h).
#pragma once

#include <optional>

#include "bindings/bindings.h"
#include "elaborate/objects/object.h"

namespace sardonyx::python {

// The class, for the innermost compilation; nothing: it is no class of named tuples, or one that
// gives them another meaning.
std::optional<elaborate::Object> named_tuple_class(nb::handle kind);

// A named tuple with these items; an invalid object where its class is the compiler's own.
nb::object named_tuple_to_python(const elaborate::Object& tuple, const nb::object& items);

}  // namespace sardonyx::python
