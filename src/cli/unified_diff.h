// The difference of two texts as `diff -u` shows it, and as `patch` reads it.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx::cli {

// Empty when the texts are equal.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace sardonyx::cli
