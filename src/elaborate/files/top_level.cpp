// The top level of a file, run in order by the evaluator that runs functions at compile time.
//
// What a statement reports means that it cannot be run: everything that it may have changed, by its
// text, is unknown from then on (unknowns.h), and nobody is told unless a script asks for it.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "elaborate/bool_operators.h"
#include "elaborate/emit/constant_pool.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/operator_binding.h"
#include "elaborate/exceptions.h"
#include "elaborate/expressions.h"
#include "elaborate/files/class_statements.h"
#include "elaborate/files/module.h"
#include "elaborate/files/spoil.h"
#include "elaborate/flow/effects.h"
#include "elaborate/library/call_caches.h"
#include "elaborate/library/library.h"
#include "elaborate/library/members.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/script_keywords.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/patterns.h"
#include "elaborate/statements.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

void FileModule::run() {
    if (state_ != State::kNew) {
        return;
    }
    state_ = State::kRunning;
    run_at_top([&](Context& c) {
        run_block(c, tree_.body);
        if (end_ != nullptr) {
            forget_all(end_);  // with what has been bound after it, so that all is refused
        }
    });
    state_ = State::kDone;
}

// Runs statements as the file does; what they report is taken back.
void FileModule::run_at_top(const std::function<void(Context&)>& statements) {
    ir::Model scratch;
    Context c(program_, program_.file_options, scratch);
    scratch.graph = scratch.make_graph(nullptr);
    Unit unit;
    unit.graph = scratch.graph;
    c.unit = &unit;
    c.graph = unit.graph;
    c.at.scope = globals_;
    c.runs_file = true;
    diagnostics::Checkpoint said(program_.diagnostics);
    size_t types = program_.types.size();
    statements(c);
    said.take_back();
    program_.types.resize(types);
}

void FileModule::run_block(Context& c, Stmts statements) {
    for (const Stmt* statement : statements) {
        if (c.is_raising()) {
            return;
        }
        if (program_.unknowns->is_exhausted() || c.gave_up) {
            diagnostics::Checkpoint said(program_.diagnostics);
            program_.diagnostics.report(kLimitExceeded, tree_.span(statement->range),
                                        c.gave_up
                                            ? "too many statements above this run past the limits"
                                            : "too many names above this are not known");
            forget_all(make_cause(statement, said));
            said.take_back();
            return;
        }
        run_statement(c, statement);
    }
}

void FileModule::run_statement(Context& c, const Stmt* statement) {
    switch (statement->kind) {
        case StmtKind::kError:
        case StmtKind::kPass:
            return;
        case StmtKind::kIf:
            run_if(c, syntax::as<syntax::IfStmt>(statement));
            return;
        case StmtKind::kFunctionDef:
            run_definition(c, syntax::as<syntax::FunctionDefStmt>(statement));
            return;
        case StmtKind::kImport:
            run_import(c, syntax::as<syntax::ImportStmt>(statement));
            raise_from_import(c);
            return;
        case StmtKind::kImportFrom:
            run_import_from(c, syntax::as<syntax::ImportFromStmt>(statement));
            raise_from_import(c);
            return;
        case StmtKind::kOpaque:
            run_opaque(c, syntax::as<syntax::OpaqueStmt>(statement));
            return;
        case StmtKind::kAssert:
            run_assert(c, syntax::as<syntax::AssertStmt>(statement));
            return;
        case StmtKind::kRaise: {
            if (c.raising.errors != SIZE_MAX) {
                attempt(c, statement, [&] { exec(c, Stmts(&statement, 1)); });
                return;
            }
            end_file(make_cause(statement, diagnostics::Checkpoint(program_.diagnostics)));
            return;
        }
        default:
            attempt(c, statement, [&] { exec(c, Stmts(&statement, 1)); });
            return;
    }
}

namespace {

std::string what_of(const Stmt* statement) {
    switch (statement->kind) {
        case StmtKind::kFor:
            return "by `for` ";
        case StmtKind::kWhile:
            return "by `while` ";
        case StmtKind::kIf:
            return "by `if` ";
        case StmtKind::kAugAssign:
            return "by an augmented assignment ";
        case StmtKind::kDelete:
            return "by `del` ";
        case StmtKind::kRaise:
            return "by `raise` ";
        case StmtKind::kAssert:
            return "by `assert` ";
        case StmtKind::kOpaque:
            return fmt::format("by `{}` ", syntax::as<syntax::OpaqueStmt>(statement)->keyword);
        default:
            return {};
    }
}

}  // namespace

