// Diagnostics as text: for a terminal, as JSON lines, as SARIF 2.1.0.
#pragma once

#include <string>

#include "diagnostics/diagnostic.h"

namespace sardonyx::diagnostics {

struct TerminalOptions {
    bool color = false;
    int width = 100;  // columns; longer source lines are cut around the caret
};

// Sorted by file and offset, equal findings printed once. Control characters of the source are made
// visible, never sent to the terminal. Bytes that are not UTF-8 appear as U+FFFD.
std::string render_terminal(const Sources& sources, const Diagnostics& diagnostics,
                            const TerminalOptions& options);

// One JSON array; each element has code, severity, message, file, range (1-based line and column,
// byte offsets), labels, notes, help, edits.
std::string render_json(const Sources& sources, const Diagnostics& diagnostics);

std::string render_sarif(const Sources& sources, const Diagnostics& diagnostics);

}  // namespace sardonyx::diagnostics
