// A model as the text of a C++ program over sardonyx::Builder.
#pragma once

#include "decompile/decompile.h"

namespace sardonyx::decompile {

// The program makes the model call by call, with the operators of an opset as functions
// (<sardonyx/op20.h>) where there is one, and saves it. `entry` is the function that makes it. The
// model calls no functions of its own. Options: the weights and the source alone. Error: what a
// Builder cannot make, with the node.
Result<Script> decompile_cpp(const ir::Model& model, const Options& options);

}  // namespace sardonyx::decompile