std::shared_ptr<UnknownCause> FileModule::make_cause(const Stmt* statement,
                                                     const diagnostics::Checkpoint& said) {
    auto cause = std::make_shared<UnknownCause>();
    program_.unknowns->causes.push_back(cause);
    cause->place = tree_.span(statement->range);
    cause->what = what_of(statement);
    for (diagnostics::Diagnostic& one : said.findings()) {
        if (one.kind->severity == diagnostics::Severity::kError) {
            cause->findings.push_back(std::move(one));
        }
    }
    return cause;
}

// The script where the statement is `name = script.to_model_proto()`; else null.
std::shared_ptr<ScriptFunction> FileModule::script_of_model(const Stmt* statement) {
    const auto* assign = syntax::maybe_as<syntax::AssignStmt>(statement);
    const auto* call =
        assign != nullptr ? syntax::maybe_as<syntax::CallExpr>(assign->value) : nullptr;
    if (call == nullptr || !call->args.empty() || !call->keywords.empty()) {
        return nullptr;
    }
    const auto* method = syntax::maybe_as<syntax::AttributeExpr>(call->callee);
    const auto* name =
        method != nullptr ? syntax::maybe_as<syntax::NameExpr>(method->value) : nullptr;
    if (name == nullptr || tree_.names.text(method->name) != "to_model_proto") {
        return nullptr;
    }
    std::optional<Object> held = value(name->name);
    return held && held->is(ObjectKind::kScript)
               ? std::static_pointer_cast<ScriptFunction>(held->pointer())
               : nullptr;
}

void FileModule::give_up(const Stmt* statement, const std::shared_ptr<UnknownCause>& cause,
                         BoundNames names) {
    Effects effects = effects_of(tree_, statement, [this](Symbol name) { return value(name); });
    spoil(program_, *this, effects, cause);
    if (names == BoundNames::kForgotten) {
        Object unknown = unknown_result(cause);
        for (Symbol name : effects.binds) {
            forget(name, unknown);
        }
    }
}

template <typename Body>
std::shared_ptr<UnknownCause> FileModule::attempt(Context& c, const Stmt* statement, Body&& body,
                                                  BoundNames names) {
    diagnostics::Checkpoint said(program_.diagnostics);
    size_t mark = globals_->open();
    Context::Raising around = c.raising;
    bool is_guarded = around.errors != SIZE_MAX;
    if (!is_guarded) {
        c.raising = {program_.diagnostics.error_count(), c.graph, {}, around.handled};
    }
    body();
    // A name that is not defined may be one that is being written, or that a notebook defines.
    bool is_undefined = c.raising.type.builtin == "NameError";
    bool raises_surely = !is_guarded && !c.raising.type.builtin.empty() && !is_undefined;
    if (!is_guarded) {
        c.raising = around;
    }
    // The graph of this context belongs to nobody: what is computed there is not known here.
    bool has_nodes = c.graph->last_node() != nullptr;
    std::shared_ptr<UnknownCause> cause;
    if (!said.has_errors() && !has_nodes && !c.gave_up) {
        globals_->keep();
    } else if (c.is_raising() && !has_nodes && !c.gave_up) {
        globals_->keep();  // as far as it has been run; the `try` around takes it from here
        return make_cause(statement, said);
    } else {
        if (!said.has_errors()) {
            program_.diagnostics.report(kStaticRequired, tree_.span(statement->range),
                                        "this is computed when the file runs, not at compile time");
        }
        globals_->undo(mark);
        cause = make_cause(statement, said);
        cause->model_of = script_of_model(statement);
        give_up(statement, cause, names);
        if (raises_surely && !has_nodes && !c.gave_up) {
            end_file(cause);
        } else {
            ++program_.unknowns->failures;
        }
        if (is_undefined && !has_nodes && !c.gave_up) {
            add_mistake(c, cause);
        }
    }
    if (has_nodes) {
        c.model.graph = c.model.make_graph(nullptr);
        c.unit->graph = c.graph = c.model.graph;
        c.pool->small.clear();
    }
    c.changes.clear();
    said.take_back();
    if (c.gave_up && ++endless_ <= kMostEndless) {
        // What follows is run with a part of the limits, half as large each time, so that all of it
        // together stays below twice the limits.
        const Limits& limits = c.options.limits;
        c.gave_up = false;
        c.steps = limits.steps - (limits.steps >> endless_);
        c.iterations = limits.static_iterations - (limits.static_iterations >> endless_);
        c.node_count = 0;
    }
    return cause;
}

