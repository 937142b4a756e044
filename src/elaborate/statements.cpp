// Statements. Control flow on tensor values is in control_flow.cpp and loops.cpp.

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/arrays.h"
#include "elaborate/classes.h"
#include "elaborate/emit.h"
#include "elaborate/eval.h"
#include "elaborate/exceptions.h"
#include "elaborate/functions.h"
#include "elaborate/jumps.h"
#include "elaborate/library.h"
#include "elaborate/lists.h"
#include "elaborate/statics.h"
#include "elaborate/type_text.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

std::vector<Symbol> Scope::changed(size_t mark) const {
    std::vector<Symbol> names;
    SymbolSet seen;
    for (size_t i = mark; i < log_.size(); ++i) {
        if (seen.insert(log_[i].name)) {
            names.push_back(log_[i].name);
        }
    }
    return names;
}

void Scope::undo(size_t mark) {
    while (log_.size() > mark) {
        Change& change = log_.back();
        if (change.before) {
            values_[change.name] = std::move(*change.before);
        } else {
            values_.erase(change.name);
        }
        log_.pop_back();
    }
    --open_marks_;
}

namespace {

// The number of targets that a call on the right side is unpacked into.
size_t target_count(const Expr* target) {
    if (target->kind != ExprKind::kTuple && target->kind != ExprKind::kList) {
        return 0;
    }
    syntax::Exprs items = static_cast<const syntax::SequenceExpr*>(target)->items;
    for (const Expr* item : items) {
        if (item->kind == ExprKind::kStarred) {
            return 0;
        }
    }
    return items.size();
}

bool unpack(Context& c, syntax::Exprs targets, const Object& value, Range target_range,
            Range value_range) {
    std::optional<std::vector<Object>> items =
        value.is_tensor() ? tensor_rows(c, value, value_range) : static_items(c, value);
    if (!items) {
        c.report(kUnsupportedOperand, value_range, fmt::format("{} is unpacked", kind_name(value)))
            .with_help("unpack a call with several results, a tuple or a list");
        return false;
    }
    size_t star = targets.size();
    for (size_t i = 0; i < targets.size(); ++i) {
        star = targets[i]->kind == ExprKind::kStarred ? std::min(star, i) : star;
    }
    bool has_star = star < targets.size();
    size_t fixed = targets.size() - (has_star ? 1 : 0);
    if (has_star ? items->size() < fixed : items->size() != fixed) {
        diagnostics::Diagnostic& reported =
            c.report(kResultCount, target_range,
                     fmt::format("{} value{} unpacked into {}{} target{}", items->size(),
                                 items->size() == 1 ? " is" : "s are", has_star ? "at least " : "",
                                 fixed, fixed == 1 ? "" : "s"));
        reported.label(c.span(value_range), fmt::format("this gives {}", items->size()))
            .with_help(has_star ? "give at least as many values as there are plain targets"
                                : "write one target for each value");
        if (!value.is_tensor()) {
            raises(c, "ValueError");
        }
        return false;
    }
    bool ok = true;
    size_t starred = items->size() - fixed;
    for (size_t i = 0, next = 0; i < targets.size(); ++i) {
        if (i == star) {
            std::vector<Object> middle(
                items->begin() + static_cast<std::ptrdiff_t>(next),
                items->begin() + static_cast<std::ptrdiff_t>(next + starred));
            next += starred;
            ok = assign(c, static_cast<const syntax::PrefixExpr*>(targets[i])->operand,
                        Object::list(std::move(middle)), value_range) &&
                 ok;
        } else {
            ok = assign(c, targets[i], (*items)[next++], value_range) && ok;
        }
    }
    return ok;
}

}  // namespace

void bind_name(Context& c, Symbol name, Object value) {
    if (c.is_raising()) {
        return;
    }
    const std::vector<Symbol>& outer = c.at.outer_names;
    if (outer.empty() || std::find(outer.begin(), outer.end(), name) == outer.end()) {
        c.at.scope->set(name, std::move(value));
        return;
    }
    for (Scope* scope = c.at.scope->enclosing.get(); scope != nullptr;
         scope = scope->enclosing.get()) {
        if (scope->find(name) != nullptr) {
            scope->set(name, std::move(value));
            return;
        }
    }
    c.function().environment->bind(name, std::move(value));
}

