#include "ide/scripts.h"

#include <algorithm>
#include <span>

#include "elaborate/functions.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::ide {
namespace {

using syntax::ParameterKind;

std::string text_of(const syntax::Parameter& one, std::string_view source) {
    uint32_t end = one.default_value != nullptr ? one.default_value->range.end
                   : one.annotation != nullptr  ? one.annotation->range.end
                                                : one.range.end;
    std::string_view stars = one.kind == ParameterKind::kVarArgs       ? "*"
                             : one.kind == ParameterKind::kKeywordArgs ? "**"
                                                                       : "";
    return std::string(stars) + on_one_line(source.substr(one.range.begin, end - one.range.begin));
}

std::vector<ops::ShownParameter> parameters_of(const syntax::Tree& tree,
                                               std::span<const syntax::Parameter> parameters,
                                               std::string_view source) {
    std::vector<ops::ShownParameter> shown;
    ParameterKind last = ParameterKind::kNormal;
    for (const syntax::Parameter& one : parameters) {
        if (last == ParameterKind::kPositionalOnly && one.kind != last) {
            shown.push_back({"/", {}, {}});
        }
        bool is_by_keyword = one.kind == ParameterKind::kKeywordOnly;
        if (is_by_keyword && last != one.kind && last != ParameterKind::kVarArgs) {
            shown.push_back({"*", {}, {}});
        }
        shown.push_back({text_of(one, source),
                         tree.names.text(one.name),
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

ShownScript shown_function(const Analysis& analysis, const Meaning& meaning) {
    const syntax::FunctionDefStmt& function = *meaning.function;
    std::string_view source = analysis.sources().text(meaning.tree->file);
    std::span<const syntax::Parameter> parameters = function.parameters->items;
    parameters = parameters.subspan(meaning.is_bound && !parameters.empty() ? 1 : 0);
    ShownScript shown{std::string(meaning.tree->names.text(function.name)),
                      parameters_of(*meaning.tree, parameters, source),
                      {},
                      without_indentation(elaborate::docstring(function.body))};
    if (const syntax::Expr* result = function.returns) {
        shown.result = " -> " + on_one_line(source.substr(result->range.begin,
                                                          result->range.end - result->range.begin));
    }
    return shown;
}

// Of a dataclass or named tuple: its fields, as they are written.
std::vector<ops::ShownParameter> fields_of(const Analysis& analysis, const Meaning& meaning,
                                           const elaborate::Namespace& type) {
    std::vector<KnownMember> members = members_of(analysis, meaning);
    std::vector<ops::ShownParameter> shown;
    bool is_by_keyword = false;
    for (const elaborate::Namespace::Parameter& one : elaborate::parameters_of(type)) {
        auto found = std::find_if(members.begin(), members.end(), [&](const KnownMember& member) {
            return member.member.binding.name == one.name;
        });
        if (!one.is_given || found == members.end()) {
            continue;
        }
        if (one.is_keyword && !is_by_keyword) {
            shown.push_back({"*", {}, {}});
            is_by_keyword = true;
        }
        const Binding& binding = found->member.binding;
        std::string_view source = analysis.sources().text(found->tree->file);
        const syntax::Expr* last = binding.value != nullptr ? binding.value : binding.annotation;
        uint32_t end = last != nullptr ? last->range.end : binding.range.end;
        shown.push_back({on_one_line(source.substr(binding.range.begin, end - binding.range.begin)),
                         binding.name,
                         {},
                         one.is_keyword});
    }
    return shown;
}

std::optional<ShownScript> shown_class(const Analysis& analysis, const Meaning& meaning) {
    ShownScript shown;
    shown.name = meaning.type->head_names.empty()
                     ? std::string()
                     : meaning.tree->names.text(meaning.type->head_names[0]);
    Meaning instance = meaning;
    instance.kind = MeaningKind::kInstance;
    std::optional<Meaning> made_by = member_of(analysis, instance, "__init__");
    const elaborate::Namespace* type =
        meaning.object ? elaborate::as_namespace(*meaning.object) : nullptr;
    if (made_by && made_by->kind == MeaningKind::kFunction) {
        ShownScript made = shown_function(analysis, *made_by);
        shown.parameters = std::move(made.parameters);
        shown.doc = std::move(made.doc);
    } else if (type != nullptr && type->kind != elaborate::Namespace::Kind::kEnumeration) {
        shown.parameters = fields_of(analysis, meaning, *type);
    }
    std::string doc = without_indentation(elaborate::docstring(meaning.type->body));
    shown.doc = doc.empty() ? shown.doc : doc;
    return shown;
}

}  // namespace

std::optional<ShownScript> shown_call(const Analysis& analysis, const Meaning& meaning) {
    switch (meaning.kind) {
        case MeaningKind::kFunction:
            return shown_function(analysis, meaning);
        case MeaningKind::kClass:
            return shown_class(analysis, meaning);
        case MeaningKind::kInstance: {
            std::optional<Meaning> call = member_of(analysis, meaning, "__call__");
            bool is_function = call && call->kind == MeaningKind::kFunction;
            return is_function ? std::optional(shown_function(analysis, *call)) : std::nullopt;
        }
        default:
            return std::nullopt;
    }
}

std::optional<ShownScript> shown_call(const Analysis& analysis, std::string_view names,
                                      uint32_t offset) {
    std::optional<Meaning> found = meaning(analysis, names, offset);
    return found ? shown_call(analysis, *found) : std::nullopt;
}

std::string on_one_line(std::string_view source) {
    std::string line;
    for (size_t i = 0; i < source.size(); ++i) {
        if (source[i] != '\n' && source[i] != '\r') {
            line += source[i];
            continue;
        }
        i = std::min(source.find_first_not_of(" \t\r\n", i), source.size()) - 1;
        line += ' ';
    }
    return line;
}

}  // namespace sardonyx::ide
