// Assignments: what a target binds, and what `op=` changes in place.
#include "elaborate/assignments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/annotations.h"
#include "elaborate/expressions.h"
#include "elaborate/item_assignment.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/members.h"
#include "elaborate/library/methods.h"
#include "elaborate/lists.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/operators/arithmetic.h"
#include "elaborate/operators/special_methods.h"
#include "elaborate/scopes/cells.h"
#include "elaborate/scopes/lookup.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/subscripts.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Range;

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
            .with_help(value.is_tensor()
                           ? "take the rows by their numbers, as in `x[0]`, or annotate how many "
                             "there are, as in `x: FLOAT[3]`"
                           : "unpack a call with several results, a tuple or a list");
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
    for (const std::shared_ptr<Scope>* scope = &c.at.scope->enclosing; *scope != nullptr;
         scope = &(*scope)->enclosing) {
        if ((*scope)->find(name) == nullptr) {
            continue;
        }
        if (c.runs_file) {
            log_change(c, Object::error(),
                       [place = *scope, name, before = *(*scope)->find(name)](const Object&) {
                           place->set(name, before);
                       });
            (*scope)->set(name, std::move(value));
        } else {
            change_outer_name(c, *scope, name, std::move(value));
        }
        return;
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

// Whether Python makes an iterator or a view of its source, for which the compiler has a list.
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

}  // namespace