void FileModule::run_if(Context& c, const syntax::IfStmt* statement) {
    std::optional<bool> holds;
    auto cause = attempt(c, statement, [&] {
        holds = truth(test_value(c, statement->condition));
        if (!holds) {
            c.report(kStaticRequired, statement->condition->range, "this is not known here");
        }
    });
    if (cause == nullptr) {
        run_block(c, *holds ? statement->body : statement->orelse);
    }
}

// --- Statements of several suites ----------------------------------------------------------------

// `try` and `with`. A statement in them that is not run might have raised something.
void FileModule::run_guarded(Context& c, const syntax::OpaqueStmt* statement) {
    attempt(c, statement, [&] {
        RunSuite run = [&](Stmts suite) {
            size_t failures = program_.unknowns->failures;
            run_block(c, suite);
            if (program_.unknowns->failures == failures) {
                return Jump::kNone;
            }
            if (c.is_raising()) {
                c.raising.type = {};
            } else {
                c.report(kUnsupportedStatement, statement->keyword_range,
                         "whether this raises an error is not known");
            }
            return Jump::kNone;
        };
        if (statement->items.empty()) {
            exec_try(c, statement, run);
        } else {
            exec_with(c, statement, run);
        }
    });
}

void FileModule::run_opaque(Context& c, const syntax::OpaqueStmt* statement) {
    if (!statement->items.empty() || (statement->keyword == "try" && !statement->clauses.empty())) {
        run_guarded(c, statement);
    } else if (statement->subject != nullptr) {
        std::optional<const syntax::Clause*> chosen;
        auto cause = attempt(c, statement, [&] { chosen = chosen_case(c, statement); });
        if (cause == nullptr && chosen && *chosen != nullptr) {
            run_block(c, (*chosen)->body);
        }
    } else if (statement->keyword == "class" && !statement->head_names.empty()) {
        attempt(c, statement, [&] {
            Object made = make_class(c, statement, top_, root_);
            if (!made.is_error() && !c.is_raising()) {
                bind(statement->head_names[0], made);
            }
        });
    } else {
        const Stmt* one = statement;
        attempt(c, one, [&] { exec(c, Stmts(&one, 1)); });
    }
}

void FileModule::run_assert(Context& c, const syntax::AssertStmt* statement) {
    bool fails = false;
    diagnostics::Checkpoint said(program_.diagnostics);
    attempt(c, statement, [&] {
        Object test = eval(c, statement->condition);
        fails = !test.is_error() && truth(test) == false;
    });
    if (fails && c.raising.errors != SIZE_MAX) {
        program_.diagnostics.report(kStaticError, tree_.span(statement->condition->range),
                                    "the assertion does not hold");
        raises(c, "AssertionError");
    } else if (fails) {
        program_.diagnostics.report(kStaticError, tree_.span(statement->condition->range),
                                    "the assertion does not hold");
        end_file(make_cause(statement, said));
        said.take_back();
    }
}

// --- Functions -----------------------------------------------------------------------------------

namespace {

// Decorators that leave a function what it is.
bool is_transparent(const Object& decorator) {
    return is_builtin(decorator, "sardonyx.graph") ||
           (decorator.is(ObjectKind::kDecorator) && decorator.get<DecoratorObject>().is_graph);
}

}  // namespace

void FileModule::run_definition(Context& c, const syntax::FunctionDefStmt* statement) {
    Object object;
    auto cause = attempt(c, statement, [&] { object = decorated(c, statement); });
    if (cause == nullptr) {
        bind(statement->name, std::move(object));
        return;
    }
    if (has_known_script_decorator(statement)) {
        unmade_scripts_.emplace_back(statement, cause);
    }
    // Who decorates it may call it, now and later.
    Object function = Object::make(ObjectKind::kClosure, Closure{statement, nullptr, root_, {}});
    function.get<Closure>().defaults.resize(statement->parameters->items.size());
    cause->held.push_back(function);
    program_.unknowns->escaped.push_back(function);
}

// An unknown default matters only to callers that leave the argument out.
Object FileModule::make_default(Context& c, const syntax::FunctionDefStmt* definition,
                                const syntax::Parameter& parameter) {
    Object value;
    auto cause = attempt(
        c, definition, [&] { value = eval(c, parameter.default_value); }, BoundNames::kKept);
    return cause == nullptr ? value : unknown_result(cause);
}

