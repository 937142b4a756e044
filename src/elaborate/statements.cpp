// Statements by their kind; assignments, loops and branches are in the files that are named for
// them.
#include "elaborate/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/assignments.h"
#include "elaborate/bool_operators.h"
#include "elaborate/control_flow.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/exceptions.h"
#include "elaborate/expressions.h"
#include "elaborate/flow/bindings.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/item_assignment.h"
#include "elaborate/library/call_caches.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/library.h"
#include "elaborate/library/members.h"
#include "elaborate/lists.h"
#include "elaborate/loops.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/patterns.h"
#include "elaborate/scopes/cells.h"
#include "elaborate/scopes/doubt.h"
#include "elaborate/scopes/flags.h"
#include "elaborate/scopes/lookup.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

namespace {

void exec_assert(Context& c, const syntax::AssertStmt* statement) {
    Object outcome = eval(c, statement->condition);
    std::optional<bool> holds = truth(outcome);
    if (outcome.is_error()) {
        return;
    }
    if (!holds) {
        c.report(kStaticRequired, statement->condition->range,
                 "an assertion about a tensor's elements")
            .with_help("assert only static facts, such as `len(x.shape) == 2`");
    } else if (!*holds) {
        Object message =
            statement->message != nullptr ? eval(c, statement->message) : Object::none();
        c.report(kStaticError, statement->condition->range,
                 message.is(ObjectKind::kString)
                     ? fmt::format("the assertion does not hold: {}", message.text())
                     : std::string("the assertion does not hold"))
            .with_help("call the script with what it asserts, or change the assertion")
            .is_for_callers = true;
        raises(c, "AssertionError");
    }
}

void exec_function_def(Context& c, const syntax::FunctionDefStmt* statement) {
    std::vector<Object> applied;  // property and the like, and what names it or keeps results
    for (const Expr* decorator : statement->decorators) {
        Object object = eval(c, decorator);
        bool is_wraps = object.is(ObjectKind::kPartial) &&
                        is_builtin(object.get<PartialObject>().function, "functools.wraps.of");
        if (is_method_decorator(object) || is_cache_decorator(object) || is_wraps) {
            applied.push_back(std::move(object));
            continue;
        }
        bool is_graph =
            (object.is(ObjectKind::kDecorator) && object.get<DecoratorObject>().is_graph) ||
            is_builtin(object, "sardonyx.graph");
        bool is_abstract = is_builtin(object, "abc.abstractmethod");
        if (!is_graph && !is_abstract && !object.is_error()) {
            c.report(kUnsupportedDecorator, decorator->range,
                     "a decorator that is not `@graph()` on a nested function")
                .with_help("remove it, or define the script at the top of the file");
        }
    }
    if (statement->is_async) {
        c.report(kUnsupportedStatement, statement->name_range, "`async def`: a script cannot pause")
            .with_help("write `def`");
    }
    close_over(c.program, closing_scope(c));
    Closure closure{statement, nullptr, closing_scope(c), {}};
    for (const syntax::Parameter& parameter : statement->parameters->items) {
        closure.defaults.push_back(parameter.default_value != nullptr
                                       ? eval(c, parameter.default_value)
                                       : Object::error());
    }
    Object made = Object::make(ObjectKind::kClosure, std::move(closure));
    for (; !applied.empty(); applied.pop_back()) {
        Arguments function;
        function.positional = {made};
        function.range = function.callee_range = statement->name_range;
        function.ranges = {statement->name_range};
        made = call(c, applied.back(), function);
    }
    bind_name(c, statement->name, std::move(made));
}

void exec_delete(Context& c, const syntax::DeleteStmt* statement) {
    for (const Expr* target : statement->targets) {
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
            lookup(c, name->name, name->range);
            bind_name(c, name->name,
                      Object::make(ObjectKind::kUnbound,
                                   Unbound{"has been deleted", c.span(statement->range)}));
        } else if (target->kind == ExprKind::kSubscript) {
            delete_item(c, syntax::as<syntax::SubscriptExpr>(target));
        } else {
            bool is_legal = target->kind == ExprKind::kAttribute ||
                            target->kind == ExprKind::kTuple || target->kind == ExprKind::kList;
            if (is_legal) {  // the parser refuses the rest
                c.report(kUnsupportedStatement, target->range,
                         "`del` of something other than a name or an item")
                    .with_help("delete names one by one");
            }
        }
    }
}

