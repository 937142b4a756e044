// Whether two models say the same.
#pragma once

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::proto {

// Whether their files are the same to the last byte, where both are written in one way. Large
// tensors are compared where they lie. Error: one cannot be written.
Result<bool> is_same(const ir::Model& a, const ir::Model& b);

}  // namespace sardonyx::proto
