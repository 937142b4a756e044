// A node in words, for messages.
#pragma once

#include <string>

#include "ir/ir.h"

namespace sardonyx::ir {

// "node `add1` (`Add`)"; one without a name goes by its first output: "the node of `y` (`Add`)".
std::string describe(const Node& node);

}  // namespace sardonyx::ir