void bind_error(Context& c, const Expr* target) {
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
        bind_name(c, name->name, Object::make(ObjectKind::kUnbound, Unbound{}));
    } else if (target->kind == ExprKind::kTuple || target->kind == ExprKind::kList) {
        for (const Expr* item : static_cast<const syntax::SequenceExpr*>(target)->items) {
            bind_error(c, item);
        }
    } else if (target->kind == ExprKind::kStarred) {
        bind_error(c, static_cast<const syntax::PrefixExpr*>(target)->operand);
    }
}

namespace {

// What is used up or follows its source in Python, where the evaluator has a list.
bool is_iterator(const syntax::Tree& tree, const Expr* value) {
    if (const auto* made = syntax::maybe_as<syntax::ComprehensionExpr>(value)) {
        return made->comprehension == syntax::ComprehensionKind::kGenerator;
    }
    const auto* call = syntax::maybe_as<syntax::CallExpr>(value);
    if (call == nullptr) {
        return false;
    }
    const auto* name = syntax::maybe_as<syntax::NameExpr>(call->callee);
    const auto* member = syntax::maybe_as<syntax::AttributeExpr>(call->callee);
    std::string_view text = name != nullptr     ? tree.names.text(name->name)
                            : member != nullptr ? tree.names.text(member->name)
                                                : std::string_view();
    return name != nullptr ? text == "zip" || text == "map" || text == "filter" ||
                                 text == "enumerate" || text == "reversed" || text == "iter"
                           : text == "items" || text == "keys" || text == "values";
}

void exec_assign(Context& c, const syntax::AssignStmt* statement) {
    if (c.runs_file && statement->targets[0]->kind == ExprKind::kName &&
        is_iterator(c.tree(), statement->value)) {
        c.report(kStaticRequired, statement->value->range,
                 "an iterator, which is used up or follows what it is made of")
            .with_help("make a list of it: `list(...)`");
        bind_error(c, statement->targets[0]);
        return;
    }
    c.at.own_call = statement->value;
    Object value = eval(c, statement->value, target_count(statement->targets[0]));
    if (c.runs_file && value.is(ObjectKind::kIterator) && !value.get<IteratorObject>().is_view) {
        value = refuse(c, statement->value->range,
                       "an iterator, which is used up or follows what it is made of",
                       "make a list of it: `list(...)`");
    }
    for (const Expr* target : statement->targets) {
        if (value.is_error()) {
            bind_error(c, target);
        } else {
            assign(c, target, value, statement->value->range);
        }
    }
}

// xs += [1] changes the list for everyone who holds it. In a branch or loop of the graph, where no
// list can change, the name gets a new one.
bool extends_in_place(Context& c, const syntax::AugAssignStmt* statement, const Object& list,
                      const Object& value) {
    const auto* name = syntax::as<syntax::NameExpr>(statement->target);
    return statement->op == syntax::BinaryOp::kAdd && list.is(ObjectKind::kList) &&
           c.graph == c.unit->graph && (c.runs_file || c.at.scope->find(name->name) != nullptr) &&
           static_items(c, value).has_value();
}

}  // namespace

bool changes_in_place(Context& c, const Object& before, const Object& after, Range range) {
    if (!c.runs_file || before.kind() != after.kind() || before.is_frozen()) {
        return false;
    }
    if (before.is(ObjectKind::kConstant)) {
        // A scalar of NumPy is bound again; an array of rank 0, which it may be, is changed.
        constexpr long kHolders = 2;  // the name and `before`
        bool is_scalar = before.get<Tensor>().rank() == 0;
        bool is_bound_again = is_scalar && before.pointer().use_count() <= kHolders;
        if (!is_bound_again && (is_scalar || !change_array(c, before, after))) {
            refuse(c, range, "an augmented assignment to this array", "make a new array");
        }
        return !is_bound_again;
    }
    if (before.is(ObjectKind::kList) || before.is(ObjectKind::kSet)) {
        before.items() = std::vector<Object>(after.items());
        return true;
    }
    if (before.is(ObjectKind::kDict)) {
        before.get<DictObject>() = DictObject(after.get<DictObject>());
        return true;
    }
    return false;
}

