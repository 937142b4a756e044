// Standard input, which commands take as `-`: a script or a model, told apart by what it holds.
#pragma once

#include <string>

#include "base/result.h"

namespace sardonyx::cli {

// Whether standard input holds the bytes of a model and not text. Keeps what comes through a pipe,
// so that standard input can be opened again as `/dev/stdin`.
bool standard_input_is_model();

// The text of a script. Error: it cannot be read, or is larger than 64 MiB.
Result<std::string> read_standard_input();

}  // namespace sardonyx::cli
