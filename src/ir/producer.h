// What models of scripts say of who made them, unless the script says something else.
#pragma once

#include <string_view>

namespace sardonyx::ir {

inline constexpr std::string_view kProducer = "sardonyx";

}  // namespace sardonyx::ir
