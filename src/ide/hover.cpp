#include <fmt/format.h>

#include "elaborate/objects/type_text.h"
#include "ide/answers.h"
#include "ide/cursor.h"
#include "ide/names.h"
#include "ide/scripts.h"
#include "ops/signature.h"
#include "types/domain.h"

namespace sardonyx::ide {
namespace {

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

std::string about_script(const ShownScript& script) {
    std::string words;
    for (const ops::ShownParameter& one : script.parameters) {
        words += (words.empty() ? "" : ", ") + one.text;
    }
    std::string code = as_code(fmt::format("def {}({}){}", script.name, words, script.result));
    return script.doc.empty() ? code : fmt::format("{}\n\n{}", code, script.doc);
}

std::string about_global(const Analysis& analysis, std::string_view name) {
    if (std::optional<ShownScript> script = shown_script(analysis, name)) {
        return about_script(*script);
    }
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
        return schema == nullptr ? std::string() : about_operator(*schema);
    }
    if (at.is_keyword) {
        const ops::Schema* schema = analysis.find_operator(at.call->base, at.call->name);
        std::string text = schema == nullptr ? std::string() : about_parameter(*schema, at.name);
        if (!text.empty()) {
            return text;
        }
    }
    if (const KnownType* type = type_of_name(analysis, at)) {
        return as_code(fmt::format("{}: {}", at.name, type->text));
    }
    return about_global(analysis, at.name);
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
