// The order in which findings are shown, whatever the order in which the phases came upon them.
#pragma once

#include <vector>

#include "diagnostics/diagnostic.h"

namespace sardonyx::diagnostics {

// Sorted by file and offset of the first label, findings without a place first, equal findings
// once. Pointers into `diagnostics`.
std::vector<const Diagnostic*> in_order(const Diagnostics& diagnostics);

// "error", "warning", "note".
std::string_view severity_name(Severity severity);

}  // namespace sardonyx::diagnostics
