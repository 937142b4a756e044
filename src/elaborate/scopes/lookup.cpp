// What a name means where it stands: its own binding, that of a scope around, the environment's;
// and what is said of one that has no value.
#include "elaborate/scopes/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/default_opset.h"
#include "elaborate/emit/repairs.h"
#include "elaborate/flow/bindings.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/held_values.h"
#include "ops/substitutes.h"
#include "syntax/builtin_names.h"
#include "types/numpy_names.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

void report_unbound(Context& c, const Unbound& unbound, Symbol name, Range range) {
    const std::deque<diagnostics::Diagnostic>& said = c.program.diagnostics.items();
    UnboundSaid& before = c.at.unbound_said[name.index];
    if (unbound.where.valid() && before.where == unbound.where && before.place < said.size() &&
        (said[before.place].kind == &kUnboundName ||
         said[before.place].kind == &kBranchTypeMismatch)) {
        return;  // one cause, one finding
    }
    before = {unbound.where, said.size()};
    if (!unbound.bindings.empty()) {
        diagnostics::Diagnostic& reported = c.report(
            kBranchTypeMismatch, range, fmt::format("`{}` {}", c.text(name), unbound.reason));
        for (const auto& [place, says] : unbound.bindings) {
            reported.label(place, says);
        }
        reported.with_help(
            "give it values of one type and rank, with `op.Cast` or `op.Reshape`, or two names");
        return;
    }
    diagnostics::Diagnostic& reported =
        c.report(kUnboundName, range, fmt::format("`{}` {}", c.text(name), unbound.reason));
    if (unbound.where.valid()) {
        reported.label(unbound.where, "because of this");
    }
    reported.with_help(
        unbound.help.empty()
            ? fmt::format("bind `{}` before, so that it has a value either way", c.text(name))
            : unbound.help);
}

// Says once that a loop which may have run zero times has bound the name.
void warn_of_unbound(Context& c, Symbol name, const Object& object, Range range) {
    auto found = c.at.possibly_unbound.find(name.index);
    if (found == c.at.possibly_unbound.end() || !identical(found->second.value, object)) {
        return;
    }
    PossiblyUnbound& one = found->second;
    const std::deque<diagnostics::Diagnostic>& said = c.program.diagnostics.items();
    if (one.place < said.size() && said[one.place].kind == &kPossiblyUnbound) {
        return;
    }
    one.place = said.size();
    c.report(kPossiblyUnbound, range,
             fmt::format("`{}` has no value when the loop runs zero times", c.text(name)))
        .label(one.loop, "this loop binds it")
        .with_help(fmt::format("bind `{}` before the loop: Python raises an error here, and the "
                               "graph gives zeros",
                               c.text(name)));
}

// `relu` after the range of `F` in `F.relu`; empty: no member is asked for.
std::string_view word_after_dot(Context& c, Range range) {
    std::string_view text = c.program.sources.text(c.tree().file);
    size_t begin = size_t{range.end} + 1;
    if (begin >= text.size() || text[range.end] != '.') {
        return {};
    }
    size_t end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
        ++end;
    }
    return text.substr(begin, end - begin);
}

// The element type that other libraries call so: `float64`, `FLOAT64`. A word in small letters that
// is no dtype of NumPy is rather a variable.
ElementType element_type_of_others(std::string_view word) {
    bool has_small = std::any_of(word.begin(), word.end(), [](char c) { return c >= 'a'; });
    return has_small ? element_type_from_numpy(word)
                     : element_type_from_name(element_name_meant(word));
}

Object unknown_name(Context& c, Symbol name, Range range) {
    std::string_view word = c.text(name);
    if (syntax::is_builtin_name(word) || word.starts_with("__") || word == "get_ipython") {
        c.report(kUnknownName, range,
                 fmt::format("`{}` is a name of Python that the compiler does not know", word))
            .with_help("compute it outside of the script, and use the value");
        return Object::error();
    }
    Environment* environment = c.function().environment;
    std::vector<std::string> names;
    if (environment != nullptr) {
        names = environment->names();
    }
    for (uint32_t i = 0; i < c.tree().names.size(); ++i) {
        if (c.at.scope->find(Symbol{i}) != nullptr) {
            names.emplace_back(c.text(Symbol{i}));
        }
    }
    std::vector<std::string_view> views(names.begin(), names.end());
    views.insert(views.end(), {"True", "False", "None"});
    std::erase(views, c.function().name);  // a script that calls itself is no repair
    // Every name of one letter is near another one.
    bool is_letter = c.text(name).size() < 2;
    std::string_view near = is_letter ? std::string_view() : nearest(c.text(name), views);
    std::string help = ops::help_for_function(word_after_dot(c, range));
    diagnostics::Diagnostic& reported =
        c.report(kUnknownName, range, fmt::format("`{}` is not defined", c.text(name)));
    if (c.text(name) == "op" && environment != nullptr && environment->opset_versions().empty()) {
        reported.with_help(
            fmt::format("import an opset under this name: `from sardonyx import opset{} as op`",
                        kDefaultOpset));
    } else if (c.text(name) == "script" && near.empty()) {
        reported.with_help("import it: `from sardonyx import script`");
    } else if (ElementType type = element_type_of_others(c.text(name));
               type != ElementType::kUndefined) {
        reported.with_help(fmt::format("this element type is `{}`: `from sardonyx import {}`",
                                       sardonyx::name(type), sardonyx::name(type)));
    } else if (!help.empty() && near != "op") {
        reported.with_help(std::move(help));
    } else if (!near.empty() && near != c.text(name)) {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, range, c.text(name), near);
    } else {
        reported.with_help("define or import it, or pass it as a parameter");
    }
    // A statement that has not been run might have defined it.
    bool is_sure = c.runs_file && (c.program.unknowns->failures == 0 ||
                                   (environment != nullptr && environment->never_binds(word)));
    return is_sure ? raises(c, "NameError") : Object::error();
}

}  // namespace

