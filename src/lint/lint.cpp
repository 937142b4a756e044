#include "lint/lint.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "diagnostics/ignore.h"
#include "elaborate/diagnostics.h"
#include "elaborate/elaborate.h"
#include "elaborate/files/script_text.h"
#include "infer/diagnostics.h"
#include "lint/diagnostics.h"
#include "lint/lints.h"
#include "syntax/visit.h"

namespace sardonyx::lint {
namespace {

using diagnostics::Kind;

constexpr Kind kKinds[] = {
#define SDX_DIAGNOSTIC(identifier, code, severity) {code, diagnostics::Severity::severity},
#include "elaborate/diagnostics.def"
#include "infer/diagnostics.def"
#include "lint/diagnostics.def"
#include "syntax/diagnostics.def"
#undef SDX_DIAGNOSTIC
};

enum class StatementLevel : uint8_t { kTop, kInner };

// Scripts that the file has defined nowhere: those in functions and classes, and in branches that
// are not taken.
void find_unchecked_scripts(const File& file, syntax::Stmts statements, StatementLevel level,
                            const std::vector<std::shared_ptr<elaborate::ScriptFunction>>& found) {
    for (const syntax::Stmt* statement : statements) {
        const auto* definition = syntax::maybe_as<syntax::FunctionDefStmt>(statement);
        auto is_it = [definition](const auto& one) { return one->definition == definition; };
        if (definition != nullptr && level == StatementLevel::kInner &&
            elaborate::has_script_decorator(file.tree, definition) &&
            std::none_of(found.begin(), found.end(), is_it)) {
            file.report(kUncheckedScript, definition->name_range,
                        fmt::format("the script `{}` is not checked: the code that defines it "
                                    "is not run",
                                    file.text(definition->name)))
                .with_help(fmt::format("move it to the top level of the file, or check the file "
                                       "with Python: `sardonyx check --python {}`",
                                       file.path));
        }
        syntax::each_child(
            statement, [](const syntax::Expr*) {},
            [&](const syntax::Stmt* inner) {
                if (inner->kind == syntax::StmtKind::kFunctionDef ||
                    inner->kind == syntax::StmtKind::kIf ||
                    inner->kind == syntax::StmtKind::kOpaque ||
                    inner->kind == syntax::StmtKind::kFor) {
                    find_unchecked_scripts(file, syntax::Stmts(&inner, 1), StatementLevel::kInner,
                                           found);
                }
            });
    }
}

// --- Comments ------------------------------------------------------------------------------------

void report_unused(elaborate::Program& program, const diagnostics::Ignore& ignore, size_t index) {
    bool is_alone = ignore.codes.size() <= 1;
    diagnostics::Span place = is_alone ? ignore.span : ignore.codes[index];
    if (ignore.codes.empty()) {
        program.diagnostics.report(kUnusedIgnore, place, "there is nothing to ignore on this line")
            .with_help("remove the comment");
        return;
    }
    diagnostics::Span span = ignore.codes[index];
    std::string code(program.sources.text(span.file).substr(span.begin, span.end - span.begin));
    std::vector<std::string_view> codes;
    for (const Kind* kind : kinds()) {
        codes.push_back(kind->code);
    }
    bool is_known = std::find(codes.begin(), codes.end(), code) != codes.end();
    if (is_known) {
        program.diagnostics
            .report(kUnusedIgnore, place, fmt::format("there is no `{}` on this line", code))
            .with_help(is_alone ? "remove the comment" : "remove the code from the comment");
        return;
    }
    std::string_view near = nearest(code, codes);
    diagnostics::Diagnostic& reported = program.diagnostics.report(
        kUnusedIgnore, span, fmt::format("there is no diagnostic `{}`", code));
    if (near.empty()) {
        reported.with_help("remove it; docs/diagnostics lists the codes");
    } else {
        reported.with_help(fmt::format("did you mean `{}`?", near)).edit(span, std::string(near));
    }
}

}  // namespace

std::vector<const Kind*> kinds() {
    std::vector<const Kind*> all;
    for (const Kind& kind : kKinds) {
        all.push_back(&kind);
    }
    std::sort(all.begin(), all.end(),
              [](const Kind* a, const Kind* b) { return a->code < b->code; });
    return all;
}

void lint_file(elaborate::Program& program, elaborate::FileModule& module) {
    const syntax::Tree& tree = module.tree();
    if (!elaborate::imports_scripts(program.sources.text(tree.file)) || tree.has_errors) {
        return;
    }
    File file{program, module, module.path(), tree, {}};
    for (const syntax::Stmt* statement : tree.body) {
        const auto* definition = syntax::maybe_as<syntax::FunctionDefStmt>(statement);
        if (definition != nullptr && elaborate::has_script_decorator(tree, definition)) {
            file.scripts.push_back(definition);
        }
    }
    find_unused_imports(file);
    find_shadowed_scripts(file);
    find_unchecked_scripts(file, tree.body, StatementLevel::kTop, elaborate::scripts(module));
    for (const syntax::FunctionDefStmt* script : file.scripts) {
        find_unused_values(file, script);
    }
}

void lint_script(elaborate::Program& program, const elaborate::ScriptFunction& script) {
    File file{program, *script.environment, {}, *script.tree, {script.definition}};
    find_unused_values(file, script.definition);
}

void apply_ignores(elaborate::Program& program, std::span<elaborate::FileModule* const> modules) {
    std::vector<diagnostics::Ignore> ignores;
    for (const elaborate::FileModule* module : modules) {
        for (syntax::Range comment : module->tree().directives) {
            std::optional<diagnostics::Ignore> found =
                diagnostics::find_ignore(program.sources, module->tree().span(comment));
            if (found) {
                ignores.push_back(std::move(*found));
            }
        }
    }
    diagnostics::silence(program.sources, ignores, program.diagnostics);
    for (const diagnostics::Ignore& ignore : ignores) {
        for (size_t i = 0; i < ignore.was_used.size(); ++i) {
            if (!ignore.was_used[i]) {
                report_unused(program, ignore, i);
            }
        }
    }
}

}  // namespace sardonyx::lint
