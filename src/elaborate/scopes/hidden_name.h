// What is said of a tensor that has the name of something else.
#pragma once

#include <string>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The help for a tensor that is used as the opset, module or function of its name outside of the
// script: `op` after `op = x * 2`. Empty: `text` is no such name.
std::string help_for_hidden(Context& c, std::string_view text);

}  // namespace sardonyx::elaborate
