#include "elaborate/lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/aliases.h"
#include "elaborate/as_value.h"
#include "elaborate/attributes.h"
#include "elaborate/branch.h"
#include "elaborate/emit.h"
#include "elaborate/emitter.h"
#include "elaborate/expressions.h"
#include "elaborate/graph_loop.h"
#include "elaborate/items.h"
#include "elaborate/statics.h"
#include "elaborate/values.h"
#include "ir/standard.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::Range;

namespace {

// x.append(...) or x.extend(...), as the name and the argument; null: another expression.
const syntax::NameExpr* grown_by_call(const Context& c, const Expr* expr, const Expr*& argument,
                                      bool& extends) {
    const auto* call = syntax::maybe_as<syntax::CallExpr>(expr);
    const auto* method =
        call != nullptr ? syntax::maybe_as<syntax::AttributeExpr>(call->callee) : nullptr;
    if (method == nullptr || !method->name.valid() || call->args.size() != 1 ||
        !call->keywords.empty() || call->args[0]->kind == syntax::ExprKind::kStarred) {
        return nullptr;
    }
    extends = c.text(method->name) == "extend";
    argument = call->args[0];
    return extends || c.text(method->name) == "append"
               ? syntax::maybe_as<syntax::NameExpr>(method->value)
               : nullptr;
}

void add_grown(const Context& c, const syntax::Stmt* statement, std::vector<Symbol>& names) {
    if (const auto* plain = syntax::maybe_as<syntax::ExprStmt>(statement)) {
        const Expr* argument = nullptr;
        bool extends = false;
        if (const auto* name = grown_by_call(c, plain->value, argument, extends)) {
            names.push_back(name->name);
        }
    } else if (const auto* sum = syntax::maybe_as<syntax::AugAssignStmt>(statement)) {
        const auto* name = syntax::maybe_as<syntax::NameExpr>(sum->target);
        if (name != nullptr && sum->op == syntax::BinaryOp::kAdd) {
            names.push_back(name->name);
        }
    } else if (const auto* assign = syntax::maybe_as<syntax::AssignStmt>(statement)) {
        const auto* target = syntax::maybe_as<syntax::NameExpr>(assign->targets[0]);
        const auto* value = syntax::maybe_as<syntax::BinaryExpr>(assign->value);
        const auto* left =
            value != nullptr ? syntax::maybe_as<syntax::NameExpr>(value->left) : nullptr;
        if (target != nullptr && left != nullptr && left->name == target->name &&
            value->op == syntax::BinaryOp::kAdd) {
            names.push_back(target->name);
        }
    }
}

}  // namespace

std::vector<Symbol> grown_names(const Context& c, syntax::Stmts statements) {
    std::vector<Symbol> names;
    for (const syntax::Stmt* statement : statements) {
        std::vector<syntax::Stmts> blocks;
        if (const auto* branch = syntax::maybe_as<syntax::IfStmt>(statement)) {
            blocks = {branch->body, branch->orelse};
        } else if (const auto* loop = syntax::maybe_as<syntax::ForStmt>(statement)) {
            blocks = {loop->body, loop->orelse};
        } else if (const auto* repeat = syntax::maybe_as<syntax::WhileStmt>(statement)) {
            blocks = {repeat->body, repeat->orelse};
        } else {
            add_grown(c, statement, names);
        }
        for (syntax::Stmts block : blocks) {
            std::vector<Symbol> inner = grown_names(c, block);
            names.insert(names.end(), inner.begin(), inner.end());
        }
    }
    return names;
}

bool is_sequence_value(const Object& object) {
    return object.is_tensor() && object.value()->type.kind() == TypeKind::kSequence;
}

bool may_be_numbers(const Object& object) {
    return object.is_numbers() ||
           (object.is(ObjectKind::kList) &&
            std::all_of(object.items().begin(), object.items().end(), is_python_number));
}

bool is_open_list(const Object& object) {
    return object.is_numbers() && object.value()->type.element_type() == ElementType::kUndefined;
}

std::optional<ElementType> type_of_numbers(const Object& object) {
    if (object.is_numbers()) {
        return object.value()->type.element_type();
    }
    ElementType type = ElementType::kUndefined;
    for (const Object& item : object.items()) {
        ElementType own = number_type(item);
        if (item.is_either() || (type != ElementType::kUndefined && own != type)) {
            return std::nullopt;
        }
        type = own;
    }
    return type;
}

