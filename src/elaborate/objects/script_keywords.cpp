#include "elaborate/objects/script_keywords.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "elaborate/objects/object.h"
#include "elaborate/objects/program.h"

namespace sardonyx::elaborate {
namespace {

constexpr int64_t kMaxVersion = 1'000'000;

bool set_opset(ScriptFunction& function, const Object& value) {
    if (value.is(ObjectKind::kOpset)) {
        // An opset of ai.onnx says what the body uses; nobody adds functions to ai.onnx.
        const OpsetObject& opset = value.get<OpsetObject>();
        (opset.domain.empty() ? function.default_opset : function.opset) = opset;
    }
    return value.is(ObjectKind::kOpset) || value.is_none();
}

bool set_default_opset(ScriptFunction& function, const Object& value) {
    if (value.is(ObjectKind::kOpset)) {
        function.default_opset = value.get<OpsetObject>();
    }
    return value.is(ObjectKind::kOpset) || value.is_none();
}

// What load_schemas gives is an object of Python: the program is told by --schemas.
bool set_schemas(ScriptFunction& function, const Object& value) {
    (void)function;
    return value.is(ObjectKind::kOpaque) || value.is_none();
}

bool set_inline(ScriptFunction& function, const Object& value) {
    if (value.is(ObjectKind::kBool)) {
        function.is_inline = value.as_bool();
    }
    return value.is(ObjectKind::kBool);
}

bool set_caller_opset(ScriptFunction& function, const Object& value) {
    if (value.is(ObjectKind::kBool)) {
        function.takes_opset_of_caller = value.as_bool();
    }
    return value.is(ObjectKind::kBool);
}

bool set_ir_version(ScriptFunction& function, const Object& value) {
    bool is_version =
        value.is(ObjectKind::kInt) && value.as_int() > 0 && value.as_int() <= kMaxVersion;
    if (is_version) {
        function.ir_version = value.as_int();
    }
    return is_version;
}

template <size_t ScriptFunction::*kMember>
bool set_bytes(ScriptFunction& function, const Object& value) {
    bool is_size = value.is(ObjectKind::kInt) && value.as_int() >= 0 && value.as_int() < INT32_MAX;
    if (is_size) {
        function.*kMember = static_cast<size_t>(value.as_int());
    }
    return is_size;
}

template <std::string ScriptFunction::*kMember>
bool set_text(ScriptFunction& function, const Object& value) {
    if (value.is(ObjectKind::kString)) {
        function.*kMember = value.text();
    }
    return value.is(ObjectKind::kString);
}

struct Keyword {
    std::string_view name;
    std::string_view takes;
    bool (*set)(ScriptFunction& function, const Object& value);
};

constexpr Keyword kKeywords[] = {
    {"opset", "an Opset", set_opset},
    {"default_opset", "an Opset", set_default_opset},
    {"schemas", "what `load_schemas` gives", set_schemas},
    {"inline", "True or False", set_inline},
    {"caller_opset", "True or False", set_caller_opset},
    {"initializer_bytes", "a number of bytes", set_bytes<&ScriptFunction::initializer_bytes>},
    {"fold_bytes", "a number of bytes", set_bytes<&ScriptFunction::fold_bytes>},
    {"ir_version", "a positive int", set_ir_version},
    {"producer_name", "a str", set_text<&ScriptFunction::producer_name>},
    {"producer_version", "a str", set_text<&ScriptFunction::producer_version>},
    {"doc_string", "a str", set_text<&ScriptFunction::doc_string>},
};

constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kKeywords)> names{};
    for (size_t i = 0; i < names.size(); ++i) {
        names[i] = kKeywords[i].name;
    }
    return names;
}();

KeywordMistake unknown_keyword(std::string_view name) {
    std::string list;
    for (std::string_view known : kNames) {
        list += fmt::format("{}`{}`", list.empty() ? "" : ", ", known);
    }
    std::string_view near = nearest(name, kNames);
    return {fmt::format("`script` takes no `{}`", name),
            near.empty() ? fmt::format("it takes {}", list)
                         : fmt::format("did you mean `{}`? It takes {}", near, list)};
}

}  // namespace

std::span<const std::string_view> script_keywords() {
    return kNames;
}

std::optional<KeywordMistake> set_script_keyword(ScriptFunction& function, std::string_view name,
                                                 const Object& value) {
    const auto* found = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                     [name](const Keyword& one) { return one.name == name; });
    if (found == std::end(kKeywords)) {
        return unknown_keyword(name);
    }
    if (found->set(function, value)) {
        return std::nullopt;
    }
    return KeywordMistake{fmt::format("`{}` of `script` is {}", name, found->takes),
                          fmt::format("give {}", found->takes)};
}

}  // namespace sardonyx::elaborate