void unsupported_statement(Context& c, Range range, std::string_view what, std::string help) {
    c.report(kUnsupportedStatement, range, fmt::format("{} in a script", what))
        .with_help(std::move(help));
}

// While a file runs, its functions may bind names of the code around.
void declare_outer(Context& c, const syntax::NamesStmt* statement) {
    bool is_global = statement->kind == StmtKind::kGlobal;
    for (Symbol name : statement->names) {
        bool is_found = false;
        for (const Scope* scope = c.at.scope->enclosing.get(); scope != nullptr;
             scope = scope->enclosing.get()) {
            is_found = is_found || scope->find(name) != nullptr;
        }
        if (is_found == is_global) {
            unsupported_statement(c, statement->range,
                                  fmt::format("`{}` of a name that an enclosing function binds",
                                              is_global ? "global" : "nonlocal"),
                                  "give it another name");
        }
        c.at.outer_names.push_back(name);
    }
}

// Whether a name of the functions around can be bound from here: what is around is of this script,
// and its branches and loops join the name.
bool may_bind_outer(const Context& c, Symbol name) {
    const Scope* scope = c.at.scope->enclosing.get();
    while (scope != nullptr && scope->find(name) == nullptr) {
        scope = scope->enclosing.get();
    }
    return scope != nullptr && is_joined(c, scope->home);
}

// `global` and `nonlocal` say what reading a name means anyway; a script binds its own names, and
// those of its functions around.
void exec_names(Context& c, const syntax::NamesStmt* statement) {
    // A function that a script calls with what is known is no part of the file's run: what it binds
    // there would be another value with each compilation.
    bool is_of_script = c.graph->name == kPythonGraph && statement->kind == StmtKind::kGlobal;
    if (c.runs_file && !is_of_script) {
        declare_outer(c, statement);
        return;
    }
    std::vector<Symbol> assigned =
        c.at.body != nullptr ? assigned_names(*c.at.body) : std::vector<Symbol>{};
    for (Symbol name : statement->names) {
        if (statement->kind == StmtKind::kNonlocal) {
            lookup(c, name, statement->range);  // Python wants it to be there
        }
        if (std::find(assigned.begin(), assigned.end(), name) == assigned.end()) {
            continue;
        }
        if (statement->kind == StmtKind::kNonlocal && may_bind_outer(c, name)) {
            c.at.outer_names.push_back(name);
        } else {
            unsupported_statement(
                c, statement->range,
                fmt::format("an assignment to `{}` of the enclosing code", c.text(name)),
                "pass the value as a parameter and return the new one");
        }
    }
}

// Gives the names that a statement binds no value: what is wrong with it has been said.
void unbind_names(Context& c, const Stmt* statement) {
    auto see = [&c](const Bound& one) {
        c.at.scope->set(one.name, Object::make(ObjectKind::kUnbound, Unbound{}));
    };
    constexpr unsigned kAll =
        binds::kTarget | binds::kItem | binds::kHead | binds::kNamed | binds::kDefinition;
    each_binding<kAll>(nullptr, Stmts(&statement, 1), see);
}

// One finding for the statement, and none for what its names are used for.
void refuse_import(Context& c, Range range, std::span<const syntax::Alias> names) {
    unsupported_statement(c, range, "an import of a module that the compiler does not implement",
                          "import it at the top of the file");
    for (const syntax::Alias& alias : names) {
        if (Symbol name = imported_name(c.tree().names, alias); name.valid()) {
            c.at.scope->set(name, Object::make(ObjectKind::kUnbound, Unbound{}));
        }
    }
}

// Modules that the compiler implements are there without being run: `import math`.
void exec_import(Context& c, const syntax::ImportStmt* statement) {
    for (const syntax::Alias& alias : statement->names) {
        std::string_view dotted = c.text(alias.name);
        // `import a.b` binds a, `import a.b as c` binds a.b.
        size_t end = alias.as_name.valid() ? dotted.size() : dotted.find('.');
        std::string_view bound = dotted.substr(0, end);
        if (!is_library_module(dotted) || !is_library_module(bound)) {
            refuse_import(c, statement->range, statement->names);
            return;
        }
        c.at.scope->set(
            imported_name(c.tree().names, alias),
            Object::make(ObjectKind::kModule, ModuleObject{std::string(bound), nullptr}));
    }
}

