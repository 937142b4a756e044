// Element types as Python knows them.
#pragma once

#include "bindings/bindings.h"
#include "types/element_type.h"

namespace sardonyx::python {

// What FLOAT.dtype is.
nb::object element_type_to_python(ElementType type);

}  // namespace sardonyx::python
