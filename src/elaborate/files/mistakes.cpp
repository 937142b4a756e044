// What is wrong with the top level of a file, so that Python cannot import it or the compiler does
// not get to its scripts: reported for the file as a whole, since no script may be left to tell.

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/nearest.h"
#include "elaborate/diagnostics.h"
#include "elaborate/files/module.h"
#include "elaborate/files/script_text.h"
#include "elaborate/flow/bindings.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Stmt;
using syntax::Stmts;

namespace {

// What the statements bind, and the functions and classes in them, whoever the names belong to.
void add_bindings_below(const syntax::Tree& tree, Stmts statements,
                        std::unordered_set<std::string_view>& names) {
    auto see = [&](const Bound& one) {
        if (one.name.valid()) {
            names.insert(tree.names.text(one.name));
        }
    };
    for (const Stmt* statement : statements) {
        each_own_binding<binds::kOwn | binds::kMaybe | binds::kOuter>(&tree.names, statement, see);
        syntax::each_child(
            statement, [](const syntax::Expr*) {},
            [&](const Stmt* inner) { add_bindings_below(tree, Stmts(&inner, 1), names); });
    }
}

}  // namespace

bool FileModule::never_binds(std::string_view name) {
    if (tree_.has_errors) {
        return false;  // a statement that is not understood may bind anything
    }
    if (!bound_anywhere_) {
        bound_anywhere_.emplace();
        add_bindings_below(tree_, tree_.body, *bound_anywhere_);
    }
    return bound_anywhere_->count(name) == 0;
}

void FileModule::add_import_mistake(const Context& c, std::string_view module,
                                    const std::shared_ptr<UnknownCause>& cause) {
    static constexpr std::string_view kPackages[] = {"sardonyx", "onnxscript"};
    if (c.raising.errors == SIZE_MAX && !nearest(module, kPackages).empty()) {
        misspelt_imports_.push_back(cause);
    }
}

void FileModule::report_script(const ScriptFunction& function) {
    auto found = script_findings_.find(function.definition);
    if (found == script_findings_.end() || state_ != State::kDone) {
        return;
    }
    report_all(found->second);
}

void FileModule::end_file(const std::shared_ptr<UnknownCause>& cause) {
    ++program_.unknowns->failures;
    if (path_.ends_with(".ipynb")) {
        return;  // the cells of a notebook run one by one, whether or not another one fails
    }
    cause->ends_file = true;
    end_ = end_ != nullptr ? end_ : cause;
    forget_all(cause);
}

void FileModule::raise_from_import(const Context& c) {
    for (const std::shared_ptr<UnknownCause>& one : std::exchange(import_mistakes_, {})) {
        add_mistake(c, one);
    }
    std::shared_ptr<UnknownCause> end = std::exchange(import_end_, nullptr);
    if (end != nullptr && c.raising.errors == SIZE_MAX) {
        end_file(end);
    } else if (end != nullptr) {
        ++program_.unknowns->failures;  // whether the `try` around catches it is not known
    }
}

// Statements of the cells of a notebook run one by one, and other cells may have been run before.
void FileModule::add_mistake(const Context& c, const std::shared_ptr<UnknownCause>& cause) {
    bool is_guarded = c.raising.errors != SIZE_MAX;
    bool is_known = std::find(mistakes_.begin(), mistakes_.end(), cause) != mistakes_.end();
    if (!is_guarded && !is_known && !path_.ends_with(".ipynb")) {
        mistakes_.push_back(cause);
    }
}

// Whether a decorator, called or not, is that of scripts, whether or not its arguments are known.
bool FileModule::has_known_script_decorator(const syntax::FunctionDefStmt* definition) {
    return std::any_of(definition->decorators.begin(), definition->decorators.end(),
                       [this](const auto* one) {
                           DecoratorName name = decorator_name(one);
                           std::optional<Object> held = value(name.root);
                           if (held && name.member.valid()) {
                               held = held->is(ObjectKind::kModule)
                                          ? library_attribute(held->get<ModuleObject>().name,
                                                              tree_.names.text(name.member))
                                          : std::nullopt;
                           }
                           return held && is_builtin(*held, "sardonyx.script");
                       });
}

bool FileModule::report_mistakes() {
    run();
    if (mistakes_.empty() && end_ == nullptr && misspelt_imports_.empty() &&
        unmade_scripts_.empty()) {
        return false;
    }
    bool is_ours = imports_scripts(program_.sources.text(tree_.file));
    if (tree_.has_errors || (!is_ours && !writes_scripts(tree_))) {
        return false;
    }
    for (size_t i = 0; i < misspelt_imports_.size() && !is_ours; ++i) {
        report_all(misspelt_imports_[i]->findings);
    }
    for (const std::shared_ptr<UnknownCause>& cause : mistakes_) {
        report_all(cause->findings);
    }
    if (end_ != nullptr && end_->findings.empty()) {
        program_.diagnostics.report(kStaticError, end_->place, "importing the file fails here")
            .with_help("mend this line: no script of the file can be used");
    } else if (end_ != nullptr) {
        report_all(end_->findings);
    }
    if (!mistakes_.empty() || end_ != nullptr || (!is_ours && !misspelt_imports_.empty())) {
        return true;  // why scripts are not made follows from that
    }
    for (const auto& [definition, cause] : unmade_scripts_) {
        report_unknown(program_, unknown_result(cause), tree_.names.text(definition->name),
                       tree_.span(definition->name_range),
                       "define the script at the top of the file");
    }
    return !unmade_scripts_.empty();
}

void FileModule::report_all(const std::vector<diagnostics::Diagnostic>& findings) {
    for (const diagnostics::Diagnostic& finding : findings) {
        if (!stands(program_.diagnostics, finding)) {
            program_.diagnostics.add(finding);
        }
    }
}

}  // namespace sardonyx::elaborate
