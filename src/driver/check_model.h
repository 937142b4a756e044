// Findings about a .onnx file.
#pragma once

#include <string>
#include <vector>

#include "elaborate/elaborate.h"

namespace sardonyx::driver {

// Reads the file, checks its structure and infers its types; each finding names its node.
void check_model(elaborate::Program& program, const std::string& path,
                 const ops::SchemaSet* schemas);

struct ModelFinding {
    const diagnostics::Kind* kind = nullptr;
    std::string message;  // names the node
    std::string help;
};

// The same for a model that was read. The types that are inferred stay in it.
std::vector<ModelFinding> check_model(ir::Model& model, const ops::SchemaSet* schemas);
// What inference alone finds, and the conflicts of opsets.
std::vector<ModelFinding> infer_model(ir::Model& model, const ops::SchemaSet* schemas);

}  // namespace sardonyx::driver