void exec_import_from(Context& c, const syntax::ImportFromStmt* statement) {
    std::string_view module =
        statement->module.valid() && statement->level == 0 ? c.text(statement->module) : "";
    if (!is_library_module(module) || c.text(statement->names[0].name) == "*") {
        refuse_import(c, statement->range, statement->names);
        return;
    }
    Object opened = Object::make(ObjectKind::kModule, ModuleObject{std::string(module), nullptr});
    for (const syntax::Alias& alias : statement->names) {
        c.at.scope->set(imported_name(c.tree().names, alias),
                        member(c, opened, c.text(alias.name), alias.range, alias.range));
    }
}

// Statements without control flow; false for those that have it.
bool exec_simple(Context& c, const Stmt* statement) {
    switch (statement->kind) {
        case StmtKind::kError:
        case StmtKind::kPass:
            return true;
        case StmtKind::kExpr: {
            const Expr* value = syntax::as<syntax::ExprStmt>(statement)->value;
            // A docstring, or text in place of a comment.
            if (value->kind != ExprKind::kString && value->kind != ExprKind::kEllipsis &&
                !exec_growth(c, value)) {
                c.at.own_call = value;
                eval(c, value);
            }
            return true;
        }
        case StmtKind::kAssign:
            exec_assign(c, syntax::as<syntax::AssignStmt>(statement));
            return true;
        case StmtKind::kAugAssign:
            exec_aug_assign(c, syntax::as<syntax::AugAssignStmt>(statement));
            return true;
        case StmtKind::kAnnAssign:
            exec_annotated(c, syntax::as<syntax::AnnAssignStmt>(statement));
            return true;
        case StmtKind::kAssert:
            exec_assert(c, syntax::as<syntax::AssertStmt>(statement));
            return true;
        case StmtKind::kDelete:
            exec_delete(c, syntax::as<syntax::DeleteStmt>(statement));
            return true;
        case StmtKind::kFunctionDef:
            exec_function_def(c, syntax::as<syntax::FunctionDefStmt>(statement));
            return true;
        case StmtKind::kImport:
            exec_import(c, syntax::as<syntax::ImportStmt>(statement));
            return true;
        case StmtKind::kImportFrom:
            exec_import_from(c, syntax::as<syntax::ImportFromStmt>(statement));
            return true;
        case StmtKind::kGlobal:
        case StmtKind::kNonlocal:
            exec_names(c, static_cast<const syntax::NamesStmt*>(statement));
            return true;
        case StmtKind::kTypeAlias:
            unsupported_statement(c, statement->range, "a type alias",
                                  "define it at the top of the file");
            return true;
        case StmtKind::kOpaque: {
            const auto* opaque = syntax::as<syntax::OpaqueStmt>(statement);
            if (opaque->subject != nullptr || !opaque->clauses.empty() || !opaque->items.empty()) {
                return false;
            }
            unsupported_statement(c, opaque->keyword_range, fmt::format("`{}`", opaque->keyword),
                                  "a script holds assignments, `if`, loops and `return`");
            unbind_names(c, statement);
            return true;
        }
        default:
            return false;
    }
}

Jump exec_return(Context& c, const syntax::ReturnStmt* statement) {
    if (c.at.yields != nullptr && statement->value != nullptr) {
        unsupported_statement(c, statement->range, "a generator that returns a value",
                              "give it with `yield`, or leave it out");
    }
    c.at.own_call = statement->value;
    c.at.result = statement->value != nullptr ? eval(c, statement->value) : Object::none();
    c.at.result_range = statement->value != nullptr ? statement->value->range : statement->range;
    constexpr uint32_t kWord = 6;  // the place of the type: `return`
    note_type(c, {statement->range.begin, statement->range.begin + kWord}, c.at.result);
    return Jump::kReturn;
}

// break or continue: in a static loop it happens now; in a tensor loop it sets the flag.
Jump exec_jump(Context& c, const Stmt* statement) {
    bool is_break = statement->kind == StmtKind::kBreak;
    if (c.at.loops == 0) {
        unsupported_statement(c, statement->range,
                              is_break ? "`break` outside a loop" : "`continue` outside a loop",
                              "remove it");
        return Jump::kNone;
    }
    c.at.scope->set(is_break ? broke_flag(c) : continued_flag(c), Object::boolean(true));
    return is_break ? Jump::kBreak : Jump::kContinue;
}

