// The page of the graph, which the build makes of page.html: what is before the data, and behind.
// No other script than its own runs in it (Content-Security-Policy, by the script's digest).
#pragma once

#include <string_view>

namespace sardonyx::view {

std::string_view page_head();
std::string_view page_tail();

}  // namespace sardonyx::view
