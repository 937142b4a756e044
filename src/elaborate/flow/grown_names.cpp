// Which lists a block makes longer, and which lists and dicts it changes otherwise, by its text.

#include "elaborate/flow/grown_names.h"

#include "elaborate/flow/bindings.h"
#include "elaborate/flow/effect_tables.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

using syntax::Expr;

const Expr* grown_by_call(const Context& c, const Expr* expr, const Expr*& argument,
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
    return extends || c.text(method->name) == "append" ? method->value : nullptr;
}

namespace {

void add_grown(const Context& c, const syntax::Stmt* statement, std::vector<Symbol>& names) {
    if (const auto* plain = syntax::maybe_as<syntax::ExprStmt>(statement)) {
        const Expr* argument = nullptr;
        bool extends = false;
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(
                grown_by_call(c, plain->value, argument, extends))) {
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

std::vector<Symbol> names_with_items(syntax::Stmts statements) {
    std::vector<Symbol> names;
    auto see = [&names](const Bound& one) { names.push_back(one.name); };
    each_binding<binds::kItem>(nullptr, statements, see);
    auto see_deletion = [&see](const syntax::Stmt* statement) {
        if (const auto* deletion = syntax::maybe_as<syntax::DeleteStmt>(statement)) {
            for (const Expr* target : deletion->targets) {
                if (target->kind == syntax::ExprKind::kSubscript) {
                    each_target(target, binds::kItem, see);
                }
            }
        }
    };
    each_statement(statements, LoopBodies::kVisited, see_deletion);
    return names;
}

std::vector<Symbol> changed_names(const Context& c, syntax::Stmts statements) {
    std::vector<Symbol> names;
    auto see_call = [&](const Expr* expr) {
        const auto* call = syntax::maybe_as<syntax::CallExpr>(expr);
        const auto* method =
            call != nullptr ? syntax::maybe_as<syntax::AttributeExpr>(call->callee) : nullptr;
        const auto* name = method != nullptr && method->name.valid() &&
                                   has_word(kItemChangingMethods, c.text(method->name))
                               ? syntax::maybe_as<syntax::NameExpr>(method->value)
                               : nullptr;
        if (name != nullptr) {
            names.push_back(name->name);
        }
    };
    syntax::each_expression(statements, see_call);
    return names;
}

}  // namespace sardonyx::elaborate
