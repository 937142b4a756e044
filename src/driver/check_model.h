// Findings about a .onnx file.
#pragma once

#include <string>

#include "elaborate/elaborate.h"

namespace sardonyx::driver {

// Reads the file, checks its structure and infers its types; each finding names its node.
void check_model(elaborate::Program& program, const std::string& path,
                 const ops::SchemaSet* schemas);

}  // namespace sardonyx::driver