namespace {

// s |= t and the like change the set, for everyone who holds it.
void change_set(Context& c, const syntax::AugAssignStmt* statement, const Object& set,
                const Object& after) {
    const auto* name = syntax::as<syntax::NameExpr>(statement->target);
    if (c.graph != c.unit->graph || c.at.scope->find(name->name) == nullptr) {
        c.report(kUnsupportedStatement, statement->range,
                 "a set is changed inside a loop or branch that runs in the graph, or outside the "
                 "function that made it")
            .with_help("make another set: `s = s | t`");
        return;
    }
    c.undo.push_back(
        {set, [before = set.items()](const Object& object) { object.items() = before; }});
    set.items() = after.items();
}

// Whether NumPy does it in place, in the body of a script: to an array with axes.
bool changes_array(const Context& c, const Object& before) {
    bool is_array = (before.is(ObjectKind::kConstant) && before.get<Tensor>().rank() > 0) ||
                    (before.is_array_part() &&
                     !(before.value()->type.has_shape() && before.value()->type.shape().empty()));
    return !c.runs_file && is_array;
}

// cfg.n op= value; false: it is something else.
bool augment_member(Context& c, const syntax::AugAssignStmt* statement) {
    const auto* target = syntax::maybe_as<syntax::AttributeExpr>(statement->target);
    Object object = target != nullptr ? eval(c, target->value) : Object::error();
    Namespace* own = as_namespace(object);
    if (own == nullptr || !target->name.valid()) {
        return false;
    }
    std::string_view name = c.text(target->name);
    Object before = member(c, object, name, target->range, target->name_range);
    Object value = before.is_error() ? before : eval(c, statement->value);
    if (changes_array(c, before) && !value.is_error()) {
        refuse(c, statement->range,
               "an augmented assignment to an array, which changes it for all who have it");
        return true;
    }
    Object after = binary(c, statement->op, before, value, statement->range, target->range,
                          statement->value->range);
    if (!after.is_error() && !c.is_raising()) {
        bool is_changed = changes_in_place(c, before, after, statement->range);
        assign_to_member(c, *own, name, is_changed ? before : after, statement->range);
    }
    return true;
}

void exec_aug_assign(Context& c, const syntax::AugAssignStmt* statement) {
    const auto* name = syntax::maybe_as<syntax::NameExpr>(statement->target);
    if (statement->target->kind == ExprKind::kSubscript) {
        augment_item(c, statement);
        return;
    }
    if (augment_member(c, statement)) {
        return;
    }
    if (name == nullptr) {
        c.report(kUnsupportedStatement, statement->target->range,
                 "an augmented assignment to something other than a name or an item")
            .with_help("bind the value to a name");
        return;
    }
    Object before = lookup(c, name->name, name->range);
    Object value = eval(c, statement->value);
    if (changes_array(c, before) && !value.is_error()) {
        c.report(kUnsupportedStatement, statement->range,
                 "an augmented assignment to an array, which changes it for all who have it")
            .with_help(fmt::format("make a new one: `{0} = {0} ...`", c.text(name->name)));
        bind_error(c, name);
        return;
    }
    if (value.is(ObjectKind::kIterator) && before.is(ObjectKind::kList)) {
        value = Object::list(static_items(c, value).value_or(std::vector<Object>()));
    }
    if (statement->op == syntax::BinaryOp::kAdd &&
        exec_growth(c, name, before, value, statement->range)) {
        return;
    }
    if (extends_in_place(c, statement, before, value)) {
        Arguments more;
        more.positional = {value};
        more.ranges = {statement->value->range};
        more.range = more.callee_range = statement->range;
        call_method(c, MethodObject{before, "extend"}, more);
        return;
    }
    Object after = binary(c, statement->op, before, value, statement->range, name->range,
                          statement->value->range);
    if (changes_in_place(c, before, after, statement->range)) {
        return;
    }
    if (before.is(ObjectKind::kSet) && after.is(ObjectKind::kSet) && !before.is_frozen()) {
        change_set(c, statement, before, after);
        return;
    }
    if (after.is_error()) {
        bind_error(c, name);
    } else {
        assign(c, name, std::move(after), statement->range);
    }
}

void exec_annotated(Context& c, const syntax::AnnAssignStmt* statement) {
    if (statement->value == nullptr) {
        return;
    }
    Object value = eval(c, statement->value);
    if (value.is_error()) {
        bind_error(c, statement->target);
        return;
    }
    if (value.is_tensor()) {
        Annotation annotation = read_annotation(c, statement->annotation);
        if (!annotation.explicit_shape) {
            annotation.type.set_shape(std::nullopt);
        }
        check_annotated(c, kAnnotationMismatch, annotation, value.value(),
                        fmt::format("`{}` is", c.source(statement->target->range)),
                        statement->value->range, statement->annotation->range);
    }
    assign(c, statement->target, std::move(value), statement->value->range);
}

void exec_assert(Context& c, const syntax::AssertStmt* statement) {
    Object outcome = eval(c, statement->condition);
    std::optional<bool> holds = truth(outcome);
    if (outcome.is_error()) {
        return;
    }
    if (!holds) {
        c.report(kStaticRequired, statement->condition->range,
                 "an assertion about a tensor's elements")
            .with_help("assert static facts alone, such as `len(x.shape) == 2`");
    } else if (!*holds) {
        Object message =
            statement->message != nullptr ? eval(c, statement->message) : Object::none();
        c.report(kStaticError, statement->condition->range,
                 message.is(ObjectKind::kString)
                     ? fmt::format("the assertion does not hold: {}", message.text())
                     : std::string("the assertion does not hold"))
            .with_help("call the script with what it asserts, or change the assertion");
        raises(c, "AssertionError");
    }
}

void exec_function_def(Context& c, const syntax::FunctionDefStmt* statement) {
    std::vector<std::string> kinds;  // property and the like
    for (const Expr* decorator : statement->decorators) {
        Object object = eval(c, decorator);
        if (is_method_decorator(object)) {
            kinds.emplace_back(object.get<BuiltinObject>().name);
            continue;
        }
        bool is_graph =
            (object.is(ObjectKind::kDecorator) && object.get<DecoratorObject>().is_graph) ||
            is_builtin(object, "sardonyx.graph");
        if (!is_graph && !object.is_error()) {
            c.report(kUnsupportedDecorator, decorator->range,
                     "a decorator that is not `@graph()` on a nested function")
                .with_help("remove it, or define the script at the top of the file");
        }
    }
    if (statement->is_async) {
        c.report(kUnsupportedStatement, statement->name_range,
                 "`async def`: a script is computed in one go")
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
    for (; !kinds.empty(); kinds.pop_back()) {
        made = Object::make(ObjectKind::kMethod, MethodObject{made, kinds.back()});
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
                                  fmt::format("`{}` of a name that functions around bind",
                                              is_global ? "global" : "nonlocal"),
                                  "give it another name");
        }
        c.at.outer_names.push_back(name);
    }
}

