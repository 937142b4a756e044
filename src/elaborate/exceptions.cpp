#include "elaborate/exceptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/assignments.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/trial.h"
#include "elaborate/expressions.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/shown.h"
#include "elaborate/scopes/flags.h"

namespace sardonyx::elaborate {

using syntax::Clause;
using syntax::Expr;

namespace {

// What running a suite has come to.
struct Outcome {
    Jump jump = Jump::kNone;
    bool has_raised = false;
    ExceptionType type;                             // of has_raised
    std::vector<diagnostics::Diagnostic> findings;  // of has_raised, taken back
};

// Runs what a `try` or `with` guards.
Outcome run_guarded(Context& c, const std::function<Jump()>& body) {
    diagnostics::Diagnostics& said = c.program.diagnostics;
    diagnostics::Checkpoint before(said);
    Context::Raising outer = c.raising;
    c.raising = {said.error_count(), c.graph, {}, outer.handled};
    Outcome outcome;
    outcome.jump = body();
    outcome.has_raised = c.is_raising();
    outcome.type = c.raising.type;
    c.raising = outer;
    if (outcome.has_raised) {
        outcome.findings = before.findings();
        before.take_back();
    }
    return outcome;
}

// Goes on with what has been raised, for whoever is around.
void raise_again(Context& c, const Outcome& outcome) {
    size_t errors = c.program.diagnostics.error_count();
    for (const diagnostics::Diagnostic& finding : outcome.findings) {
        c.program.diagnostics.add(finding);
    }
    if (c.raising.errors == errors && c.raising.graph == c.graph) {
        c.raising.type = outcome.type;
    }
}

// The class that an object names, also where Python holds it. Empty: it is none.
ExceptionType exception_named(Context& c, const Object& object) {
    Environment* environment = c.function().environment;
    if (!object.is(ObjectKind::kOpaque) || environment == nullptr) {
        return exception_type(object);
    }
    std::optional<Object> own = environment->own_class(object);
    return own ? exception_type(*own) : ExceptionType();
}

// Whether the clause, or `suppress`, names a class that catches the type; nothing after a
// diagnostic.
std::optional<bool> catches(Context& c, const Object& object, const ExceptionType& type,
                            syntax::Range range) {
    if (object.is_error()) {
        return std::nullopt;
    }
    std::vector<Object> classes{object};
    if (object.is(ObjectKind::kTuple)) {
        classes = std::vector<Object>(object.items());
    }
    for (const Object& one : classes) {
        ExceptionType base = exception_named(c, one);
        if (base.builtin.empty()) {
            c.report(kUnsupportedStatement, range,
                     "an exception whose class is neither built into Python nor one of the program")
                .with_help("catch a class that is built into Python");
            return std::nullopt;
        }
        if (is_subclass(type, base)) {
            return true;
        }
    }
    return false;
}

// What the names of a statement are worth after a mistake that nobody catches.
void unbind_all(Context& c, const syntax::OpaqueStmt* statement) {
    if (c.runs_file) {
        return;
    }
    const syntax::Stmt* one = statement;
    for (Symbol name : assigned_names(syntax::Stmts(&one, 1))) {
        c.at.scope->set(name, Object::make(ObjectKind::kUnbound, Unbound{}));
    }
}

// The same where no `try` around may catch it: what was bound before the mistake stays there.
void unbind_if_uncaught(Context& c, const syntax::OpaqueStmt* statement) {
    if (c.raising.errors == SIZE_MAX) {
        unbind_all(c, statement);
    }
}

enum class Catches : uint8_t { kSomething, kNothing };

// Only what a run decides could fail there: nobody knows here whether it does.
bool is_decided_here(Context& c, const syntax::OpaqueStmt* statement, const ir::Node* last,
                     Catches what) {
    bool is_open = c.graph->last_node() != last &&
                   (what == Catches::kSomething || flag_value(c, kReturnedFlag).is_tensor());
    if (is_open) {
        c.report(kUnsupportedStatement, statement->keyword_range,
                 fmt::format("a tensor is computed in `{}`, and what fails when a graph runs "
                             "cannot be caught there",
                             statement->keyword))
            .with_help("compute tensors outside of it");
    }
    return !is_open;
}

Jump run_handler(Context& c, const Clause& clause, const Outcome& outcome, const RunSuite& run) {
    ExceptionType outer = c.raising.handled;
    c.raising.handled = outcome.type;
    if (clause.name.valid()) {
        Unbound unknown{
            "is an exception that Python itself raises: what it holds is not known here",
            c.span(clause.range)};
        unknown.help = "write the text of your own in its place";
        bind_name(c, clause.name,
                  outcome.type.instance.is_error()
                      ? Object::make(ObjectKind::kUnbound, std::move(unknown))
                      : outcome.type.instance);
    }
    Jump jump = run(clause.body);
    c.raising.handled = outer;
    if (clause.name.valid() && !c.is_raising()) {
        bind_name(c, clause.name,
                  Object::make(ObjectKind::kUnbound, Unbound{"is deleted at the end of its handler",
                                                             c.span(clause.range)}));
    }
    return jump;
}

// The first handler of the type; null: there is none. Nothing after a diagnostic.
std::optional<const Clause*> find_handler(Context& c, const syntax::OpaqueStmt* statement,
                                          const ExceptionType& type) {
    for (const Clause& clause : statement->clauses) {
        if (clause.keyword != "except") {
            continue;
        }
        if (clause.is_group) {
            c.report(kUnsupportedStatement, clause.range, "`except*`").with_help("write `except`");
            return std::nullopt;
        }
        std::optional<bool> fits = clause.test == nullptr
                                       ? std::optional(true)
                                       : catches(c, eval(c, clause.test), type, clause.test->range);
        if (!fits || *fits) {
            return fits ? std::optional(&clause) : std::nullopt;
        }
    }
    return nullptr;
}

const Clause* find_clause(const syntax::OpaqueStmt* statement, std::string_view keyword) {
    for (const Clause& clause : statement->clauses) {
        if (clause.keyword == keyword) {
            return &clause;
        }
    }
    return nullptr;
}

// The body, its handlers and `else`.
Jump exec_handled(Context& c, const syntax::OpaqueStmt* statement, const RunSuite& run) {
    const ir::Node* last = c.graph->last_node();
    Outcome outcome = run_guarded(c, [&] { return run(statement->clauses[0].body); });
    bool has_handlers = find_clause(statement, "except") != nullptr;
    if (outcome.has_raised && (outcome.type.builtin.empty() || c.graph->last_node() != last)) {
        outcome.type = {};  // nobody knows it
        raise_again(c, outcome);
        unbind_all(c, statement);
        return Jump::kNone;
    }
    Catches what = has_handlers ? Catches::kSomething : Catches::kNothing;
    if (!is_decided_here(c, statement, last, what)) {
        unbind_all(c, statement);
        return Jump::kNone;
    }
    if (!outcome.has_raised) {
        const Clause* otherwise = find_clause(statement, "else");
        return outcome.jump == Jump::kNone && otherwise != nullptr ? run(otherwise->body)
                                                                   : outcome.jump;
    }
    std::optional<const Clause*> handler = find_handler(c, statement, outcome.type);
    if (!handler || *handler == nullptr) {
        if (handler) {
            raise_again(c, outcome);
            unbind_if_uncaught(c, statement);
        }
        return Jump::kNone;
    }
    return run_handler(c, **handler, outcome, run);
}

Jump exec_items(Context& c, const syntax::OpaqueStmt* statement, size_t i, const RunSuite& run) {
    if (i == statement->items.size()) {
        return run(statement->body);
    }
    const syntax::WithItem& item = statement->items[i];
    const auto* call = syntax::maybe_as<syntax::CallExpr>(item.context);
    Trial trial(c);
    Object callee = call != nullptr ? eval(c, call->callee) : Object::none();
    trial.take_back();  // what it is instead of these two is of no interest
    bool is_null = is_builtin(callee, "contextlib.nullcontext");
    bool is_known = is_null || is_builtin(callee, "contextlib.suppress");
    bool is_plain = is_known && call->keywords.empty() && (!is_null || call->args.size() <= 1) &&
                    std::none_of(call->args.begin(), call->args.end(), [](const Expr* one) {
                        return one->kind == syntax::ExprKind::kStarred;
                    });
    if (!is_plain) {
        c.report(kUnsupportedStatement, statement->keyword_range,
                 "`with` of something other than `contextlib.nullcontext` and "
                 "`contextlib.suppress`")
            .label(c.span(item.context->range), "this is not known")
            .with_help(
                "remove it if it does nothing to tensors, or write what it does around the block");
        unbind_all(c, statement);
        return Jump::kNone;
    }
    std::vector<Object> values;
    for (const Expr* argument : call->args) {
        values.push_back(eval(c, argument));
        if (values.back().is_error()) {
            return Jump::kNone;
        }
    }
    if (item.target != nullptr) {
        assign(c, item.target, is_null && !values.empty() ? values[0] : Object::none(),
               item.context->range);
    }
    if (is_null) {
        return exec_items(c, statement, i + 1, run);
    }
    const ir::Node* last = c.graph->last_node();
    Outcome outcome = run_guarded(c, [&] { return exec_items(c, statement, i + 1, run); });
    if (!outcome.has_raised) {
        return is_decided_here(c, statement, last, Catches::kSomething) ? outcome.jump
                                                                        : Jump::kNone;
    }
    bool is_known_type = !outcome.type.builtin.empty() && c.graph->last_node() == last;
    std::optional<bool> caught =
        is_known_type ? catches(c, Object::tuple(values), outcome.type, item.context->range)
                      : std::optional(false);
    if (caught && !*caught) {
        outcome.type = is_known_type ? outcome.type : ExceptionType();
        raise_again(c, outcome);
        unbind_all(c, statement);
    }
    return Jump::kNone;
}

}  // namespace

Jump exec_try(Context& c, const syntax::OpaqueStmt* statement, const RunSuite& run) {
    const Clause* finally = find_clause(statement, "finally");
    if (finally == nullptr) {
        return exec_handled(c, statement, run);
    }
    Outcome outcome = run_guarded(c, [&] { return exec_handled(c, statement, run); });
    Object result = c.at.result;
    syntax::Range result_range = c.at.result_range;
    Jump last = run(finally->body);
    if (last != Jump::kNone) {
        return last;  // what has been raised is forgotten
    }
    c.at.result = std::move(result);
    c.at.result_range = result_range;
    if (outcome.has_raised) {
        raise_again(c, outcome);
        unbind_if_uncaught(c, statement);
    }
    return outcome.jump;
}

Jump exec_with(Context& c, const syntax::OpaqueStmt* statement, const RunSuite& run) {
    return exec_items(c, statement, 0, run);
}

namespace {

// What `raise` names.
struct Raised {
    ExceptionType type;
    std::string words;  // `ValueError: the text`
};

// The exception that an object of Python is: its class, as far as that is known.
ExceptionType exception_outside(Context& c, const Object& object) {
    Environment* environment = c.function().environment;
    std::optional<Object> type = object.is(ObjectKind::kOpaque) && environment != nullptr
                                     ? environment->attribute(object, "__class__").value
                                     : std::nullopt;
    ExceptionType found = type ? exception_named(c, *type) : ExceptionType();
    found.instance = found.builtin.empty() ? Object::error() : object;
    return found;
}

// Its text, where that says more than its class: it is one text, or the class makes one.
std::string text_said(Context& c, const ExceptionType& type) {
    Namespace* own = as_namespace(type.instance);
    if (own == nullptr) {
        return {};
    }
    const std::vector<Object>& args = own->find_own(kArgs)->items();
    bool is_text = args.size() == 1 && args[0].is(ObjectKind::kString);
    bool is_made =
        special_method(type.instance, "__init__") || special_method(type.instance, "__str__");
    std::string reason;
    return is_text || is_made
               ? shown(c, type.instance, Show::kStr, reason, {}).value_or(std::string())
               : std::string();
}

Raised raised_by(Context& c, const syntax::RaiseStmt* statement) {
    if (statement->exception == nullptr) {
        const ExceptionType& again = c.raising.handled;
        return {again, again.own != nullptr ? again.own->name : std::string(again.builtin)};
    }
    const auto* call = syntax::maybe_as<syntax::CallExpr>(statement->exception);
    Object object = eval(c, statement->exception);
    ExceptionType named = call == nullptr ? exception_named(c, object) : ExceptionType();
    if (!named.builtin.empty()) {  // a class, of which Python makes an instance
        Arguments nothing;
        nothing.range = nothing.callee_range = statement->exception->range;
        object = elaborate::call(c, object, nothing);
    }
    Raised raised{exception_of(object), {}};
    if (raised.type.builtin.empty()) {
        raised.type = exception_outside(c, object);
    }
    const Expr* callee = call != nullptr ? call->callee : statement->exception;
    bool is_call = call != nullptr || !named.builtin.empty();
    raised.words = is_call || raised.type.builtin.empty() ? std::string(c.source(callee->range))
                   : raised.type.own != nullptr           ? raised.type.own->name
                                                          : std::string(raised.type.builtin);
    if (std::string text = text_said(c, raised.type); !text.empty()) {
        raised.words += ": " + text;
    }
    return raised;
}

// Whether no tensor decides that the statement runs, but for those that decide about the call.
bool is_certain(const Context& c) {
    return c.at.caller == nullptr || c.at.caller->calls_in == c.graph;
}

}  // namespace

Jump exec_raise(Context& c, const syntax::RaiseStmt* statement) {
    if (c.doubtful > 0) {
        return Jump::kNone;
    }
    bool is_guarded = c.raising.errors != SIZE_MAX;
    diagnostics::Checkpoint before(c.program.diagnostics);
    Raised raised = raised_by(c, statement);
    if (c.is_raising()) {
        return Jump::kNone;
    }
    if (!is_guarded) {
        before.take_back();  // it says less than the exception itself
    }
    bool ends_here = is_certain(c);
    if (!ends_here) {
        c.report(kUnsupportedStatement, statement->range, "`raise` where a tensor decides")
            .with_help("a graph cannot raise: use `assert` or `raise` under static conditions");
    } else {
        c.report(kStaticError, statement->range,
                 raised.words.empty() ? "an exception is raised"
                                      : fmt::format("an exception is raised: {}", raised.words))
            .with_help("what leads here is known at compile time: change it, or the arguments")
            .is_for_callers = true;
    }
    if (!raised.type.builtin.empty() && is_guarded) {
        raises(c, raised.type);
    }
    if (!ends_here || is_guarded || c.runs_file) {
        return Jump::kNone;
    }
    c.at.result = Object::error();
    c.at.result_range = statement->range;
    return Jump::kReturn;
}

}  // namespace sardonyx::elaborate
