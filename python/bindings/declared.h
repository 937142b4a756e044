// Python objects as inputs of a model, which declares their types.
#pragma once

#include "bindings/tensor.h"
#include "types/type.h"

namespace sardonyx::python {

// As value_from_python(); literals, alone and in lists and dicts, become what `declared` says.
eval::RuntimeValue declared_value(nb::handle object, const Type& declared);

}  // namespace sardonyx::python
