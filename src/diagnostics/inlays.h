// Words about places of a file that are shown beside them: what `sardonyx check --types` prints.
#pragma once

#include <span>
#include <string>

#include "diagnostics/source.h"

namespace sardonyx::diagnostics {

struct Inlay {
    Span span;
    std::string text;
};

// One for each place, in the order of the file; of several for one place the last.
std::vector<Inlay> in_order(std::span<const Inlay> inlays);

// The file with "# name: text" at the end of the lines of its inlays, which are in order; names are
// what stands at the places.
std::string render_inlays(const Sources& sources, FileId file, std::span<const Inlay> inlays);
// A list of {"name", "file", "range", "text"}.
std::string render_inlays_json(const Sources& sources, std::span<const Inlay> inlays);

}  // namespace sardonyx::diagnostics