void exec_assign(Context& c, const syntax::AssignStmt* statement) {
    // Where it is unpacked, nothing holds it.
    bool is_bound_whole =
        std::any_of(statement->targets.begin(), statement->targets.end(), [](const Expr* target) {
            return target->kind != ExprKind::kTuple && target->kind != ExprKind::kList;
        });
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
    if (c.runs_file && is_bound_whole && value.is(ObjectKind::kIterator) &&
        !value.get<IteratorObject>().is_view()) {
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

namespace {

constexpr int kHolders = 2;  // the name or the instance, and what has been read of it

// In a branch or loop of the graph, where what was made outside cannot change: whether a list or
// dict can be replaced by a new one, because nothing else holds it.
bool is_replaceable(const Context& c, const Object& object, int holders) {
    return !c.runs_file && !is_owned(c, object) && !is_foreign(c, object) &&
           !may_be_another(c, object) && !object.is(ObjectKind::kSet) &&
           !is_shared(c, object, holders);
}

// An array of rank 0, which is changed, or a scalar of NumPy, which is bound again: the same where
// no other name refers to it.
bool is_scalar_of_many(const Object& object) {
    constexpr long kHolders = 2;  // the name, and what was read of it
    return object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() == 0 &&
           object.pointer().use_count() > kHolders;
}

}  // namespace

bool changes_in_place(Context& c, const Object& before, const Object& after, Range range,
                      int holders) {
    if (c.runs_file && is_scalar_of_many(before)) {
        refuse(c, range, "an augmented assignment to this array", "make a new array");
        return true;
    }
    if (before.kind() != after.kind() || before.is_frozen()) {
        return false;
    }
    if (before.is(ObjectKind::kConstant)) {
        if (!c.runs_file || before.get<Tensor>().rank() == 0) {
            return false;
        }
        if (!change_array(c, before, after)) {
            refuse(c, range, "an augmented assignment to this array", "make a new array");
            // Python refuses it as well.
            if (is_floating(after.get<Tensor>().element_type()) &&
                !is_floating(before.get<Tensor>().element_type())) {
                raises(c, "TypeError");
            }
        }
        return true;
    }
    bool is_dict = before.is(ObjectKind::kDict);
    if ((!is_dict && !before.is(ObjectKind::kList) && !before.is(ObjectKind::kSet)) ||
        is_replaceable(c, before, holders)) {
        return false;
    }
    if (!may_change(c, before, range, "change it outside, or make a new one: `xs = xs + [x]`")) {
        return true;
    }
    log_replacement(c, before);
    if (is_dict) {
        before.get<DictObject>().items =
            std::vector<std::pair<Object, Object>>(after.get<DictObject>().items);
    } else {
        before.items() = std::vector<Object>(after.items());
    }
    return true;
}

namespace {

// Whether NumPy does it in place, in the body of a script: to an array with axes.
bool changes_array(const Context& c, const Object& before) {
    bool is_array = (before.is(ObjectKind::kConstant) && before.get<Tensor>().rank() > 0) ||
                    (before.is_array_part() &&
                     !(before.value()->type.has_shape() && before.value()->type.shape().empty()));
    return !c.runs_file && (is_array || is_scalar_of_many(before));
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
    bool is_new = is_left_to_right(c, statement->op, before, value);
    bool is_sum = statement->op == syntax::BinaryOp::kAdd && !is_new;
    if (is_sum && !value.is_error()) {
        before = Object::error();  // nothing but the member holds it
        if (exec_member_growth(c, *own, name, value, statement->range)) {
            return true;
        }
        before = member(c, object, name, target->range, target->name_range);
    }
    if (changes_array(c, before) && !value.is_error()) {
        refuse(c, statement->range,
               "an augmented assignment to an array, which changes it for every name that refers "
               "to it");
        return true;
    }
    Object after = binary(c, statement->op, {before, target->range},
                          {value, statement->value->range}, statement->range);
    if (!after.is_error() && !c.is_raising()) {
        bool is_changed = !is_new && changes_in_place(c, before, after, statement->range, kHolders);
        assign_to_member(c, *own, name, is_changed ? before : after, statement->range);
    }
    return true;
}

}  // namespace

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
    own_in_branch(c, name->name);
    Object before = lookup(c, name->name, name->range);
    Object value = eval(c, statement->value);
    if (changes_array(c, before) && !value.is_error()) {
        c.report(kUnsupportedStatement, statement->range,
                 "an augmented assignment to an array, which changes it for every name that refers "
                 "to it")
            .with_help(fmt::format("make a new one: `{0} = {0} ...`", c.text(name->name)));
        bind_error(c, name);
        return;
    }
    if (value.is(ObjectKind::kIterator) && before.is(ObjectKind::kList)) {
        value = Object::list(static_items(c, value).value_or(std::vector<Object>()));
    }
    bool is_new = is_left_to_right(c, statement->op, before, value);
    if (statement->op == syntax::BinaryOp::kAdd && !is_new &&
        exec_growth(c, name, before, value, statement->range)) {
        return;
    }
    if (statement->op == syntax::BinaryOp::kAdd && !is_new && before.is(ObjectKind::kList) &&
        static_items(c, value).has_value() && !is_replaceable(c, before, kHolders)) {
        Arguments more;
        more.positional = {value};
        more.ranges = {statement->value->range};
        more.range = more.callee_range = statement->range;
        call_method(c, MethodObject{before, "extend"}, more);
        return;
    }
    Object after = binary(c, statement->op, {before, name->range}, {value, statement->value->range},
                          statement->range);
    if (!is_new && changes_in_place(c, before, after, statement->range, kHolders)) {
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

namespace {

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

// cfg.n = value of a class of the file or its instance; `y.dtype = ...` is a hint.
bool assign_member(Context& c, const syntax::AttributeExpr* target, const Object& value,
                   Range value_range) {
    Object object = eval(c, target->value);
    if (object.is_error() || !target->name.valid()) {
        return false;
    }
    Namespace* own = as_namespace(object);
    if (own != nullptr && c.text(target->name).substr(0, 2) != "__") {
        return assign_to_member(c, *own, c.text(target->name), value, target->range);
    }
    if (c.text(target->name) == "dtype" && object.is_tensor() &&
        value.is(ObjectKind::kElementType)) {
        return assign_dtype(c, target, object, value, value_range);
    }
    if (object.is(ObjectKind::kOpaque)) {
        c.report(kUnsupportedStatement, target->range,
                 "an assignment to a member of an object that the script has not made")
            .with_help("make it in the script, or bind the value to a name");
        return false;
    }
    c.report(kUnsupportedStatement, target->range, "an assignment to something other than a name")
        .with_help("bind the value to a name");
    return false;
}

// Whether the name that is bound now is one in a model's own function, for what a call or an item
// of its results is: values of functions of other files that run in place are called after it.
bool names_results(const Context& c, Range value_range) {
    const Context::Activation* caller = c.at.caller;
    std::string_view text = c.source(value_range);
    return caller != nullptr && caller->scope == nullptr &&
           (text.ends_with(')') || text.ends_with(']'));
}

// Whether a function of another file has made it, and nothing here has been bound to it.
bool is_of_other_file(const Context& c, const ir::Value& value) {
    const ir::Node* maker = value.producer();
    return maker != nullptr && !(maker->span.file == c.tree().file) &&
           !(value.span.file == c.tree().file);
}

// A value that a function of another file has made gets the name and the place of this file.
void take_over(Context& c, ir::Value& value, std::string_view name, Range range) {
    value.name = c.model.intern(name);
    value.span = c.span(range);
}

// Whether a function of another file has made it, and it is called after the list whose item is
// bound now, as in `a = t[0]`.
bool is_named_as_item(const Context& c, const ir::Value& value, Range value_range) {
    const ir::Node* maker = value.producer();
    std::string_view text = c.source(value_range);
    size_t bracket = text.find('[');
    return maker != nullptr && !(maker->span.file == c.tree().file) &&
           bracket != std::string_view::npos && text.ends_with(']') &&
           value.name == fmt::format("{}_{}", text.substr(0, bracket),
                                     text.substr(bracket + 1, text.size() - bracket - 2));
}

// Calls tensors after the name that is bound to them, and to lists of them.
void name_value(Context& c, const Expr* target, Symbol name, const Object& object,
                Range value_range) {
    if (object.is_tensor()) {
        ir::Value& value = *object.value();
        if (is_of_other_file(c, value) && names_results(c, value_range)) {
            take_over(c, value, c.text(name), target->range);
        } else if (value.name.empty() || is_named_as_item(c, value, value_range)) {
            value.name = c.model.intern(c.text(name));
        }
    } else if (object.is_sequence() && names_results(c, value_range)) {
        int count = 0;
        for (const Object& item : object.items()) {
            if (item.is_tensor() && is_of_other_file(c, *item.value())) {
                take_over(c, *item.value(), fmt::format("{}_{}", c.text(name), count),
                          target->range);
            }
            ++count;
        }
    }
}

}  // namespace

bool assign(Context& c, const Expr* target, Object value, Range value_range) {
    if (c.is_raising()) {
        return false;
    }
    switch (target->kind) {
        case ExprKind::kName: {
            Symbol name = syntax::as<syntax::NameExpr>(target)->name;
            name_value(c, target, name, value, value_range);
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

}  // namespace sardonyx::elaborate
