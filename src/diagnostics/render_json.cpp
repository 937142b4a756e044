// Diagnostics for programs: our own JSON, and SARIF 2.1.0 (OASIS; the section numbers below are
// its). The only file of the phase that sees the JSON library, which is slow to compile.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "diagnostics/applicability.h"
#include "diagnostics/inlays.h"
#include "diagnostics/order.h"
#include "diagnostics/pages.h"
#include "diagnostics/render.h"

namespace sardonyx::diagnostics {
namespace {

// Keeps the order in which keys are added.
using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    // Texts from outside may hold bytes that are not UTF-8.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json position(const Sources& sources, FileId file, uint32_t offset) {
    Position at = sources.position(file, offset);
    return {{"line", at.line}, {"column", at.column}, {"offset", offset}};
}

// "book.ipynb:cell 3", as the path of a cell is, in its parts; 0: a file.
std::pair<std::string_view, int> file_and_cell(std::string_view path) {
    constexpr std::string_view kMark = ".ipynb:cell ";
    size_t at = path.rfind(kMark);
    int cell = 0;
    for (char c : at == std::string_view::npos ? "" : path.substr(at + kMark.size())) {
        cell = c >= '0' && c <= '9' && cell < 1000000 ? cell * 10 + (c - '0') : 0;
    }
    return {cell == 0 ? path : path.substr(0, at + kMark.find(':')), cell};
}

// The file and range of a span; both null for a span that points nowhere.
void add_place(Json& json, const Sources& sources, const Span& span) {
    json["file"] = nullptr;
    json["range"] = nullptr;
    if (span.valid()) {
        auto [path, cell] = file_and_cell(sources.path(span.file));
        json["file"] = path;
        if (cell != 0) {
            json["cell"] = cell;
        }
        json["range"] = {{"start", position(sources, span.file, span.begin)},
                         {"end", position(sources, span.file, span.end)}};
    }
}

Json finding(const Sources& sources, const Diagnostic& diagnostic) {
    Json json;
    json["code"] = diagnostic.kind->code;
    json["severity"] = severity_name(diagnostic.kind->severity);
    json["message"] = diagnostic.message;
    add_place(json, sources, diagnostic.labels.empty() ? Span() : diagnostic.labels[0].span);
    json["labels"] = Json::array();
    for (const Label& label : diagnostic.labels) {
        Json& added = json["labels"].emplace_back(Json::object());
        add_place(added, sources, label.span);
        added["message"] = label.message;
    }
    json["notes"] = diagnostic.notes;
    json["help"] = diagnostic.help.empty() ? Json() : Json(diagnostic.help);
    json["edits"] = Json::array();
    for (const Edit& edit : diagnostic.edits) {
        Json& added = json["edits"].emplace_back(Json::object());
        add_place(added, sources, edit.span);
        added["replacement"] = edit.replacement;
        added["applicability"] = name(applicability_of(diagnostic));
    }
    return json;
}

// RFC 3986: a path as a relative reference, or as a file URI where it is absolute.
std::string uri(std::string_view path) {
    constexpr std::string_view kUnreserved = "-._~/";
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out = path.substr(0, 1) == "/" ? "file://" : "";
    for (char c : path) {
        unsigned char byte = static_cast<unsigned char>(c);
        bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                        (byte >= 'A' && byte <= 'Z') ||
                        kUnreserved.find(c) != std::string_view::npos;
        if (is_plain) {
            out += c;
        } else {
            out += '%';
            out += kDigits[byte >> 4U];
            out += kDigits[byte & 15U];
        }
    }
    return out;
}

Json artifact(const Sources& sources, FileId file) {
    return {{"uri", uri(file_and_cell(sources.path(file)).first)}};
}

// Section 3.30: 1-based, the end column is that after the last character.
Json region(const Sources& sources, const Span& span) {
    Position start = sources.position(span.file, span.begin);
    Position end = sources.position(span.file, span.end);
    return {{"startLine", start.line},  {"startColumn", start.column},
            {"endLine", end.line},      {"endColumn", end.column},
            {"byteOffset", span.begin}, {"byteLength", span.end - std::min(span.begin, span.end)}};
}

Json location(const Sources& sources, const Label& label) {
    Json json = {{"physicalLocation",
                  {{"artifactLocation", artifact(sources, label.span.file)},
                   {"region", region(sources, label.span)}}}};
    if (int cell = file_and_cell(sources.path(label.span.file)).second; cell != 0) {
        // Section 3.33: the region is one of the cell.
        json["logicalLocations"] = {{{"name", "cell " + std::to_string(cell)}}};
    }
    if (!label.message.empty()) {
        json["message"]["text"] = label.message;
    }
    return json;
}

// Section 3.55: the changes to one file each, in a list.
Json fix(const Sources& sources, const Diagnostic& diagnostic) {
    Json changes = Json::array();
    std::map<uint32_t, size_t> change_of_file;
    for (const Edit& edit : diagnostic.edits) {
        if (!edit.span.valid()) {
            continue;
        }
        auto [found, is_new] = change_of_file.try_emplace(edit.span.file.index, changes.size());
        if (is_new) {
            changes.push_back({{"artifactLocation", artifact(sources, edit.span.file)},
                               {"replacements", Json::array()}});
        }
        changes[found->second]["replacements"].push_back(
            {{"deletedRegion", region(sources, edit.span)},
             {"insertedContent", {{"text", edit.replacement}}}});
    }
    Json json;
    json["description"]["text"] = diagnostic.help.empty() ? diagnostic.message : diagnostic.help;
    json["artifactChanges"] = std::move(changes);
    // Section 3.8: what SARIF has no word for.
    json["properties"]["applicability"] = name(applicability_of(diagnostic));
    return json;
}

// SARIF has no notes and no help of a single result: they follow the message.
std::string full_text(const Diagnostic& diagnostic) {
    std::string text = diagnostic.message;
    for (const std::string& note : diagnostic.notes) {
        text += "\nnote: " + note;
    }
    if (!diagnostic.help.empty()) {
        text += "\nhelp: " + diagnostic.help;
    }
    return text;
}

Json result(const Sources& sources, const Diagnostic& diagnostic, size_t rule_index) {
    Json json;
    json["ruleId"] = diagnostic.kind->code;
    json["ruleIndex"] = rule_index;
    json["level"] = severity_name(diagnostic.kind->severity);
    json["message"]["text"] = full_text(diagnostic);
    json["locations"] = Json::array();
    Json related = Json::array();
    for (const Label& label : diagnostic.labels) {
        if (!label.span.valid()) {
            continue;
        }
        if (&label == &diagnostic.labels[0]) {
            json["locations"].push_back(location(sources, label));
        } else {
            Json added = location(sources, label);
            added["id"] = related.size();
            related.push_back(std::move(added));
        }
    }
    if (!related.empty()) {
        json["relatedLocations"] = std::move(related);
    }
    auto has_place = [](const Edit& edit) { return edit.span.valid(); };
    if (std::any_of(diagnostic.edits.begin(), diagnostic.edits.end(), has_place)) {
        json["fixes"] = Json::array({fix(sources, diagnostic)});
    }
    return json;
}

// The kinds that occur, sorted by code, with their place in that order.
struct Rule {
    const Kind* kind;
    size_t index;
};

std::map<std::string_view, Rule> rules_of(const std::vector<const Diagnostic*>& findings) {
    std::map<std::string_view, Rule> rules;
    for (const Diagnostic* diagnostic : findings) {
        rules.emplace(diagnostic->kind->code, Rule{diagnostic->kind, 0});
    }
    size_t index = 0;
    for (auto& [code, rule] : rules) {
        rule.index = index++;
    }
    return rules;
}

// Section 3.49: the descriptions of the rules.
Json descriptors(const std::map<std::string_view, Rule>& rules) {
    Json json = Json::array();
    for (const auto& [code, rule] : rules) {
        Json level = {{"level", severity_name(rule.kind->severity)}};
        Json added = {{"id", code}, {"defaultConfiguration", std::move(level)}};
        if (const Page* page = find_page(code)) {
            added["shortDescription"]["text"] = page->summary;
            added["help"] = {{"text", page->text}, {"markdown", page->text}};
        }
        json.push_back(std::move(added));
    }
    return json;
}

}  // namespace

