// The names in dimensions, and which of them name a size.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "types/dim.h"

namespace sardonyx {

// Whether a name only says that a size is not known: exporters write "?", "None", "unknown",
// "dynamic" and numbers, also for sizes that differ.
bool is_placeholder(std::string_view name);

// The symbols of the Dim, each once.
std::vector<std::string> symbols_of(const Dim& dim);

}  // namespace sardonyx
