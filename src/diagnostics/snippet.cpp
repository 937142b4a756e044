// Quoting works line by line, from top to bottom. A line's labels of one line share the rows under
// it: first a row of carets and dashes, with the words of the rightmost label behind it, then the
// other words, each hanging from its label, from right to left:
//
//     12 |     y = x + b
//        |         - ^ - `FLOAT[4]`
//        |         | |
//        |         | these do not broadcast
//        |         `FLOAT[2, 3]`
//
// A label of several lines has a bar on the left, from a corner at its first line to its words at
// its last; lines of its middle are left out:
//
//      3 |   foo(
//        |  ____^
//     ...  |
//      9 | |     b)
//        | |______^ words
#include "diagnostics/snippet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnostics/shown_line.h"

namespace sardonyx::diagnostics {
namespace {

// More labels of several lines than this are drawn at their first line only.
constexpr uint32_t kMaximumBars = 4;
constexpr uint32_t kBarWidth = 2;

// The labels that touch one line.
struct LineMarks {
    std::vector<const Mark*> inside;  // of this line alone
    std::vector<const Mark*> starts;
    std::vector<const Mark*> ends;
};

// Before which column a text label's words would run into others.
struct Placed {
    const Mark* mark;
    uint32_t begin;
    uint32_t end;
};

class Snippet {
  public:
    Snippet(const Sources& sources, FileId file, std::vector<Mark> marks,
            const SnippetOptions& options)
        : sources_(sources), file_(file), marks_(std::move(marks)), options_(options) {}

    std::string render() {
        assign_bars();
        std::map<uint32_t, LineMarks> lines = marks_by_line();
        uint32_t previous = lines.begin()->first;
        for (const auto& [line, line_marks] : lines) {
            if (line == previous + 2) {
                draw_line(previous + 1, {});
            } else if (line > previous + 2) {
                draw_gap();
            }
            draw_line(line, line_marks);
            previous = line;
        }
        return std::move(out_);
    }

  private:
    void assign_bars() {
        std::stable_sort(marks_.begin(), marks_.end(),
                         [](const Mark& a, const Mark& b) { return a.first_line < b.first_line; });
        uint32_t count = 0;
        for (Mark& mark : marks_) {
            if (mark.is_multiline() && count == kMaximumBars) {
                mark.last_line = mark.first_line;
            } else if (mark.is_multiline()) {
                mark.depth = count++;
            }
        }
        open_.assign(count, nullptr);
    }

    std::map<uint32_t, LineMarks> marks_by_line() const {
        std::map<uint32_t, LineMarks> lines;
        for (const Mark& mark : marks_) {
            if (mark.is_multiline()) {
                lines[mark.first_line].starts.push_back(&mark);
                lines[mark.last_line].ends.push_back(&mark);
            } else {
                lines[mark.first_line].inside.push_back(&mark);
            }
        }
        return lines;
    }

    Style style_of(const Mark& mark) const {
        return mark.is_primary ? options_.primary_style : Style::kFrame;
    }

    // Columns: the gutter, the bars, the source text.
    uint32_t bars_column() const { return options_.number_width + 3; }
    uint32_t source_column() const {
        return bars_column() + static_cast<uint32_t>(open_.size()) * kBarWidth;
    }
    uint32_t bar_column(const Mark& mark) const { return bars_column() + mark.depth * kBarWidth; }

    void put_bars(Row& row) const {
        for (const Mark* mark : open_) {
            if (mark != nullptr) {
                row.put_mark(bar_column(*mark), '|', style_of(*mark));
            }
        }
    }

    Row new_row(uint32_t number) const {
        Row row;
        put_gutter(row, number, options_.number_width);
        put_bars(row);
        return row;
    }

    void finish(const Row& row) { out_ += row.to_string(options_.color) + "\n"; }

    void draw_gap() {
        Row row;
        row.put(0, kCut, Style::kFrame);
        put_bars(row);
        finish(row);
    }

    uint32_t line_begin(std::string_view line) const {
        return static_cast<uint32_t>(line.data() - sources_.text(file_).data());
    }

    // The range of bytes in the line that the cut of a long line keeps in view: the primary
    // label's, if it is here, else the first's.
    std::pair<uint32_t, uint32_t> focus(const LineMarks& marks, uint32_t begin) const {
        const Mark* chosen = nullptr;
        for (const auto* list : {&marks.inside, &marks.starts, &marks.ends}) {
            for (const Mark* mark : *list) {
                if (chosen == nullptr || (mark->is_primary && !chosen->is_primary)) {
                    chosen = mark;
                }
            }
        }
        if (chosen == nullptr) {
            return {0, 0};
        }
        uint32_t first = std::max(chosen->begin, begin);
        bool ends_here =
            std::find(marks.ends.begin(), marks.ends.end(), chosen) != marks.ends.end();
        if (ends_here) {
            return {chosen->end - 1 - begin, chosen->end - begin};
        }
        return {first - begin, std::max(chosen->end, first) - begin};
    }

