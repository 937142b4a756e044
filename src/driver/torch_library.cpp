#include "driver/torch_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "driver/driver.h"
#include "elaborate/elaborate.h"
#include "syntax/tree.h"
#include "torch/names.h"

namespace sardonyx::driver {
namespace {

namespace fs = std::filesystem;

fs::path whole_path(const fs::path& path) {
    std::error_code failed;
    fs::path whole = fs::weakly_canonical(fs::absolute(path, failed), failed);
    return failed ? path : whole;
}

// Whether a decorator is a call of something that is called `operator`.
bool is_declaration(const syntax::Tree& tree, const syntax::Expr* decorator) {
    const auto* call = syntax::maybe_as<syntax::CallExpr>(decorator);
    if (call == nullptr) {
        return false;
    }
    const auto* name = syntax::maybe_as<syntax::NameExpr>(call->callee);
    const auto* member = syntax::maybe_as<syntax::AttributeExpr>(call->callee);
    Symbol symbol = name != nullptr ? name->name : member != nullptr ? member->name : Symbol();
    return symbol.valid() && tree.names.text(symbol) == "operator";
}

// What is wrong with declarations that the file has by its text, and that could not be run.
void report_failed(elaborate::FileModule& module) {
    const syntax::Tree& tree = module.tree();
    for (const syntax::Stmt* statement : tree.body) {
        const auto* definition = syntax::maybe_as<syntax::FunctionDefStmt>(statement);
        if (definition != nullptr &&
            std::any_of(definition->decorators.begin(), definition->decorators.end(),
                        [&tree](const syntax::Expr* one) { return is_declaration(tree, one); })) {
            (void)elaborate::find_script(module, tree.names.text(definition->name));
        }
    }
}

std::string place_of(const diagnostics::Sources& sources, const diagnostics::Span& span) {
    return span.valid() ? fmt::format("{}:{}", sources.path(span.file),
                                      sources.position(span.file, span.begin).line)
                        : std::string();
}

Error mistakes_of(const Compilation& c, const std::string& path) {
    std::string text = fmt::format("{}: the library cannot be read", path);
    for (const diagnostics::Diagnostic& finding : c.findings().items()) {
        if (finding.kind->severity != diagnostics::Severity::kError) {
            continue;
        }
        text += fmt::format("\n\nerror[{}]: {}", finding.kind->code, finding.message);
        std::string place =
            finding.labels.empty() ? "" : place_of(c.sources(), finding.labels[0].span);
        text += place.empty() ? "" : "\n  --> " + place;
        text += finding.help.empty() ? "" : "\n   = help: " + finding.help;
    }
    return Error{text};
}

Result<void> add_library(const std::string& path, torch::OwnOperators& own) {
    Request request;
    request.path = path;
    Compilation c = load(request);
    std::vector<std::shared_ptr<elaborate::ScriptFunction>> operators;
    if (c.module != nullptr) {
        operators = c.module->pytorch_operators();
        report_failed(*c.module);
    }
    if (c.findings().has_errors()) {
        return mistakes_of(c, path);
    }
    if (operators.empty()) {
        return Error{
            fmt::format("{}: the file declares no operators: write "
                        "`@operator(\"mylib::op\")` above a function at its top level",
                        path)};
    }
    std::string module = fs::path(path).stem().string();
    if (!torch::is_free_name(module) || module == "__init__") {
        return Error{fmt::format("{}: scripts cannot import `{}`: give the file another name", path,
                                 module)};
    }
    for (const auto& [overload, one] : own) {
        if (one.module == module && one.path != path) {
            return Error{
                fmt::format("{}: `{}` is called `{}` too: give one of the files another name", path,
                            one.path, module)};
        }
    }
    for (const std::shared_ptr<elaborate::ScriptFunction>& script : operators) {
        std::string place = place_of(c.sources(), script->name_span());
        if (elaborate::find_script(*c.module, script->name) != script) {
            return Error{fmt::format(
                "{}: `{}` is not what the file has by this name at its end: give the operator's "
                "function, which stands at the top level, a name of its own",
                place, script->name)};
        }
        for (const std::string& overload : script->pytorch_overloads) {
            auto [entry, is_new] = own.insert({overload, {module, script->name, path}});
            if (!is_new) {
                const torch::OwnOperator& other = entry->second;
                return Error{fmt::format("{}: `{}` is declared already, by `{}` of {}", place,
                                         overload, other.function, other.path)};
            }
        }
    }
    return {};
}

}  // namespace

Result<torch::OwnOperators> read_torch_libraries(const std::vector<std::string>& paths) {
    torch::OwnOperators own;
    std::set<fs::path> seen;
    for (const std::string& path : paths) {
        if (seen.insert(whole_path(path)).second) {
            SDX_TRY(add_library(path, own));
        }
    }
    return own;
}

Result<void> check_imports(const std::string& path, const std::set<std::string>& modules,
                           const torch::OwnOperators& own) {
    for (const auto& [overload, one] : own) {
        if (modules.count(one.module) != 0 && !one.path.empty() &&
            whole_path(one.path).parent_path() != whole_path(path).parent_path()) {
            return Error{
                fmt::format("{}: the script imports `{}`, so it must be in the folder of {}", path,
                            one.module, one.path)};
        }
    }
    return {};
}

}  // namespace sardonyx::driver
