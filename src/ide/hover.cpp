#include <fmt/format.h>

#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/type_text.h"
#include "ide/answers.h"
#include "ide/cursor.h"
#include "ide/meaning.h"
#include "ide/names.h"
#include "ide/scripts.h"
#include "ops/signature.h"
#include "types/domain.h"

namespace sardonyx::ide {
namespace {

using Parameters = std::vector<ops::ShownParameter>;

constexpr uint32_t kMostWritten = 80;  // bytes of a value that is shown as it is written

std::string as_code(std::string_view text) {
    return fmt::format("```python\n{}\n```", text);
}

std::string about_operator(const ops::Schema& schema) {
    return fmt::format("{}\n\n{}", as_code(ops::shown_signature(schema)), schema.doc);
}

// What the schema says of one parameter; empty: it has none of this name.
std::string about_parameter(const ops::Schema& schema, std::string_view name) {
    for (const ops::ShownParameter& one : ops::shown_parameters(schema)) {
        if (one.name != name) {
            continue;
        }
        std::string words;
        const ops::AttributeSchema* attribute = schema.find_attribute(name);
        for (std::string_view word :
             attribute ? attribute->enumeration : std::span<const std::string_view>()) {
            words += fmt::format("{}`{}`", words.empty() ? "\n\nOne of " : ", ", word);
        }
        return fmt::format("{}\n\n{} of `{}`: {}{}", as_code(one.text),
                           one.is_attribute ? "Attribute" : "Input", schema.name, one.doc, words);
    }
    return {};
}

std::string about_call(const ShownScript& call, std::string_view keyword) {
    std::string words;
    for (const ops::ShownParameter& one : call.parameters) {
        words += (words.empty() ? "" : ", ") + one.text;
    }
    std::string code = as_code(fmt::format("{} {}({}){}", keyword, call.name, words, call.result));
    return call.doc.empty() ? code : fmt::format("{}\n\n{}", code, call.doc);
}

// What is written of a value: `width: int = 4`, or that it is an instance of a class.
std::string written(const Analysis& analysis, const Meaning& meaning) {
    const Binding& binding = meaning.binding;
    std::string_view source = analysis.sources().text(meaning.bound_in->file);
    auto text = [&](const syntax::Expr* node) {
        return on_one_line(source.substr(node->range.begin, node->range.end - node->range.begin));
    };
    std::string words(binding.name);
    if (meaning.method != nullptr) {
        sardonyx::Symbol self = meaning.method->parameters->items[0].name;
        words = fmt::format("{}.{}", meaning.bound_in->names.text(self), binding.name);
    }
    if (binding.annotation != nullptr) {
        words += ": " + text(binding.annotation);
    } else if (meaning.kind == MeaningKind::kInstance && !meaning.type->head_names.empty()) {
        words += fmt::format(": {}", meaning.tree->names.text(meaning.type->head_names[0]));
    }
    bool is_short = binding.value != nullptr &&
                    binding.value->range.end - binding.value->range.begin <= kMostWritten;
    return is_short ? fmt::format("{} = {}", words, text(binding.value)) : words;
}

std::string about_meaning(const Analysis& analysis, const Meaning& meaning) {
    if (meaning.is_property) {
        Meaning function = meaning;
        function.kind = MeaningKind::kFunction;
        function.is_bound = true;
        function.tree = meaning.bound_in;
        std::optional<ShownScript> shown = shown_call(analysis, function);
        std::string code = as_code(fmt::format("property {}{}", shown->name, shown->result));
        return shown->doc.empty() ? code : fmt::format("{}\n\n{}", code, shown->doc);
    }
    if (meaning.kind == MeaningKind::kFunction || meaning.kind == MeaningKind::kClass) {
        std::optional<ShownScript> shown = shown_call(analysis, meaning);
        bool is_class = meaning.kind == MeaningKind::kClass;
        return shown ? about_call(*shown, is_class ? "class" : "def") : std::string();
    }
    const Binding& binding = meaning.binding;
    bool says_type = binding.annotation != nullptr || meaning.kind == MeaningKind::kInstance;
    bool is_written = meaning.bound_in != nullptr &&
                      (says_type || binding.value != nullptr || meaning.object.has_value());
    bool is_class_alone = meaning.kind == MeaningKind::kInstance && meaning.object &&
                          elaborate::as_member(*meaning.object) == nullptr;
    if (meaning.object && !is_class_alone && is_written) {
        return as_code(fmt::format("{}: {}", binding.name, elaborate::type_text(*meaning.object)));
    }
    return is_written ? as_code(written(analysis, meaning)) : std::string();
}

std::string about_global(const Analysis& analysis, std::string_view name) {
    if (std::optional<elaborate::OpsetObject> opset = analysis.opset(name)) {
        return fmt::format("{}\n\nOpset {} of `{}`.", as_code(name), opset->version,
                           shown_domain(opset->domain));
    }
    std::optional<elaborate::Object> object =
        analysis.module() == nullptr ? std::nullopt : analysis.module()->known(name);
    return object && !object->is(elaborate::ObjectKind::kUnbound)
               ? as_code(fmt::format("{}: {}", name, elaborate::type_text(*object)))
               : std::string();
}

std::string about(const Analysis& analysis, const NameAt& at) {
    if (at.is_member) {
        const ops::Schema* schema = analysis.find_operator(at.base, at.name);
        if (schema != nullptr) {
            return about_operator(*schema);
        }
        std::optional<Meaning> found =
            at.base.empty() ? std::nullopt : meaning(analysis, names_of(at), at.range.begin);
        return found ? about_meaning(analysis, *found) : std::string();
    }
    if (at.is_keyword) {
        const ops::Schema* schema = analysis.find_operator(at.call->base, at.call->name);
        if (schema != nullptr) {
            return about_parameter(*schema, at.name);
        }
        std::optional<ShownScript> call = shown_call(analysis, names_of(*at.call), at.range.begin);
        for (const ops::ShownParameter& one : call ? call->parameters : Parameters()) {
            if (one.name == at.name) {
                return as_code(one.text);
            }
        }
        return {};
    }
    if (const KnownType* type = type_of_name(analysis, at)) {
        return as_code(fmt::format("{}: {}", at.name, type->text));
    }
    std::optional<Meaning> found = meaning(analysis, at.name, at.range.begin);
    bool is_plain = found && found->kind == MeaningKind::kValue && found->object;
    return found && !is_plain ? about_meaning(analysis, *found) : about_global(analysis, at.name);
}

}  // namespace

std::optional<Hover> hover(const Analysis& analysis, uint32_t offset) {
    std::optional<NameAt> at = name_at(analysis.text(), offset);
    if (!at) {
        return std::nullopt;
    }
    std::string markdown = about(analysis, *at);
    return markdown.empty() ? std::nullopt : std::optional(Hover{at->range, std::move(markdown)});
}

}  // namespace sardonyx::ide
