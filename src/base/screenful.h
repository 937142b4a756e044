// Messages that people can read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sardonyx {

// The message, or its begin and end where it has more bytes: names and shapes come from files, and
// may be as long as these.
constexpr size_t kScreenful = 1900;  // 24 lines of 80
std::string screenful(std::string_view message, size_t longest = kScreenful);

}  // namespace sardonyx
