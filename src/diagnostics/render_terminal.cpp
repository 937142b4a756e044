// Diagnostics for people: the message, the places in the source that it is about, what to do.
#include <fmt/format.h>

#include <algorithm>

#include "base/screenful.h"
#include "diagnostics/glyphs.h"
#include "diagnostics/order.h"
#include "diagnostics/render.h"
#include "diagnostics/row.h"
#include "diagnostics/snippet.h"

namespace sardonyx::diagnostics {
namespace {

// However narrow the terminal, this much of the source is shown.
constexpr int kMinimumRoom = 24;

Style style_of(Severity severity) {
    switch (severity) {
        case Severity::kNote:
            return Style::kNote;
        case Severity::kWarning:
            return Style::kWarning;
        case Severity::kError:
            return Style::kError;
    }
    return Style::kError;
}

// As much of it as a screen holds: a name, a type or a chain of calls may be as long as a file.
Diagnostic fitted(const Diagnostic& whole) {
    constexpr size_t kMessage = 800, kAdvice = 500, kLabel = 160;
    constexpr size_t kMostLabels = 6, kMostNotes = 3;
    Diagnostic fit = whole;
    fit.message = screenful(whole.message, kMessage);
    fit.help = screenful(whole.help, kAdvice);
    if (whole.labels.size() > kMostLabels) {
        fit.labels.resize(kMostLabels);
    }
    for (Label& label : fit.labels) {
        label.message = screenful(label.message, kLabel);
    }
    if (whole.notes.size() > kMostNotes) {
        fit.notes.resize(kMostNotes);
    }
    for (std::string& note : fit.notes) {
        note = screenful(note, kAdvice);
    }
    if (whole.labels.size() > kMostLabels) {
        fit.notes.push_back(
            fmt::format("{} more places are not shown", whole.labels.size() - kMostLabels));
    }
    return fit;
}

// The labels in one file; the first file is that of the diagnostic's first label.
struct FileMarks {
    FileId file;
    std::vector<Mark> marks;
};

std::vector<FileMarks> marks_by_file(const Sources& sources, const Diagnostic& diagnostic) {
    std::vector<FileMarks> files;
    for (const Label& label : diagnostic.labels) {
        if (!label.span.valid()) {
            continue;
        }
        auto found = std::find_if(files.begin(), files.end(), [&](const FileMarks& marks) {
            return marks.file == label.span.file;
        });
        if (found == files.end()) {
            found = files.insert(files.end(), {label.span.file, {}});
        }
        bool is_primary = &label == &diagnostic.labels[0];
        found->marks.push_back(mark_of(sources, label, is_primary));
    }
    return files;
}

uint32_t number_width(const std::vector<FileMarks>& files) {
    uint32_t last = 1;
    for (const FileMarks& file : files) {
        for (const Mark& mark : file.marks) {
            last = std::max(last, mark.last_line);
        }
    }
    return static_cast<uint32_t>(fmt::formatted_size("{}", last));
}

class Renderer {
  public:
    Renderer(const Sources& sources, const TerminalOptions& options)
        : sources_(sources), options_(options) {}

    void add(const Diagnostic& whole) {
        Diagnostic diagnostic = fitted(whole);
        std::vector<FileMarks> files = marks_by_file(sources_, diagnostic);
        uint32_t gutter = number_width(files);
        add_header(diagnostic);
        for (const FileMarks& file : files) {
            add_file(file, gutter, style_of(diagnostic.kind->severity), &file == files.data());
        }
        bool has_advice = !diagnostic.notes.empty() || !diagnostic.help.empty();
        if (has_advice && !files.empty()) {
            Row row;
            put_gutter(row, 0, gutter);
            finish(row);
        }
        for (const std::string& note : diagnostic.notes) {
            add_advice(gutter, "note", note);
        }
        if (!diagnostic.help.empty()) {
            add_advice(gutter, "help", diagnostic.help);
        }
        out_ += "\n";
    }

    std::string take() { return std::move(out_); }

  private:
    void finish(const Row& row) { out_ += row.to_string(options_.color) + "\n"; }

    void add_header(const Diagnostic& diagnostic) {
        std::string_view severity = severity_name(diagnostic.kind->severity);
        std::string head = fmt::format("{}[{}]", severity, diagnostic.kind->code);
        Row row;
        row.put(0, head, style_of(diagnostic.kind->severity));
        add_lines(row, ": ", diagnostic.message, Style::kBold);
    }

    void add_advice(uint32_t gutter, std::string_view kind, std::string_view words) {
        Row row;
        row.put_mark(gutter + 1, '=', Style::kFrame);
        row.put(gutter + 3, kind, Style::kBold);
        add_lines(row, ": ", words, Style::kPlain);
    }

    // Finishes a row with text; the text's further lines begin under its first.
    void add_lines(Row row, std::string_view separator, std::string_view text, Style style) {
        row.put(row.width(), separator, style);
        uint32_t column = row.width();
        while (true) {
            size_t line_break = text.find('\n');
            row.put(column, text.substr(0, line_break), style);
            finish(row);
            if (line_break == std::string_view::npos) {
                return;
            }
            text.remove_prefix(line_break + 1);
            row = Row();
        }
    }

    void add_file(const FileMarks& file, uint32_t gutter, Style primary_style, bool is_first) {
        const Mark& mark = file.marks.front();
        Position position = sources_.position(file.file, mark.begin);
        Row arrow;
        arrow.put(gutter, is_first ? "-->" : ":::", Style::kFrame);
        arrow.put(gutter + 4,
                  fmt::format("{}:{}:{}", sources_.path(file.file), position.line, position.column),
                  Style::kPlain);
        finish(arrow);
        Row blank;
        put_gutter(blank, 0, gutter);
        finish(blank);
        int room = std::max(options_.width - static_cast<int>(gutter) - 3, kMinimumRoom);
        out_ +=
            render_snippet(sources_, file.file, file.marks,
                           {primary_style, gutter, static_cast<uint32_t>(room), options_.color});
    }

    const Sources& sources_;
    const TerminalOptions& options_;
    std::string out_;
};

}  // namespace

std::string render_terminal(const Sources& sources, const Diagnostics& diagnostics,
                            const TerminalOptions& options) {
    Renderer renderer(sources, options);
    for (const Diagnostic* diagnostic : in_order(diagnostics)) {
        renderer.add(*diagnostic);
    }
    return renderer.take();
}

}  // namespace sardonyx::diagnostics
