#include "ide/scripts.h"

#include <algorithm>

#include "elaborate/functions.h"

namespace sardonyx::ide {
namespace {

using syntax::ParameterKind;

// On one line.
std::string joined(std::string_view text) {
    std::string line;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\n' && text[i] != '\r') {
            line += text[i];
            continue;
        }
        i = std::min(text.find_first_not_of(" \t\r\n", i), text.size()) - 1;
        line += ' ';
    }
    return line;
}

std::string text_of(const syntax::Parameter& one, std::string_view source) {
    uint32_t end = one.default_value != nullptr ? one.default_value->range.end
                   : one.annotation != nullptr  ? one.annotation->range.end
                                                : one.range.end;
    std::string_view stars = one.kind == ParameterKind::kVarArgs       ? "*"
                             : one.kind == ParameterKind::kKeywordArgs ? "**"
                                                                       : "";
    return std::string(stars) + joined(source.substr(one.range.begin, end - one.range.begin));
}

std::vector<ops::ShownParameter> parameters_of(const elaborate::ScriptFunction& script,
                                               std::string_view source) {
    std::vector<ops::ShownParameter> shown;
    ParameterKind last = ParameterKind::kNormal;
    for (const syntax::Parameter& one : script.definition->parameters->items) {
        if (last == ParameterKind::kPositionalOnly && one.kind != last) {
            shown.push_back({"/", {}, {}});
        }
        bool is_by_keyword = one.kind == ParameterKind::kKeywordOnly;
        if (is_by_keyword && last != one.kind && last != ParameterKind::kVarArgs) {
            shown.push_back({"*", {}, {}});
        }
        shown.push_back({text_of(one, source),
                         script.tree->names.text(one.name),
                         {},
                         is_by_keyword,
                         one.kind == ParameterKind::kVarArgs});
        last = one.kind;
    }
    if (last == ParameterKind::kPositionalOnly) {
        shown.push_back({"/", {}, {}});
    }
    return shown;
}

// As inspect.cleandoc: the lines after the first lose the indentation that they share.
std::string without_indentation(std::string_view doc) {
    std::vector<std::string_view> lines;
    while (!doc.empty()) {
        size_t end = std::min(doc.find('\n'), doc.size());
        lines.push_back(doc.substr(0, end));
        doc.remove_prefix(std::min(end + 1, doc.size()));
    }
    size_t shared = std::string_view::npos;
    for (size_t i = 1; i < lines.size(); ++i) {
        shared = std::min(shared, lines[i].find_first_not_of(' '));
    }
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
        size_t cut = i == 0 ? lines[i].find_first_not_of(' ') : shared;
        text += i == 0 ? "" : "\n";
        text += lines[i].substr(std::min(cut, lines[i].size()));
    }
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
}

}  // namespace

std::optional<ShownScript> shown_script(const Analysis& analysis, std::string_view name) {
    std::optional<elaborate::Object> object =
        analysis.module() == nullptr ? std::nullopt : analysis.module()->known(name);
    if (!object || !object->is(elaborate::ObjectKind::kScript)) {
        return std::nullopt;
    }
    const auto& script = object->get<elaborate::ScriptFunction>();
    std::string_view source = analysis.sources().text(script.tree->file);
    ShownScript shown{script.name, parameters_of(script, source), {}, {}};
    if (const syntax::Expr* result = script.definition->returns) {
        shown.result = " -> " + joined(source.substr(result->range.begin,
                                                     result->range.end - result->range.begin));
    }
    shown.doc = without_indentation(elaborate::docstring(script.definition));
    return shown;
}

}  // namespace sardonyx::ide