std::string render_json(const Sources& sources, const Diagnostics& diagnostics) {
    Json json = Json::array();
    for (const Diagnostic* diagnostic : in_order(diagnostics)) {
        json.push_back(finding(sources, *diagnostic));
    }
    return dump(json);
}

std::string render_inlays_json(const Sources& sources, std::span<const Inlay> inlays) {
    Json list = Json::array();
    for (const Inlay& inlay : inlays) {
        Json& added = list.emplace_back(Json::object());
        added["name"] = sources.text(inlay.span.file)
                            .substr(inlay.span.begin, inlay.span.end - inlay.span.begin);
        add_place(added, sources, inlay.span);
        added["text"] = inlay.text;
    }
    return dump(list);
}

std::string render_sarif(const Sources& sources, const Diagnostics& diagnostics) {
    std::vector<const Diagnostic*> findings = in_order(diagnostics);
    std::map<std::string_view, Rule> rules = rules_of(findings);
    Json results = Json::array();
    for (const Diagnostic* diagnostic : findings) {
        size_t index = rules.at(diagnostic->kind->code).index;
        results.push_back(result(sources, *diagnostic, index));
    }
    Json run;
    run["tool"]["driver"] = {{"name", "sardonyx"}, {"rules", descriptors(rules)}};
    run["columnKind"] = "unicodeCodePoints";
    run["results"] = std::move(results);
    Json json;
    json["$schema"] =
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
        "sarif-schema-2.1.0.json";
    json["version"] = "2.1.0";
    json["runs"] = Json::array({std::move(run)});
    return dump(json);
}

}  // namespace sardonyx::diagnostics
