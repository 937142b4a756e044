// The value of an attribute as dump() prints it.
#pragma once

#include <string>

#include "ir/ir.h"

namespace sardonyx::ir {

// "1.0", "[1, 2]", "\"SAME_UPPER\"", "FLOAT[2] {1, 2}"; "@alpha" for a reference.
std::string text_of(const Attribute& attribute);

}  // namespace sardonyx::ir
