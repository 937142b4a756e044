// Comments that silence findings on their line: `# sardonyx: ignore[unused-value, unused-import]`,
// or, for all of them, `# sardonyx: ignore`. Errors are never silenced.
#pragma once

#include <optional>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace sardonyx::diagnostics {

struct Ignore {
    Span span;                   // the comment, from `# sardonyx:` on
    std::vector<Span> codes;     // empty: all
    std::vector<bool> was_used;  // of each code; of an ignore without codes one
};

// What the comment at this place ignores; nothing when it is about something else.
std::optional<Ignore> find_ignore(const Sources& sources, Span comment);

// Forgets the warnings and notes whose first label begins or ends on a line with an ignore for
// them, and marks the ignores that were used.
void silence(const Sources& sources, std::vector<Ignore>& ignores, Diagnostics& diagnostics);

// The same by the lines alone, for findings in files of which no comments are at hand.
void silence(const Sources& sources, Diagnostics& diagnostics);

}  // namespace sardonyx::diagnostics
