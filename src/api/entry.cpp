#include "api/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "api/literal.h"
#include "elaborate/diagnostics.h"
#include "elaborate/module.h"
#include "syntax/lexer.h"
#include "syntax/parse.h"

namespace sardonyx::api {

using elaborate::FileModule;
using elaborate::Program;
using elaborate::ScriptFunction;

namespace {

using Scripts = std::vector<std::shared_ptr<ScriptFunction>>;

constexpr int64_t kMaxVersion = 1'000'000;

// The names in the text of a definition: those that it calls are among them.
std::set<std::string_view> words_of(const Program& program, const ScriptFunction& script) {
    std::set<std::string_view> words;
    std::string_view text = program.sources.text(script.tree->file);
    syntax::Range range = script.definition->range;
    syntax::Lexer lexer(text, range.begin, true, syntax::Limits{}.nesting);
    for (;;) {
        lexer.next_line();
        for (const syntax::Token& token : lexer.tokens()) {
            if (token.begin >= range.end || token.kind == syntax::TokenKind::kEndOfFile) {
                return words;
            }
            if (token.kind == syntax::TokenKind::kName) {
                words.insert(text.substr(token.begin, token.end - token.begin));
            }
        }
    }
}

// Scripts that no other one names.
Scripts unused_scripts(const Program& program, const Scripts& scripts) {
    std::vector<std::set<std::string_view>> words;
    std::unordered_map<std::string_view, int> uses;  // how many scripts name it
    for (const auto& script : scripts) {
        words.push_back(words_of(program, *script));
        for (std::string_view word : words.back()) {
            ++uses[word];
        }
    }
    Scripts unused;
    for (size_t i = 0; i < scripts.size(); ++i) {
        std::string_view name = scripts[i]->name;
        if (uses[name] == static_cast<int>(words[i].count(name))) {
            unused.push_back(scripts[i]);
        }
    }
    return unused;
}

std::string list_names(const Scripts& scripts) {
    std::string names;
    for (const auto& script : scripts) {
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", script->name);
    }
    return names;
}

bool says_not_a_model(const diagnostics::Diagnostics& found, size_t from) {
    return std::any_of(found.items().begin() + static_cast<std::ptrdiff_t>(from),
                       found.items().end(), [](const diagnostics::Diagnostic& one) {
                           return one.kind->code == elaborate::kMissingInputType.code ||
                                  one.kind->code == elaborate::kMissingAttributeValue.code;
                       });
}

}  // namespace

Result<elaborate::Options> read_options(const OptionTexts& texts) {
    elaborate::Options options;
    for (const auto& [name, text] : texts.input_types) {
        std::optional<Type> type = parse_type(text);
        if (!type) {
            return Error{fmt::format(
                "`{}` is not a type; write one as in `{}='FLOAT[2,N]'`, `INT64` for a scalar, or "
                "`FLOAT[...]` for any shape",
                text, name)};
        }
        options.input_types.emplace_back(name, *type);
    }
    for (const auto& [name, text] : texts.attributes) {
        Result<elaborate::Object> value = read_literal(text);
        if (!value.ok()) {
            return Error{fmt::format("the attribute `{}`: {}", name, value.error().message)};
        }
        options.attributes.emplace_back(name, std::move(*value));
    }
    if (texts.opset < 0 || texts.opset > kMaxVersion || texts.ir_version < 0 ||
        texts.ir_version > kMaxVersion) {
        return Error{"versions are positive numbers"};
    }
    options.opset = texts.opset;
    options.ir_version = texts.ir_version;
    return options;
}

Result<std::shared_ptr<ScriptFunction>> choose_script(Program& program, FileModule& module,
                                                      std::string_view name) {
    Scripts scripts = elaborate::scripts(module);
    const std::string& path = module.path();
    if (scripts.empty()) {
        return Error{fmt::format(
            "`{}` has no scripts; decorate a function with `@script()` from `sardonyx`", path)};
    }
    if (!name.empty()) {
        auto found = std::find_if(scripts.rbegin(), scripts.rend(),
                                  [&](const auto& script) { return script->name == name; });
        if (found == scripts.rend()) {
            return Error{
                fmt::format("`{}` has no script `{}`; it has {}", path, name, list_names(scripts))};
        }
        return *found;
    }
    if (scripts.size() == 1) {
        return scripts[0];
    }
    Scripts candidates = unused_scripts(program, scripts);
    if (candidates.size() > 1) {
        Scripts models;
        size_t said = program.diagnostics.items().size();
        for (const auto& script : candidates) {
            if (try_model(program, *script, {}) != nullptr) {
                models.push_back(script);
            }
            program.diagnostics.truncate(said);
        }
        candidates = models;
    }
    if (candidates.size() == 1) {
        return candidates[0];
    }
    return Error{fmt::format("`{}` has several scripts; choose one of {}, as in `{}:{}`", path,
                             list_names(scripts), path, scripts.back()->name)};
}

std::unique_ptr<ir::Model> try_model(Program& program, const ScriptFunction& function,
                                     const elaborate::Options& options) {
    size_t said = program.diagnostics.items().size();
    std::unique_ptr<ir::Model> model = elaborate::compile_model(program, function, options);
    if (says_not_a_model(program.diagnostics, said)) {
        program.diagnostics.truncate(said);
        return nullptr;
    }
    return model;
}

}  // namespace sardonyx::api