namespace {

Object refuse_mixed(Context& c, Range range, std::string_view what) {
    c.report(kUnsupportedOperand, range,
             fmt::format("{} in one list that grows in the graph", what))
        .with_help("give all items one type, as by `float(n)`");
    return Object::error();
}

// A vector of numbers with more of them.
Object insert_numbers(Context& c, const Object& numbers, const Object& more, Range range) {
    ElementType held = numbers.value()->type.element_type();
    std::optional<ElementType> type = type_of_numbers(more);
    if (type == ElementType::kUndefined) {
        return numbers;
    }
    if (!type || (held != ElementType::kUndefined && held != *type)) {
        return refuse_mixed(c, range, "ints, floats or bools");
    }
    ir::Value* added = as_value(c, more, range, *type);
    Emitter e(c, range);
    ir::Value* grown = added != nullptr ? e.emit("Concat", {numbers.value(), added},
                                                 {ir::make_attribute("axis", int64_t{0})})
                                        : nullptr;
    if (grown == nullptr) {
        return Object::error();
    }
    if (held == ElementType::kUndefined) {
        grown->type = Type::tensor(*type, Shape{Dim()});
    }
    return Object::numbers(grown);
}

}  // namespace

Object joined_numbers(Context& c, const Object& a, const Object& b, Range range) {
    if (a.is_numbers() && b.is(ObjectKind::kList)) {
        return insert_items(c, a, b, range);
    }
    if (!may_be_numbers(a) || !may_be_numbers(b)) {
        return refuse(c, range, fmt::format("`+` between {} and {}", kind_name(a), kind_name(b)),
                      "join lists of numbers of one type");
    }
    if (a.is_numbers()) {
        return insert_numbers(c, a, b, range);
    }
    ElementType type = b.value()->type.element_type();
    if (a.items().empty()) {
        return b;
    }
    if (type_of_numbers(a) != type) {
        return refuse_mixed(c, range, "ints, floats or bools");
    }
    ir::Value* first = as_value(c, a, range, type);
    ir::Value* all = first != nullptr
                         ? Emitter(c, range).emit("Concat", {first, b.value()},
                                                  {ir::make_attribute("axis", int64_t{0})})
                         : nullptr;
    return all != nullptr ? Object::numbers(all) : Object::error();
}

Object insert_item(Context& c, const Object& sequence, const Object& item, Range range) {
    if (item.is_error() || sequence.is_error()) {
        return Object::error();
    }
    bool is_open = is_open_list(sequence);
    if (sequence.is_numbers() && is_python_number(item)) {
        if (item.is_either()) {
            report_either(c, range);
            return Object::error();
        }
        return insert_numbers(c, sequence, Object::list({item}), range);
    }
    if (sequence.is_numbers() && !is_open) {
        return refuse_mixed(c, range, fmt::format("{} and numbers", kind_name(item)));
    }
    if (!is_leaf(item)) {
        c.report(
             kUnsupportedOperand, range,
             fmt::format("{} becomes an item of a list that grows in the graph", kind_name(item)))
            .with_help("append tensors or numbers of one type");
        return Object::error();
    }
    ElementType element =
        is_open ? ElementType::kUndefined : sequence.value()->type.element().element_type();
    ir::Value* value = as_typed_value(c, item, element, range);
    ir::Value* grown = value != nullptr
                           ? Emitter(c, range).emit("SequenceInsert", {sequence.value(), value})
                           : nullptr;
    if (grown != nullptr && element == ElementType::kUndefined) {
        grown->type = Type::sequence(value->type);
    }
    return as_object(grown);
}

Object insert_items(Context& c, Object sequence, const Object& list, Range range) {
    if (sequence.is_numbers() && list.is_numbers()) {
        return insert_numbers(c, sequence, list, range);
    }
    std::optional<std::vector<Object>> items = static_items(c, list);
    if (!items) {
        return refuse(c, range, fmt::format("a list extended by {}", kind_name(list)),
                      "append the items one by one");
    }
    for (const Object& item : *items) {
        sequence = insert_item(c, sequence, item, range);
    }
    return sequence;
}