Object FileModule::make_script(Context& c, const syntax::FunctionDefStmt* definition,
                               const DecoratorObject& decorator) {
    ScriptFunction function;
    function.name = tree_.names.text(definition->name);
    function.tree = &tree_;
    function.definition = definition;
    function.environment = this;
    for (const syntax::Parameter& parameter : definition->parameters->items) {
        if (parameter.default_value != nullptr) {
            function.defaults.emplace_back(tree_.names.text(parameter.name),
                                           make_default(c, definition, parameter));
        }
    }
    for (const auto& [name, value] : decorator.keywords) {
        (void)set_script_keyword(function, name, value);  // reported where it is written
    }
    if (!decorator.pytorch_overload.empty()) {
        function.pytorch_overloads.push_back(decorator.pytorch_overload);
    }
    Object object = Object::make(ObjectKind::kScript, std::move(function));
    scripts_.push_back(std::static_pointer_cast<ScriptFunction>(object.pointer()));
    scripts_.back()->is_of_file = true;
    return object;
}

Object FileModule::decorated(Context& c, const syntax::FunctionDefStmt* definition) {
    Closure closure{definition, nullptr, root_, {}};
    Object object;  // what the decorators so far have made of it; the error object: itself
    auto as_function = [&] {
        for (const syntax::Parameter& parameter : definition->parameters->items) {
            closure.defaults.push_back(parameter.default_value != nullptr
                                           ? make_default(c, definition, parameter)
                                           : Object::error());
        }
        return Object::make(ObjectKind::kClosure, std::move(closure));
    };
    for (size_t i = definition->decorators.size(); i-- > 0;) {
        const Expr* expr = definition->decorators[i];
        diagnostics::Checkpoint said(program_.diagnostics);
        Object decorator = eval(c, expr);
        bool is_script =
            is_builtin(decorator, "sardonyx.script") ||
            (decorator.is(ObjectKind::kDecorator) && !decorator.get<DecoratorObject>().is_graph);
        const std::string* overload = decorator.is(ObjectKind::kDecorator)
                                          ? &decorator.get<DecoratorObject>().pytorch_overload
                                          : nullptr;
        bool is_operator = overload != nullptr && !overload->empty();
        if (is_operator && object.is(ObjectKind::kScript)) {
            object.get<ScriptFunction>().pytorch_overloads.push_back(*overload);
        } else if (is_script && object.is_error()) {
            // Errors in its keywords are reported with the script.
            if (said.has_findings()) {
                script_findings_[definition] = said.findings();
            }
            said.take_back();
            object =
                make_script(c, definition,
                            decorator.is(ObjectKind::kDecorator) ? decorator.get<DecoratorObject>()
                                                                 : DecoratorObject{});
        } else if (decorator.is(ObjectKind::kClosure) || decorator.is(ObjectKind::kMethod) ||
                   decorator.is(ObjectKind::kPartial) || is_cache_decorator(decorator)) {
            Arguments one;
            one.positional = {object.is_error() ? as_function() : object};
            one.ranges = {expr->range};
            one.range = one.callee_range = expr->range;
            object = elaborate::call(c, decorator, one);
            if (object.is_error()) {
                return object;
            }
        } else if (!decorator.is_error() && !is_transparent(decorator)) {
            c.report(kUnsupportedDecorator, expr->range,
                     "a decorator that the compiler does not know");
        }
    }
    return object.is_error() ? as_function() : object;
}

// --- Imports -------------------------------------------------------------------------------------

namespace {

// The name that an import binds: `a` for `import a.b`.
Symbol bound_symbol(syntax::Tree& tree, const syntax::Alias& alias) {
    if (alias.as_name.valid()) {
        return alias.as_name;
    }
    std::string_view dotted = tree.names.text(alias.name);
    size_t dot = dotted.find('.');
    return dot == std::string_view::npos ? alias.name : tree.names.intern(dotted.substr(0, dot));
}

}  // namespace

