// The outputs of a program as torch has captured it: one without writes also gives the new values
// of the buffers and inputs that it changes.
#pragma once

#include "torch/program.h"

namespace sardonyx::torch {

// Leaves the user's outputs without those that are None, and their names; writes the new values of
// inputs and weights into these at the end. The program has no `output_specs` then.
void apply_output_specs(Program& program);

}  // namespace sardonyx::torch
