// A model made fit for a release of ONNX Runtime.
#pragma once

#include "base/result.h"
#include "ir/ir.h"
#include "models/runtimes.h"

namespace sardonyx::models {

// Puts casts around the nodes for whose element types the release has no kernel on the CPU, to the
// next type that has one: without loss, but for DOUBLE, which becomes FLOAT. FLOAT16 stays: the
// runtime itself computes it as FLOAT. Calls of functions are replaced by their nodes, and metadata
// that the release cannot read are left out. Values have types. Error: what it cannot run, all of
// it.
Result<void> fit_runtime(ir::Model& model, Runtime runtime);

}  // namespace sardonyx::models
