// The versions that a model says it is of, set by hand.
#pragma once

#include <span>

#include "base/result.h"
#include "ir/edit.h"

namespace sardonyx::models {

// Makes these all that the model imports; where a domain is there twice, the last counts. Error,
// and nothing is changed: there is none, or no such version.
Result<void> set_opsets(ir::Model& model, ir::Editor& editor,
                        std::span<const ir::OpsetImport> imports);
// 0: the version that the content needs. Error: there is no such version.
Result<void> set_ir_version(ir::Model& model, int64_t version);

}  // namespace sardonyx::models
