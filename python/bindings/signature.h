// The annotations of a script's parameters, checked against the arguments of a call from Python.
#pragma once

#include "bindings/bindings.h"

namespace sardonyx::python {

void bind_signature(nb::module_& m);

}  // namespace sardonyx::python