// A suite that is chosen now. One that may return on a tensor's value needs to know what comes
// after, and runs it.
Jump exec_chosen(Context& c, Stmts chosen, const Rest* after, bool& consumed) {
    consumed = may_return(chosen) && !always_jumps(chosen);
    return exec(c, chosen, consumed ? after : nullptr);
}

Jump exec_match(Context& c, const syntax::OpaqueStmt* statement, const Rest* after,
                bool& consumed) {
    std::optional<const syntax::Clause*> chosen = chosen_case(c, statement);
    if (!chosen && !c.runs_file) {
        unbind_names(c, statement);
    }
    return chosen && *chosen != nullptr ? exec_chosen(c, (*chosen)->body, after, consumed)
                                        : Jump::kNone;
}

Jump exec_suites(Context& c, const syntax::OpaqueStmt* statement, const Rest* after,
                 bool& consumed) {
    if (statement->subject != nullptr) {
        return exec_match(c, statement, after, consumed);
    }
    RunSuite run = [&c](Stmts suite) { return exec(c, suite); };
    return statement->items.empty() ? exec_try(c, statement, run) : exec_with(c, statement, run);
}

bool is_plain_jump(const Stmt* statement) {
    return statement->kind == StmtKind::kReturn || statement->kind == StmtKind::kBreak ||
           statement->kind == StmtKind::kContinue;
}

}  // namespace

Jump exec(Context& c, Stmts statements, const Rest* rest) {
    if (statements.empty()) {
        return rest != nullptr ? exec(c, rest->statements, rest->next) : Jump::kNone;
    }
    DepthGuard guard(c, statements[0]->range);
    if (!guard) {
        return Jump::kNone;
    }
    for (size_t i = 0; i < statements.size() && !c.gave_up && !c.is_raising(); ++i) {
        const Stmt* statement = statements[i];
        if (exec_simple(c, statement)) {
            continue;
        }
        Rest after{statements.subspan(i + 1), rest};
        Jump jump = Jump::kNone;
        bool consumed = false;
        switch (statement->kind) {
            case StmtKind::kReturn:
                jump = exec_return(c, syntax::as<syntax::ReturnStmt>(statement));
                break;
            case StmtKind::kRaise:
                jump = exec_raise(c, syntax::as<syntax::RaiseStmt>(statement));
                break;
            case StmtKind::kBreak:
            case StmtKind::kContinue:
                jump = exec_jump(c, statement);
                break;
            case StmtKind::kFor:
                jump = exec_for(c, syntax::as<syntax::ForStmt>(statement));
                break;
            case StmtKind::kWhile:
                jump = exec_while(c, syntax::as<syntax::WhileStmt>(statement));
                break;
            case StmtKind::kIf: {
                const auto* branch = syntax::as<syntax::IfStmt>(statement);
                Object test = test_value(c, branch->condition);
                if (std::optional<bool> holds = truth(test)) {
                    jump = exec_chosen(c, *holds ? branch->body : branch->orelse, &after, consumed);
                } else if (!test.is_error()) {
                    jump = exec_if(c, test.value(), branch, &after, consumed);
                } else if (!c.runs_file) {
                    ++c.doubtful;
                    exec(c, branch->body);  // for the findings in it; its names stay bound
                    exec(c, branch->orelse);
                    --c.doubtful;
                    doubt(c, branch->body);
                    doubt(c, branch->orelse);
                }
                break;
            }
            case StmtKind::kOpaque:
                jump = exec_suites(c, syntax::as<syntax::OpaqueStmt>(statement), &after, consumed);
                break;
            default:
                break;
        }
        if (consumed || jump != Jump::kNone) {
            if (is_plain_jump(statement) && i + 1 < statements.size()) {
                c.report(kUnreachableStatement, statements[i + 1]->range,
                         "nothing after this is executed")
                    .label(c.span(statement->range), "the block is left here")
                    .with_help("remove the statements after it");
            }
            return jump;
        }
        if (ir::Value* skip = dynamic_jump(c, statement->range)) {
            return exec_guarded(c, skip, statement->range, &after);
        }
    }
    return rest != nullptr ? exec(c, rest->statements, rest->next) : Jump::kNone;
}

}  // namespace sardonyx::elaborate
