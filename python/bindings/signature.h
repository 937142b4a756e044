// What the annotations of a script say of its arguments, checked when it is called as Python.
#pragma once

#include "bindings/bindings.h"

namespace sardonyx::python {

void bind_signature(nb::module_& m);

}  // namespace sardonyx::python
