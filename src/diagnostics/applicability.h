// What a machine may do with the edits of a finding without being told.
#pragma once

#include <string_view>

#include "diagnostics/diagnostic.h"

namespace sardonyx::diagnostics {

// Only show them; make them when the user asks for guesses as well; make them: what the text means
// and intends stays.
enum class Applicability : uint8_t { kDisplay, kUnsafe, kSafe };

// A repair is a guess unless its kind is listed as safe: what only looks like another name never
// is.
Applicability applicability_of(const Diagnostic& finding);

std::string_view name(Applicability applicability);

}  // namespace sardonyx::diagnostics