namespace {

// Binds the name to its longer list, which is the same list for whoever else holds it.
void bind_grown(Context& c, const syntax::NameExpr* name, const Object& before, const Object& grown,
                Range range) {
    Object after = grown.is_error() ? Object::make(ObjectKind::kUnbound, Unbound{}) : grown;
    std::vector<CallerName> callers;
    std::optional<std::string> other =
        other_holder(c, before.value(), name->name, false, range.end, callers, true);
    if (other && !grown.is_error()) {
        std::string target(c.text(name->name));
        c.report(kAliasedItemAssignment, range,
                 fmt::format("`{}` may be the same list as `{}`, which Python would change too",
                             *other, target))
            .with_help(fmt::format("make a new list: `{0} = {0} + [...]`", target));
        after = Object::make(ObjectKind::kUnbound, Unbound{});
    }
    for (const CallerName& one : callers) {
        one.scope->set(one.name, after);
    }
    c.at.scope->set(name->name, after);
}

}  // namespace

bool exec_growth(Context& c, const Expr* expr) {
    const Expr* argument = nullptr;
    bool extends = false;
    const syntax::NameExpr* name = grown_by_call(c, expr, argument, extends);
    const Object* found = name != nullptr ? c.at.scope->find(name->name) : nullptr;
    if (found == nullptr || !(found->is_numbers() || is_sequence_value(*found))) {
        return false;
    }
    Object sequence = *found;
    Object value = eval(c, argument);
    Object grown = value.is_error() ? Object::error()
                   : extends        ? insert_items(c, sequence, value, expr->range)
                                    : insert_item(c, sequence, value, expr->range);
    bind_grown(c, name, sequence, grown, expr->range);
    return true;
}

bool exec_growth(Context& c, const syntax::NameExpr* name, const Object& list, const Object& more,
                 Range range) {
    if (!(list.is_numbers() || is_sequence_value(list)) ||
        !(more.is(ObjectKind::kList) || more.is_numbers()) ||
        c.at.scope->find(name->name) == nullptr) {
        return false;
    }
    bind_grown(c, name, list, insert_items(c, list, more, range), range);
    return true;
}

void claim(Context& c, const Object& object) {
    if (c.graph != c.unit->graph) {
        c.owners[object.pointer().get()] = {object.pointer(), c.graph};
    }
}

namespace {

// The graph in which a list or dict was made.
const ir::Graph* owner_of(const Context& c, const Object& object) {
    auto found = c.owners.find(object.pointer().get());
    return found == c.owners.end() || found->second.first.expired() ? c.unit->graph
                                                                    : found->second.second;
}

}  // namespace

bool is_owned(const Context& c, const Object& object) {
    return c.graph == c.unit->graph || owner_of(c, object) == c.graph;
}

bool is_shared(const Context& c, const Object& object) {
    auto is_it = [&object](const Undo& one) { return one.object.pointer() == object.pointer(); };
    return object.pointer().use_count() > 1 + std::count_if(c.undo.begin(), c.undo.end(), is_it);
}

void own_in_branch(Context& c, Symbol name) {
    const Object* found = c.at.scope->find(name);
    if (found == nullptr || (!found->is(ObjectKind::kList) && !found->is(ObjectKind::kDict)) ||
        is_owned(c, *found) || is_shared(c, *found)) {
        return;
    }
    const ir::Graph* owner = owner_of(c, *found);
    for (const ir::Graph* graph = c.graph; graph != owner; graph = graph->parent()) {
        if (graph == nullptr || graph->name != kBranchGraph) {
            return;  // the body of a loop would change the same copy again
        }
    }
    Object copy = found->is(ObjectKind::kList) ? Object::list(found->items())
                                               : Object::dict(found->get<DictObject>());
    claim(c, copy);
    c.at.scope->set(name, copy);
}

ir::Value* stacked_rows(const ir::Value* sequence, const std::vector<ir::Attribute>& attributes) {
    const ir::Node* node = sequence->producer();
    auto integer = [](const ir::Attribute& attribute) {
        const int64_t* value = attribute.get<int64_t>();
        return value != nullptr ? *value : -1;
    };
    bool stacks = false;
    for (const ir::Attribute& attribute : attributes) {
        if (attribute.name == "axis" && integer(attribute) != 0) {
            return nullptr;
        }
        stacks = stacks || (attribute.name == "new_axis" && integer(attribute) == 1);
    }
    if (!stacks || !ir::is_standard(node, "SplitToSequence") || node->input_count() != 1) {
        return nullptr;
    }
    const ir::Attribute* axis = node->find_attribute("axis");
    const ir::Attribute* keeps = node->find_attribute("keepdims");
    return axis != nullptr && integer(*axis) == 0 && keeps != nullptr && integer(*keeps) == 0
               ? node->input(0)
               : nullptr;
}

}  // namespace sardonyx::elaborate
