#include "driver/scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "driver/driver.h"
#include "elaborate/elaborate.h"
#include "elaborate/files/module.h"
#include "elaborate/files/script_text.h"
#include "elaborate/objects/unknowns.h"
#include "syntax/visit.h"

namespace sardonyx::driver {

using elaborate::FileModule;
using elaborate::Program;
using elaborate::ScriptFunction;

namespace {

using Scripts = std::vector<std::shared_ptr<ScriptFunction>>;

// The names that a definition reads or binds: those that it calls are among them.
std::unordered_set<std::string_view> names_in(const ScriptFunction& script) {
    std::unordered_set<std::string_view> names;
    auto see = [&](const syntax::Expr* expr) {
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(expr)) {
            names.insert(script.tree->names.text(name->name));
        }
    };
    const syntax::Stmt* definition = script.definition;
    syntax::each_expression(syntax::Stmts(&definition, 1), see);
    return names;
}

// Scripts that no other one names.
Scripts unused_scripts(const Scripts& scripts) {
    std::unordered_map<std::string_view, int> others;  // that name it
    for (const auto& script : scripts) {
        for (std::string_view name : names_in(*script)) {
            others[name] += name == script->name ? 0 : 1;
        }
    }
    Scripts unused;
    std::copy_if(scripts.begin(), scripts.end(), std::back_inserter(unused),
                 [&](const auto& script) { return others[script->name] == 0; });
    return unused;
}

std::string list_names(const Scripts& scripts) {
    std::string names;
    for (const auto& script : scripts) {
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", script->name);
    }
    return names;
}

}  // namespace

Scripts named_scripts(FileModule& module) {
    Scripts scripts = elaborate::scripts(module);
    std::erase_if(scripts, [&module](const auto& script) {
        std::optional<elaborate::Object> held = module.value(script->name);
        return !held || (!elaborate::is_unknown(*held) && held->pointer() != script);
    });
    return scripts;
}

Result<std::shared_ptr<ScriptFunction>> choose_script(Program& program, FileModule& module,
                                                      std::string_view name) {
    Scripts scripts = named_scripts(module);
    const std::string& path = module.path();
    if (!name.empty()) {
        if (std::shared_ptr<ScriptFunction> found = elaborate::find_script(module, name)) {
            return found;
        }
    }
    if (scripts.empty() && elaborate::writes_scripts(module.tree())) {
        return Error{fmt::format(
            "the scripts of `{0}` are not known, because they are defined in functions, loops or "
            "branches; define them at the top, or use Python: `sardonyx build --python {0}`",
            path)};
    }
    if (scripts.empty()) {
        return Error{fmt::format(
            "`{}` has no scripts; decorate a function with `@script()` from `sardonyx`", path)};
    }
    if (!name.empty()) {
        return Error{
            fmt::format("`{}` has no script `{}`; it has {}", path, name, list_names(scripts))};
    }
    Scripts candidates = scripts.size() == 1 ? scripts : unused_scripts(scripts);
    if (candidates.size() > 1) {
        std::erase_if(candidates, [&](const auto& script) {
            return !elaborate::is_model(program, *script, program.file_options);
        });
    }
    if (candidates.size() == 1) {
        if (auto found = elaborate::find_script(module, candidates[0]->name)) {
            return found;
        }
        return Error{
            fmt::format("the value of `{}` in `{}` is not known", candidates[0]->name, path)};
    }
    return Error{fmt::format("`{}` has several scripts; choose one of {}, as in `{}:{}`", path,
                             list_names(scripts), path == kStandardInput ? "-" : path,
                             scripts.back()->name)};
}

}  // namespace sardonyx::driver
