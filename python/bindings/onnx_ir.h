// Attributes of onnx_ir, told by their class, so that the package need not be imported.
#pragma once

#include "bindings/bindings.h"

namespace sardonyx::python {

// What an `onnx_ir.Attr` holds; an empty object for everything else.
nb::object value_of_attribute(nb::handle object);

}  // namespace sardonyx::python