void FileModule::run_import(Context& c, const syntax::ImportStmt* statement) {
    for (const syntax::Alias& alias : statement->names) {
        std::string_view dotted = tree_.names.text(alias.name);
        // `import a.b` binds a, `import a.b as c` binds a.b.
        size_t end = alias.as_name.valid() ? dotted.size() : dotted.find('.');
        diagnostics::Checkpoint said(program_.diagnostics);
        Object module = import_module(dotted.substr(0, end), 0, alias.range);
        // What is imported of a package of files becomes its member.
        bool is_of_files = !module.is_error() && module.get<ModuleObject>().environment != nullptr;
        if (is_of_files && end < dotted.size() &&
            import_module(dotted, 0, alias.range).is_error()) {
            module = Object::error();
        }
        if (module.is_error()) {
            ++program_.unknowns->failures;
            std::shared_ptr<UnknownCause> cause = make_cause(statement, said);
            add_import_mistake(c, dotted, cause);
            module = unknown_result(cause);
        }
        said.take_back();
        bind(bound_symbol(tree_, alias), std::move(module));
    }
}

void FileModule::run_import_from(Context& c, const syntax::ImportFromStmt* statement) {
    for (const syntax::Alias& alias : statement->names) {
        diagnostics::Checkpoint said(program_.diagnostics);
        Symbol symbol = bound_symbol(tree_, alias);
        if (tree_.names.text(alias.name) == "*") {
            Object module = import_module(tree_.names.text(statement->module), statement->level,
                                          statement->range);
            run_star(c, statement,
                     module.is_error() ? unknown_object(make_cause(statement, said)) : module);
            said.take_back();
            continue;
        }
        if (is_of_library_ && statement->level > 0) {
            pending_[symbol.index] = {statement, &alias};
            symbols_.emplace(tree_.names.text(symbol), symbol);
            continue;
        }
        bool is_pending = false;
        std::optional<Object> object = imported(statement, alias, is_pending);
        if (is_pending) {
            pending_[symbol.index] = {statement, &alias};
            globals_->set(symbol, Object::make(ObjectKind::kUnbound, Unbound{}));
            continue;
        }
        if (!object && !said.has_findings()) {
            Object module = import_module(tree_.names.text(statement->module), statement->level,
                                          statement->range);
            object = member(c, module, tree_.names.text(alias.name), alias.range, alias.range);
        }
        if (!object || object->is_error()) {
            ++program_.unknowns->failures;
            std::shared_ptr<UnknownCause> cause = make_cause(statement, said);
            if (surely_lacks(tree_.names.text(statement->module), tree_.names.text(alias.name))) {
                add_mistake(c, cause);
            }
            add_import_mistake(c, tree_.names.text(statement->module), cause);
            object = unknown_result(cause);
        }
        said.take_back();
        bind(symbol, std::move(*object));
    }
}

void FileModule::run_star(Context& c, const syntax::ImportFromStmt* statement,
                          const Object& module) {
    (void)c, (void)statement;
    if (is_unknown(module)) {
        ++program_.unknowns->failures;
        forget_all(module.get<Unbound>().cause);
        return;
    }
    const ModuleObject& opened = module.get<ModuleObject>();
    if (opened.environment == nullptr) {
        // Its names win over those that there are.
        std::vector<Symbol> all;
        for (const auto& [symbol, value] : globals_->values()) {
            if (symbol.index < tree_.names.size()) {
                all.push_back(symbol);
            }
        }
        for (Symbol name : all) {
            if (auto value = library_attribute(opened.name, tree_.names.text(name))) {
                globals_->set(name, std::move(*value));
            }
        }
        stars_.push_back({module});
        return;
    }
    auto* other = static_cast<FileModule*>(opened.environment);
    other->run();
    other->define_all();
    std::optional<Object> listed = other->value("__all__");
    std::vector<std::pair<std::string, Object>> names;
    for (const auto& [symbol, value] : other->globals_->values()) {
        if (symbol.index >= other->tree_.names.size() ||
            (value.is(ObjectKind::kUnbound) && !is_unknown(value))) {
            continue;
        }
        std::string name(other->tree_.names.text(symbol));
        bool is_given = name[0] != '_';
        if (listed && unknown_cause(program_, *listed) == nullptr && listed->is_sequence()) {
            is_given = std::any_of(listed->items().begin(), listed->items().end(),
                                   [&name](const Object& one) {
                                       return one.is(ObjectKind::kString) && one.text() == name;
                                   });
        }
        if (is_given) {
            names.emplace_back(std::move(name), value);
        }
    }
    for (auto& [name, value] : names) {
        bind(tree_.names.intern(name), std::move(value));
    }
    for (const Star& star : other->stars_) {
        stars_.push_back(star);
    }
}

}  // namespace sardonyx::elaborate
