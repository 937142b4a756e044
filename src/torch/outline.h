// The text of a script (script.h) with modules that repeat as functions.
#pragma once

#include <string>

#include "torch/script.h"

namespace sardonyx::torch {

// Writes one function, named after its class, where modules of the class stand for the same lines:
// the same calls of the same values, the same types and results. Weights and values from outside
// are its parameters. Modules that differ stay as they are. Calls of the functions run in place, so
// the model is the same.
std::string outline(const Script& script);

}  // namespace sardonyx::torch
