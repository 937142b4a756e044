// Messages that people can read.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx {

// The message, or its begin and end where it is longer than a screen: names and shapes come from
// files, and may be as long as these.
std::string screenful(std::string_view message);

}  // namespace sardonyx
