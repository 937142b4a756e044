// A ModelDiff as text, as JSON and as a page.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/markup.h"
#include "base/stop.h"
#include "diagnostics/glyphs.h"
#include "models/diff.h"

namespace sardonyx::models {
namespace {

using diagnostics::visible;
using LineMark = DiffLine::Mark;

constexpr size_t kAround = 3;  // lines that are the same beside those that are not

std::vector<bool> shown_lines(const DiffGraph& graph) {
    std::vector<bool> shown(graph.lines.size());
    for (size_t i = 0; i < graph.lines.size(); ++i) {
        if (graph.lines[i].mark == LineMark::kSame) {
            continue;
        }
        size_t end = std::min(graph.lines.size(), i + kAround + 1);
        for (size_t k = i - std::min(i, kAround); k < end; ++k) {
            shown[k] = true;
        }
    }
    return shown;
}

std::string line_text(const DiffLine& line) {
    switch (line.mark) {
        case LineMark::kSame:
            return fmt::format("  {}\n", visible(line.after));
        case LineMark::kAdded:
            return fmt::format("+ {}\n", visible(line.after));
        case LineMark::kRemoved:
            return fmt::format("- {}\n", visible(line.before));
        default:
            return line.before == line.after
                       ? fmt::format("~ {}\n", visible(line.after))
                       : fmt::format("- {}\n+ {}\n", visible(line.before), visible(line.after));
    }
}

bool is_line(const Change& change) {
    return change.kind == ChangeKind::kAdded || change.kind == ChangeKind::kRemoved ||
           change.kind == ChangeKind::kOperator;
}

std::string change_words(const Change& change) {
    std::string text = fmt::format("{}: {}", name(change.kind), visible(change.what));
    if (!change.before.empty() && !change.after.empty()) {
        text += fmt::format(": {} -> {}", visible(change.before), visible(change.after));
    } else if (!change.after.empty()) {
        text += fmt::format(": + {}", visible(change.after));
    } else if (!change.before.empty()) {
        text += fmt::format(": - {}", visible(change.before));
    }
    return text;
}

// What the lines of the graphs do not show.
std::string changes_text(const ModelDiff& diff, std::string_view graph) {
    std::string text;
    for (const Change& change : diff.changes) {
        bool is_shown = is_line(change) && change.graph != "the model";
        if (change.graph == graph && !is_shown) {
            text += fmt::format("  {}\n", change_words(change));
        }
    }
    return text;
}

// As the content of an element of HTML.
std::string escaped(std::string_view text) {
    return markup(visible(text));
}

constexpr std::string_view kStyle =
    "body{font:14px sans-serif;margin:1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;width:100%;table-layout:fixed}"
    "td{font:12px monospace;vertical-align:top;padding:1px 6px;overflow-wrap:anywhere;width:50%}"
    ".removed{background:#fdd}.added{background:#dfd}.changed td{background:#ffd}"
    ".gap td{color:#888;text-align:center}li{font:12px monospace}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    ".removed{background:#511}.added{background:#151}.changed td{background:#441}}";

void append_row(std::string& page, const DiffLine& line) {
    bool is_removed = line.mark == LineMark::kRemoved;
    bool is_added = line.mark == LineMark::kAdded;
    page += fmt::format("<tr{}><td{}>{}</td><td{}>{}</td></tr>\n",
                        line.mark == LineMark::kChanged ? " class=changed" : "",
                        is_removed ? " class=removed" : "", escaped(line.before),
                        is_added ? " class=added" : "", escaped(line.after));
}

void append_graph(std::string& page, const ModelDiff& diff, const DiffGraph& graph) {
    page += fmt::format("<h2>{}</h2>\n<ul>\n", escaped(graph.title));
    for (const Change& change : diff.changes) {
        if (change.graph == graph.title && !is_line(change)) {
            page += fmt::format("<li>{}</li>\n", escaped(change_words(change)));
        }
    }
    page += "</ul>\n<table>\n";
    std::vector<bool> shown = shown_lines(graph);
    for (size_t i = 0; i < graph.lines.size(); ++i) {
        if (shown[i]) {
            append_row(page, graph.lines[i]);
        } else if (i == 0 || shown[i - 1]) {
            page += "<tr class=gap><td>...</td><td>...</td></tr>\n";
        }
    }
    page += "</table>\n";
}

}  // namespace

std::string diff_text(const ModelDiff& diff, std::string_view a, std::string_view b) {
    if (diff.changes.empty()) {
        return {};
    }
    std::string text = fmt::format("--- {}\n+++ {}\n", visible(a), visible(b));
    text += changes_text(diff, "the model");
    for (const DiffGraph& graph : diff.graphs) {
        if (!graph.differs) {
            continue;
        }
        text += fmt::format("@@ {} @@\n", visible(graph.title));
        std::vector<bool> shown = shown_lines(graph);
        for (size_t i = 0; i < graph.lines.size(); ++i) {
            if (shown[i]) {
                text += line_text(graph.lines[i]);
            } else if (i > 0 && shown[i - 1]) {
                text += "  ...\n";
            }
        }
        text += changes_text(diff, graph.title);
    }
    return text;
}

std::string diff_json(const ModelDiff& diff) {
    JsonWriter json;
    json.begin_object().member("same", diff.changes.empty()).key("changes").begin_list();
    for (const Change& change : diff.changes) {
        stop_point();
        json.begin_object()
            .member("kind", name(change.kind))
            .member("graph", change.graph)
            .member("what", change.what)
            .member("before", change.before)
            .member("after", change.after)
            .end_object();
    }
    return json.end_list().end_object().take();
}

std::string diff_html(const ModelDiff& diff, std::string_view a, std::string_view b) {
    std::string page = fmt::format(
        "<!doctype html>\n<meta charset=utf-8>\n<meta http-equiv=Content-Security-Policy "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{0} and "
        "{1}</title>\n<style>{2}</style>\n<h1>{0} and {1}</h1>\n",
        escaped(a), escaped(b), kStyle);
    page += diff.changes.empty() ? "<p>They are the same.</p>\n" : "<ul>\n";
    for (const Change& change : diff.changes) {
        if (change.graph == "the model") {
            page += fmt::format("<li>{}</li>\n", escaped(change_words(change)));
        }
    }
    page += diff.changes.empty() ? "" : "</ul>\n";
    for (const DiffGraph& graph : diff.graphs) {
        if (graph.differs) {
            append_graph(page, diff, graph);
        }
    }
    return page;
}

}  // namespace sardonyx::models
