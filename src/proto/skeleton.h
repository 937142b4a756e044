// A model without its large tensors, and back beside a model that has them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sardonyx::proto {

// The bytes of a ModelProto in which each large tensor that `other`, another one's bytes, has too
// is named by its content.
Result<std::string> skeleton_of(std::string_view model, std::string_view other);
// The model again. A tensor that `other` does not have is empty then.
Result<std::string> model_of_skeleton(std::string_view skeleton, std::string_view other);

}  // namespace sardonyx::proto
