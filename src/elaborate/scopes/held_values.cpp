// Optional values that are known to be there, after `if x is not None:`. As in type checkers, the
// text of the condition decides: a test by `op.OptionalHasElement`, which a program writes to work
// with the optional value itself, leaves it as it is.
//
// The node that takes the value out stands at the end that the branch's graph has when the value
// is first read, also when a graph inside of it reads: all that reads it later finds that node.
#include "elaborate/scopes/held_values.h"

#include <algorithm>

#include "elaborate/emit/emitter.h"
#include "elaborate/scopes/lookup.h"
#include "ir/standard.h"

namespace sardonyx::elaborate {

using syntax::Expr;

namespace {

// The optional value that `x is None` asks for; null: it asks for something else.
ir::Value* compared_with_none(Context& c, const syntax::CompareExpr* compare) {
    const Expr *left = compare->left, *right = compare->rights[0];
    const Expr* other = right->kind == syntax::ExprKind::kNone  ? left
                        : left->kind == syntax::ExprKind::kNone ? right
                                                                : nullptr;
    if (other != nullptr && other->kind == syntax::ExprKind::kNamed) {
        other = syntax::as<syntax::NamedExpr>(other)->target;
    }
    const auto* name = other != nullptr ? syntax::maybe_as<syntax::NameExpr>(other) : nullptr;
    if (name == nullptr) {
        return nullptr;
    }
    Object object = lookup(c, name->name, name->range);
    return is_optional_value(object) ? object.value() : nullptr;
}

void collect(Context& c, const Expr* condition, bool outcome, std::vector<ir::Value*>& values) {
    if (const auto* compare = syntax::maybe_as<syntax::CompareExpr>(condition)) {
        using syntax::CompareOp;
        CompareOp op = compare->ops[0];
        bool asks_presence = op == CompareOp::kIsNot || op == CompareOp::kNotEq;
        bool asks_absence = op == CompareOp::kIs || op == CompareOp::kEq;
        if (compare->ops.size() == 1 && (outcome ? asks_presence : asks_absence)) {
            if (ir::Value* value = compared_with_none(c, compare)) {
                values.push_back(value);
            }
        }
    } else if (const auto* unary = syntax::maybe_as<syntax::UnaryExpr>(condition)) {
        if (unary->op == syntax::UnaryOp::kNot) {
            collect(c, unary->operand, !outcome, values);
        }
    } else if (const auto* joined = syntax::maybe_as<syntax::BoolOpExpr>(condition)) {
        if (joined->is_and == outcome) {  // otherwise one part alone may have decided
            for (const Expr* operand : joined->operands) {
                collect(c, operand, outcome, values);
            }
        }
    }
}

// The node of the graph that takes out what the value holds; null: there is none yet.
const ir::Node* taken_out(const ir::Value* value, const ir::Graph* graph) {
    for (const ir::Use* use = value->first_use(); use != nullptr; use = use->next) {
        if (use->user->graph() == graph && ir::is_standard(use->user, "OptionalGetElement")) {
            return use->user;
        }
    }
    return nullptr;
}

}  // namespace

std::vector<ir::Value*> held_when(Context& c, const Expr* condition, bool outcome) {
    std::vector<ir::Value*> values;
    collect(c, condition, outcome, values);
    return values;
}

HeldValues::HeldValues(Context& c, const std::vector<ir::Value*>& values)
    : c_(c), before_(c.held.size()) {
    for (ir::Value* value : values) {
        c.held.push_back({value, c.graph});
    }
}

Object held(Context& c, const Object& object, syntax::Range range) {
    if (c.held.empty() || !is_optional_value(object)) {
        return object;
    }
    auto found = std::find_if(c.held.begin(), c.held.end(), [&object](const Context::Held& one) {
        return one.value == object.value();
    });
    if (found == c.held.end()) {
        return object;
    }
    if (const ir::Node* node = taken_out(found->value, found->graph)) {
        return Object::tensor(node->output(0));
    }
    ir::Graph* inner = c.graph;
    c.graph = found->graph;
    ir::Value* value = Emitter(c, range).emit("OptionalGetElement", {found->value});
    c.graph = inner;
    return value != nullptr ? Object::tensor(value) : Object::error();
}

bool is_held(const Context& c, const ir::Value* value) {
    const ir::Node* maker = value->producer();
    return ir::is_standard(maker, "OptionalGetElement") &&
           std::any_of(c.held.begin(), c.held.end(), [maker](const Context::Held& one) {
               return one.value == maker->input(0) && one.graph == maker->graph();
           });
}

}  // namespace sardonyx::elaborate
