#include "ide/calls.h"

#include <algorithm>

#include "ide/uses.h"
#include "syntax/visit.h"

namespace sardonyx::ide {
namespace {

using elaborate::Object;
using elaborate::ObjectKind;
using syntax::Expr;

struct NamedScript {
    Range range;
    ScriptPlace script;
};

std::optional<ScriptPlace> place_of(const Analysis& analysis, const std::optional<Object>& object) {
    if (!object || !object->is(ObjectKind::kScript)) {
        return std::nullopt;
    }
    const auto& script = object->get<elaborate::ScriptFunction>();
    const diagnostics::Sources& sources = analysis.sources();
    diagnostics::FileId file = script.tree->file;
    return ScriptPlace{script.name, std::string(sources.path(file)), sources.text(file),
                       script.definition->range, script.definition->name_range};
}

// Each place that names a script, by itself or as a member of a file that is imported.
std::vector<NamedScript> named_scripts(const Analysis& analysis) {
    std::vector<NamedScript> found;
    if (analysis.module() == nullptr) {
        return found;
    }
    elaborate::FileModule& module = *analysis.module();
    auto add = [&](Range range, const std::optional<Object>& object) {
        if (std::optional<ScriptPlace> script = place_of(analysis, object)) {
            found.push_back({range, std::move(*script)});
        }
    };
    std::vector<SeenName> names = seen_names(analysis);
    for (const SeenName& one : names) {
        if (one.is_of_file && !one.is_write) {
            add(one.range, module.known(one.name));
        }
    }
    const Interner& words = module.tree().names;
    auto visit = [&](const Expr* node) {
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node);
        const auto* base =
            member == nullptr ? nullptr : syntax::maybe_as<syntax::NameExpr>(member->value);
        auto seen = base == nullptr
                        ? names.end()
                        : std::lower_bound(names.begin(), names.end(), base->range.begin,
                                           [](const SeenName& one, uint32_t begin) {
                                               return one.range.begin < begin;
                                           });
        if (seen == names.end() || !seen->is_of_file || !member->name.valid()) {
            return;
        }
        std::optional<Object> object = module.known(words.text(base->name));
        elaborate::Environment* file = object && object->is(ObjectKind::kModule)
                                           ? object->get<elaborate::ModuleObject>().environment
                                           : nullptr;
        if (file != nullptr) {
            add(member->name_range, file->known(words.text(member->name)));
        }
    };
    syntax::each_expression(module.tree().body, visit);
    std::stable_sort(found.begin(), found.end(), [](const NamedScript& a, const NamedScript& b) {
        return a.range.begin < b.range.begin;
    });
    return found;
}

}  // namespace

std::vector<ScriptCall> script_calls(const Analysis& analysis) {
    std::vector<Symbol> functions = symbols(analysis);
    std::vector<ScriptCall> calls;
    for (NamedScript& one : named_scripts(analysis)) {
        auto around = std::find_if(functions.begin(), functions.end(), [&](const Symbol& function) {
            return function.range.begin <= one.range.begin && one.range.end <= function.range.end;
        });
        if (around != functions.end()) {
            calls.push_back({*around, std::move(one.script), one.range});
        }
    }
    return calls;
}

std::optional<ScriptPlace> script_at(const Analysis& analysis, uint32_t offset) {
    auto holds = [offset](Range range) { return range.begin <= offset && offset <= range.end; };
    for (Symbol& one : symbols(analysis)) {
        if (one.is_script && holds(one.name_range)) {
            return ScriptPlace{std::move(one.name), analysis.module()->path(), analysis.text(),
                               one.range, one.name_range};
        }
    }
    for (NamedScript& one : named_scripts(analysis)) {
        if (holds(one.range)) {
            return std::move(one.script);
        }
    }
    return std::nullopt;
}

}  // namespace sardonyx::ide
