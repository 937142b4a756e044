// Sources that import onnxscript were written for a compiler that does not check annotations, does
// not need types and takes operators that it does not know. What is an error elsewhere for these
// reasons alone is a warning there, and the model is written.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Whether the source of the function that is being compiled imports onnxscript, or is part of a
// program that `python -m sardonyx` runs in onnxscript's place. Asked where something is wrong.
bool is_for_onnxscript(const Context& c);

// The kind as it is reported there: a warning for those that are tolerated.
const diagnostics::Kind& tolerated(const Context& c, const diagnostics::Kind& kind);

}  // namespace sardonyx::elaborate
