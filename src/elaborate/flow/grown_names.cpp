// Which lists a block makes longer, by its text.

#include "elaborate/flow/grown_names.h"

#include "elaborate/flow/bindings.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

using syntax::Expr;

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

namespace {

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
    auto see = [&](const syntax::Stmt* statement) { add_grown(c, statement, names); };
    each_statement(statements, LoopBodies::kVisited, see);
    return names;
}

}  // namespace sardonyx::elaborate
