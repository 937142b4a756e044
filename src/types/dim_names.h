// Which names of dimensions name a size.
#pragma once

#include <string_view>

namespace sardonyx {

// Whether a name only says that a size is not known: exporters write "?", "None", "unknown",
// "dynamic" and numbers, also for sizes that differ.
bool is_placeholder(std::string_view name);

}  // namespace sardonyx