// `global` and `nonlocal` say what reading a name means anyway; a script binds its own names only.
void exec_names(Context& c, const syntax::NamesStmt* statement) {
    if (c.runs_file) {
        declare_outer(c, statement);
        return;
    }
    std::vector<Symbol> assigned =
        c.at.body != nullptr ? assigned_names(*c.at.body) : std::vector<Symbol>{};
    for (Symbol name : statement->names) {
        if (statement->kind == StmtKind::kNonlocal) {
            lookup(c, name, statement->range);  // Python wants it to be there
        }
        if (std::find(assigned.begin(), assigned.end(), name) != assigned.end()) {
            unsupported_statement(
                c, statement->range,
                fmt::format("an assignment to `{}` of the code around", c.text(name)),
                "pass the value as a parameter and return the new one");
        }
    }
}

// Gives the names that a statement binds no value: what is wrong with it has been said.
void unbind_names(Context& c, const Stmt* statement) {
    for (Symbol name : assigned_names(Stmts(&statement, 1))) {
        c.at.scope->set(name, Object::make(ObjectKind::kUnbound, Unbound{}));
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
        case StmtKind::kImportFrom:
            unsupported_statement(c, statement->range, "an import",
                                  "import at the top of the file");
            return true;
        case StmtKind::kGlobal:
        case StmtKind::kNonlocal:
            exec_names(c, static_cast<const syntax::NamesStmt*>(statement));
            return true;
        case StmtKind::kTypeAlias:
            unsupported_statement(c, statement->range, "a type alias",
                                  "define it at the top of the file");
            return true;
        case StmtKind::kRaise:
            exec_raise(c, syntax::as<syntax::RaiseStmt>(statement));
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

// `y.dtype = FLOAT.dtype`: a hint, which must be true.
bool assign_dtype(Context& c, const syntax::AttributeExpr* target, const Object& object,
                  const Object& value, Range value_range) {
    Type& type = object.value()->type;
    if (type.element_type() == ElementType::kUndefined) {
        Type hint = Type::tensor(value.as_element_type());
        type = merge(type, hint).value_or(type);
    }
    if (type.element_type() != value.as_element_type()) {
        c.report(kAnnotationMismatch, value_range,
                 fmt::format("`{}` is {}, and the hint says {}", c.source(target->value->range),
                             name(type.element_type()), name(value.as_element_type())))
            .with_help(fmt::format("cast it with `op.Cast(..., to={}.dtype)`",
                                   name(value.as_element_type())));
        return false;
    }
    return true;
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

namespace {

// cfg.n = value of a class of the file or its instance; `y.dtype = ...` is a hint.
bool assign_member(Context& c, const syntax::AttributeExpr* target, const Object& value,
                   Range value_range) {
    Object object = eval(c, target->value);
    if (object.is_error() || !target->name.valid()) {
        return false;
    }
    if (Namespace* own = as_namespace(object)) {
        return assign_to_member(c, *own, c.text(target->name), value, target->range);
    }
    if (c.text(target->name) == "dtype" && object.is_tensor() &&
        value.is(ObjectKind::kElementType)) {
        return assign_dtype(c, target, object, value, value_range);
    }
    c.report(kUnsupportedStatement, target->range, "an assignment to something other than a name")
        .with_help("bind the value to a name");
    return false;
}

}  // namespace

bool assign(Context& c, const Expr* target, Object value, Range value_range) {
    if (c.is_raising()) {
        return false;
    }
    switch (target->kind) {
        case ExprKind::kName: {
            Symbol name = syntax::as<syntax::NameExpr>(target)->name;
            if (value.is_tensor() && value.value()->name.empty()) {
                value.value()->name = c.model.intern(c.text(name));
            }
            note_type(c, target->range, value);
            bind_name(c, name, std::move(value));
            return true;
        }
        case ExprKind::kTuple:
        case ExprKind::kList:
            if (unpack(c, static_cast<const syntax::SequenceExpr*>(target)->items, value,
                       target->range, value_range)) {
                return true;
            }
            bind_error(c, target);
            return false;
        case ExprKind::kError:
            return false;
        case ExprKind::kSubscript:
            return assign_item(c, syntax::as<syntax::SubscriptExpr>(target), value, value_range);
        case ExprKind::kAttribute:
            return assign_member(c, syntax::as<syntax::AttributeExpr>(target), value, value_range);
        default:
            c.report(kUnsupportedStatement, target->range,
                     "an assignment to something other than a name")
                .with_help("bind the value to a name");
            return false;
    }
}

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
                    exec(c, branch->body);  // for the findings in it; its names stay bound
                    exec(c, branch->orelse);
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
                         "nothing after this is ever reached")
                    .label(c.span(statement->range), "the block is left here")
                    .with_help("remove what follows");
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
