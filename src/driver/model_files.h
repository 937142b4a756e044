// A model to a file, with its large initializers in a file beside it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::driver {

// Writes the model, and its initializers of `external_bytes` and more (0: none) beside it, to
// PATH.<16 digits of their content>.data; the size of both. Data have a name of their content, so
// that a model never finds those of another: the old model and its data are whole until the new
// model takes its name, whatever happens on the way. The data of the old one are removed then.
Result<size_t> write_model_files(const ir::Model& model, const std::string& path,
                                 size_t external_bytes);

}  // namespace sardonyx::driver