    void draw_line(uint32_t number, const LineMarks& marks) {
        std::string_view line = sources_.line(file_, number);
        uint32_t begin = line_begin(line);
        auto [focus_begin, focus_end] = focus(marks, begin);
        ShownLine shown = show_line(line, focus_begin, focus_end, options_.room);

        Row row = new_row(number);
        std::vector<const Mark*> corners;
        for (const Mark* mark : marks.starts) {
            std::string_view before = line.substr(0, mark->begin - begin);
            if (before.find_first_not_of(" \t") == std::string_view::npos) {
                // Nothing stands before it: the bar begins on the line itself.
                row.put_mark(bar_column(*mark), '/', style_of(*mark));
                open_[mark->depth] = mark;
            } else {
                corners.push_back(mark);
            }
        }
        put_source(row, shown);
        finish(row);
        draw_labels(place(marks.inside, begin, shown));
        for (const Mark* mark : corners) {
            draw_begin(*mark, shown.column(mark->begin - begin));
            open_[mark->depth] = mark;
        }
        for (const Mark* mark : marks.ends) {
            draw_end(*mark, shown.column(mark->end - 1 - begin));
            open_[mark->depth] = nullptr;
        }
    }

    void put_source(Row& row, const ShownLine& shown) const {
        uint32_t left = source_column();
        if (shown.cut_left) {
            row.put(left, kCut, Style::kFrame);
        }
        for (const Glyph& glyph : shown.glyphs) {
            row.put_shown(left + glyph.column, glyph.width, glyph.shown);
        }
        if (shown.cut_right) {
            row.put(left + shown.right_edge, kCut, Style::kFrame);
        }
    }

    std::vector<Placed> place(const std::vector<const Mark*>& marks, uint32_t begin,
                              const ShownLine& shown) const {
        std::vector<Placed> placed;
        for (const Mark* mark : marks) {
            uint32_t first = source_column() + shown.column(mark->begin - begin);
            uint32_t last = source_column() + shown.column(mark->end - begin);
            placed.push_back({mark, first, std::max(last, first + 1)});
        }
        // From right to left; at one place the primary label first.
        std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
            return a.begin != b.begin ? a.begin > b.begin
                                      : a.mark->is_primary && !b.mark->is_primary;
        });
        return placed;
    }

    void draw_labels(const std::vector<Placed>& placed) {
        if (placed.empty()) {
            return;
        }
        Row row = new_row(0);
        for (bool primary : {false, true}) {
            for (const Placed& label : placed) {
                for (uint32_t i = label.begin; label.mark->is_primary == primary && i < label.end;
                     ++i) {
                    row.put_mark(i, primary ? '^' : '-', style_of(*label.mark));
                }
            }
        }
        std::vector<Placed> hanging(placed.begin(), placed.end());
        if (placed[0].end >= row.width()) {
            row.put(placed[0].end + 1, placed[0].mark->message, style_of(*placed[0].mark));
            hanging.erase(hanging.begin());
        }
        finish(row);
        hanging.erase(std::remove_if(hanging.begin(), hanging.end(),
                                     [](const Placed& p) { return p.mark->message.empty(); }),
                      hanging.end());
        draw_hanging(hanging);
    }

    void draw_hanging(const std::vector<Placed>& hanging) {
        for (size_t i = 0; i < hanging.size(); ++i) {
            if (i == 0) {
                Row stems = new_row(0);
                put_stems(stems, hanging, 0);
                finish(stems);
            }
            Row row = new_row(0);
            put_stems(row, hanging, i + 1);
            row.put(hanging[i].begin, hanging[i].mark->message, style_of(*hanging[i].mark));
            finish(row);
        }
    }

    void put_stems(Row& row, const std::vector<Placed>& hanging, size_t from) const {
        for (size_t i = from; i < hanging.size(); ++i) {
            row.put_mark(hanging[i].begin, '|', style_of(*hanging[i].mark));
        }
    }

    // The row that joins the bar of a label of several lines with its first or last character.
    Row corner(const Mark& mark, uint32_t column) const {
        Row row;
        Style style = style_of(mark);
        uint32_t target = source_column() + column;
        put_gutter(row, 0, options_.number_width);
        for (uint32_t i = bar_column(mark) + 1; i < target; ++i) {
            row.put_mark(i, '_', style);
        }
        put_bars(row);
        row.put_mark(target, mark.is_primary ? '^' : '-', style);
        return row;
    }

    void draw_begin(const Mark& mark, uint32_t column) {
        Row row = corner(mark, column);
        finish(row);
    }

    void draw_end(const Mark& mark, uint32_t column) {
        Row row = corner(mark, column);
        row.put(source_column() + column + 2, mark.message, style_of(mark));
        finish(row);
    }

    const Sources& sources_;
    FileId file_;
    std::vector<Mark> marks_;
    const SnippetOptions& options_;
    std::vector<const Mark*> open_;  // by bar: the label whose bar is being drawn
    std::string out_;
};

}  // namespace

void put_gutter(Row& row, uint32_t number, uint32_t number_width) {
    if (number != 0) {
        std::string text = fmt::format("{}", number);
        row.put(number_width - static_cast<uint32_t>(text.size()), text, Style::kFrame);
    }
    row.put_mark(number_width + 1, '|', Style::kFrame);
}

Mark mark_of(const Sources& sources, const Label& label, bool is_primary) {
    uint32_t size = static_cast<uint32_t>(sources.text(label.span.file).size());
    uint32_t begin = std::min(label.span.begin, size);
    uint32_t end = std::clamp(label.span.end, begin, size);
    uint32_t first_line = sources.position(label.span.file, begin).line;
    // A range that takes in a line break ends on the line that it breaks.
    uint32_t last = end > begin ? end - 1 : begin;
    uint32_t last_line = sources.position(label.span.file, last).line;
    return {label.message, is_primary, begin, end, first_line, last_line};
}

std::string render_snippet(const Sources& sources, FileId file, std::vector<Mark> marks,
                           const SnippetOptions& options) {
    return Snippet(sources, file, std::move(marks), options).render();
}

}  // namespace sardonyx::diagnostics
