// The part of a rendered diagnostic that quotes one file: numbered source lines with the labels
// under them.
#pragma once

#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "diagnostics/row.h"

namespace sardonyx::diagnostics {

// A label of the diagnostic in the file that is quoted, with what the drawing needs.
struct Mark {
    std::string_view message;
    bool is_primary;
    uint32_t begin;  // byte offsets in the file, inside its text
    uint32_t end;    // > begin, unless the label is empty
    uint32_t first_line;
    uint32_t last_line;
    uint32_t depth = 0;  // of a label of several lines: which bar on the left is its

    bool is_multiline() const { return first_line != last_line; }
};

struct SnippetOptions {
    Style primary_style;
    uint32_t number_width;  // of the widest line number
    uint32_t room;          // columns for source text
    bool color;
};

// The label as a mark: its range cut to the file's text.
Mark mark_of(const Sources& sources, const Label& label, bool is_primary);

// `marks` are all of `file`.
std::string render_snippet(const Sources& sources, FileId file, std::vector<Mark> marks,
                           const SnippetOptions& options);

// The row's beginning: a line number, or blanks (number 0), and the bar after it.
void put_gutter(Row& row, uint32_t number, uint32_t number_width);

}  // namespace sardonyx::diagnostics