// A name that the function binds somewhere is its own everywhere (Python reference 4.2.2): before
// that it has no value, also where the file has one.
Object unbound_local(Context& c, Symbol name, Range range) {
    const ScriptFunction& function = c.function();
    bool is_bound = false;
    auto see = [&](const Bound& one) { is_bound = is_bound || one.name == name; };
    each_binding<binds::kOwn>(&c.tree().names, function.definition->body, see);
    std::optional<Object> of_file = is_bound || function.environment == nullptr
                                        ? std::nullopt
                                        : function.environment->known(c.text(name));
    if (of_file && !of_file->is_tensor_like()) {  // `D["k"] = v`: its items alone are assigned to
        c.report(kUnsupportedStatement, range,
                 fmt::format("{} of the module is changed", kind_name(*of_file)))
            .with_help("copy it first: `xs = list(xs)` or `d = dict(d)`");
        return Object::error();
    }
    std::optional<Range> bound = last_assignment(function.definition->body, name);
    diagnostics::Diagnostic& reported = c.report(
        kUnboundName, range,
        fmt::format("`{}` has no value yet: it is a local name of `{}`, which binds it elsewhere",
                    c.text(name), function.name));
    if (bound) {
        reported.label(c.span(*bound), "bound here");
    }
    reported.with_help(
        fmt::format("bind `{}` before, or give one of the two another name", c.text(name)));
    return Object::error();
}

namespace {

// Says that a name of a file is not known, unless that stands among the findings: what has only
// been tried took its findings with it.
void report_once(Context& c, const Object& unknown, Symbol name, Range range) {
    const std::deque<diagnostics::Diagnostic>& findings = c.program.diagnostics.items();
    Globals::Said& said = c.globals->said[{&c.tree(), name.index}];
    bool stands = said.place < findings.size() && findings[said.place].message == said.message;
    if (stands && !c.runs_file) {
        return;
    }
    said.place = findings.size();
    report_unknown(c, unknown, c.text(name), range);
    said.message = said.place < findings.size() ? findings[said.place].message : std::string();
}

}  // namespace

namespace {

// A name that the function binds, and another of this name around it. `word`: what says that the
// other one is meant.
Object unbound_own(Context& c, Symbol name, std::string_view word, Range range) {
    bool is_global = word == "global";
    c.report(kUnboundName, range,
             fmt::format("`{}` has no value yet: it is a local name of the {}function, which "
                         "binds it elsewhere",
                         c.text(name), is_global ? "" : "nested "))
        .with_help(fmt::format("write `{} {}` at its top for the name of the {}", word,
                               c.text(name), is_global ? "file" : "function around"));
    return Object::error();
}

}  // namespace

Object lookup(Context& c, Symbol name, Range range) {
    bool has_failed = false;     // to be bound, which has been reported
    bool is_behind_own = false;  // it is no name of the function that runs
    for (const Scope* scope = c.at.scope.get(); scope != nullptr; scope = scope->enclosing.get()) {
        const Object* found = scope->find(name);
        if (found == nullptr || found->is_error()) {
            has_failed = has_failed || found != nullptr;
            is_behind_own = is_behind_own || scope->comprehension == nullptr;
            continue;
        }
        if (is_behind_own && scope->comprehension == nullptr && c.at.body != nullptr &&
            is_own_name(c, *c.at.body, name)) {
            return has_failed ? Object::error() : unbound_own(c, name, "nonlocal", range);
        }
        if (c.program.unknowns->changed.empty() ? is_unknown(*found)
                                                : unknown_cause(c.program, *found) != nullptr) {
            report_unknown(c, *found, c.text(name), range);
            return Object::error();
        }
        if (found->is(ObjectKind::kUnbound) && found->get<Unbound>().reason.empty()) {
            return Object::error();  // its binding failed, and that has been reported
        }
        if (found->is(ObjectKind::kUnbound)) {
            report_unbound(c, found->get<Unbound>(), name, range);
            return Object::error();
        }
        if (!c.at.possibly_unbound.empty()) {
            warn_of_unbound(c, name, *found, range);
        }
        return held(c, *found, range);
    }
    if (is_local(c, c.function(), name)) {
        return has_failed ? Object::error() : unbound_local(c, name, range);
    }
    if (c.at.body != nullptr && is_own_name(c, *c.at.body, name)) {
        return has_failed ? Object::error() : unbound_own(c, name, "global", range);
    }
    SymbolMap<Object>& known = *c.globals->values.try_emplace(&c.tree()).first;
    if (const Object* cached = c.runs_file ? nullptr : known.find(name)) {
        return *cached;
    }
    std::optional<Object> global;
    if (c.function().environment != nullptr) {
        global = c.function().environment->lookup_symbol(name, c.text(name));
    }
    if (!global) {
        return unknown_name(c, name, range);
    }
    if (is_unknown(*global) || unknown_cause(c.program, *global) != nullptr) {
        report_once(c, *global, name, range);
        return Object::error();
    }
    if (c.runs_file) {
        return *global;
    }
    name_array(c, *global, c.text(name), NamedBy::kVariable);
    note_foreign(c, *global);
    if (auto [place, is_new] = known.try_emplace(name); is_new) {
        *place = *global;
    }
    return *global;
}

}  // namespace sardonyx::elaborate
