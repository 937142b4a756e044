// Models as notebooks show them.
#pragma once

#include "bindings/bindings.h"
#include "ir/ir.h"

namespace sardonyx::python {

// The graph as SVG, with the types that inference finds; None where the model is too large for a
// picture in a notebook.
nb::object picture(const ir::Model& model);

}  // namespace sardonyx::python
