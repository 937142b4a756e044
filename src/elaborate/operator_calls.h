// Calls of operators: op.Add(x, y).
#pragma once

#include <string_view>

#include "elaborate/calls.h"

namespace sardonyx::elaborate {

Object call_operator(Context& c, const OpsetObject& opset, std::string_view name,
                     const Arguments& arguments, size_t wanted);

}  // namespace sardonyx::elaborate
