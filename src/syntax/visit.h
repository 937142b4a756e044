// The children of a node, whatever its kind: for walks that look for something in a whole tree.
#pragma once

#include "syntax/tree.h"

namespace sardonyx::syntax {

template <typename Visit>
void each_parameter_child(const Parameters* parameters, Visit visit) {
    for (const Parameter& parameter : parameters->items) {
        if (parameter.annotation != nullptr) {
            visit(parameter.annotation);
        }
        if (parameter.default_value != nullptr) {
            visit(parameter.default_value);
        }
    }
}

// Calls `visit(const Expr*)` for every expression directly inside, in the order of the text as far
// as the tree tells it. Null is never visited.
template <typename Visit>
void each_child(const Expr* node, Visit visit) {
    auto one = [&visit](const Expr* child) {
        if (child != nullptr) {
            visit(child);
        }
    };
    auto all = [&one](Exprs children) {
        for (const Expr* child : children) {
            one(child);
        }
    };
    switch (node->kind) {
        case ExprKind::kFString:
            for (const FStringPart& part : as<FStringExpr>(node)->parts) {
                one(part.expr);
                one(part.format);
            }
            break;
        case ExprKind::kTuple:
        case ExprKind::kList:
        case ExprKind::kSet:
            all(static_cast<const SequenceExpr*>(node)->items);
            break;
        case ExprKind::kDict:
            all(as<DictExpr>(node)->keys);
            all(as<DictExpr>(node)->values);
            break;
        case ExprKind::kComprehension: {
            const auto* n = as<ComprehensionExpr>(node);
            for (const ComprehensionFor& clause : n->clauses) {
                one(clause.iterable);
                one(clause.target);
                all(clause.conditions);
            }
            one(n->element);
            one(n->value);
            break;
        }
        case ExprKind::kUnary:
            one(as<UnaryExpr>(node)->operand);
            break;
        case ExprKind::kBinary:
            one(as<BinaryExpr>(node)->left);
            one(as<BinaryExpr>(node)->right);
            break;
        case ExprKind::kBoolOp:
            all(as<BoolOpExpr>(node)->operands);
            break;
        case ExprKind::kCompare:
            one(as<CompareExpr>(node)->left);
            all(as<CompareExpr>(node)->rights);
            break;
        case ExprKind::kCall:
            one(as<CallExpr>(node)->callee);
            all(as<CallExpr>(node)->args);
            for (const Keyword& keyword : as<CallExpr>(node)->keywords) {
                one(keyword.value);
            }
            break;
        case ExprKind::kAttribute:
            one(as<AttributeExpr>(node)->value);
            break;
        case ExprKind::kSubscript:
            one(as<SubscriptExpr>(node)->value);
            one(as<SubscriptExpr>(node)->index);
            break;
        case ExprKind::kSlice:
            one(as<SliceExpr>(node)->lower);
            one(as<SliceExpr>(node)->upper);
            one(as<SliceExpr>(node)->step);
            break;
        case ExprKind::kStarred:
        case ExprKind::kAwait:
        case ExprKind::kYield:
        case ExprKind::kYieldFrom:
            one(static_cast<const PrefixExpr*>(node)->operand);
            break;
        case ExprKind::kLambda:
            each_parameter_child(as<LambdaExpr>(node)->parameters, one);
            one(as<LambdaExpr>(node)->body);
            break;
        case ExprKind::kIfExp:
            one(as<IfExpExpr>(node)->condition);
            one(as<IfExpExpr>(node)->body);
            one(as<IfExpExpr>(node)->orelse);
            break;
        case ExprKind::kNamed:
            one(as<NamedExpr>(node)->target);
            one(as<NamedExpr>(node)->value);
            break;
        default:
            break;
    }
}

// The expressions in a pattern.
template <typename Visit>
void each_pattern_child(const Pattern* pattern, Visit& visit) {
    if (pattern->value != nullptr) {
        visit(pattern->value);
    }
    for (const Expr* key : pattern->keys) {
        visit(key);
    }
    for (const Pattern* item : pattern->items) {
        each_pattern_child(item, visit);
    }
}

// Calls `see(Symbol)` for the names that a pattern binds.
template <typename See>
void each_capture(const Pattern* pattern, See& see) {
    if (pattern->name.valid()) {
        see(pattern->name);
    }
    for (const Pattern* item : pattern->items) {
        each_capture(item, see);
    }
}

// The same for a statement, and the statements of its blocks.
template <typename VisitExpr, typename VisitStmt>
void each_child(const Stmt* node, VisitExpr visit_expr, VisitStmt visit_stmt) {
    auto one = [&visit_expr](const Expr* child) {
        if (child != nullptr) {
            visit_expr(child);
        }
    };
    auto all = [&one](Exprs children) {
        for (const Expr* child : children) {
            one(child);
        }
    };
    auto block = [&visit_stmt](Stmts statements) {
        for (const Stmt* statement : statements) {
            visit_stmt(statement);
        }
    };
    switch (node->kind) {
        case StmtKind::kExpr:
            one(as<ExprStmt>(node)->value);
            break;
        case StmtKind::kAssign:
            one(as<AssignStmt>(node)->value);
            all(as<AssignStmt>(node)->targets);
            break;
        case StmtKind::kAugAssign:
            one(as<AugAssignStmt>(node)->target);
            one(as<AugAssignStmt>(node)->value);
            break;
        case StmtKind::kAnnAssign:
            one(as<AnnAssignStmt>(node)->target);
            one(as<AnnAssignStmt>(node)->annotation);
            one(as<AnnAssignStmt>(node)->value);
            break;
        case StmtKind::kReturn:
            one(as<ReturnStmt>(node)->value);
            break;
        case StmtKind::kDelete:
            all(as<DeleteStmt>(node)->targets);
            break;
        case StmtKind::kRaise:
            one(as<RaiseStmt>(node)->exception);
            one(as<RaiseStmt>(node)->cause);
            break;
        case StmtKind::kAssert:
            one(as<AssertStmt>(node)->condition);
            one(as<AssertStmt>(node)->message);
            break;
        case StmtKind::kIf:
            one(as<IfStmt>(node)->condition);
            block(as<IfStmt>(node)->body);
            block(as<IfStmt>(node)->orelse);
            break;
        case StmtKind::kFor:
            one(as<ForStmt>(node)->iterable);
            one(as<ForStmt>(node)->target);
            block(as<ForStmt>(node)->body);
            block(as<ForStmt>(node)->orelse);
            break;
        case StmtKind::kWhile:
            one(as<WhileStmt>(node)->condition);
            block(as<WhileStmt>(node)->body);
            block(as<WhileStmt>(node)->orelse);
            break;
        case StmtKind::kFunctionDef: {
            const auto* n = as<FunctionDefStmt>(node);
            all(n->decorators);
            each_parameter_child(n->parameters, one);
            one(n->returns);
            block(n->body);
            break;
        }
        case StmtKind::kTypeAlias:
            one(as<TypeAliasStmt>(node)->name);
            one(as<TypeAliasStmt>(node)->value);
            break;
        case StmtKind::kOpaque: {
            const auto* n = as<OpaqueStmt>(node);
            one(n->subject);
            for (const Clause& clause : n->clauses) {
                if (clause.pattern != nullptr) {
                    each_pattern_child(clause.pattern, one);
                }
                one(clause.test);
            }
            for (const WithItem& item : n->items) {
                one(item.context);
                one(item.target);
            }
            block(n->body);
            break;
        }
        default:
            break;
    }
}

// Every expression inside the statements, however deep.
// A sum of many terms leans to the left as deep as it is long: it is gone through, not down into.
template <typename Visit>
void each_expression(const Expr* node, Visit& visit) {
    visit(node);
    for (const auto* sum = maybe_as<BinaryExpr>(node); sum != nullptr;) {
        each_expression(sum->right, visit);
        node = sum->left;
        sum = maybe_as<BinaryExpr>(node);
        visit(node);
    }
    each_child(node, [&visit](const Expr* child) { each_expression(child, visit); });
}
template <typename Visit>
void each_expression(Stmts statements, Visit& visit) {
    for (const Stmt* statement : statements) {
        each_child(
            statement, [&visit](const Expr* child) { each_expression(child, visit); },
            [&visit](const Stmt* child) { each_expression(Stmts(&child, 1), visit); });
    }
}

// The symbol of a name; not valid where the file does not have it.
inline Symbol find_name(const Interner& names, std::string_view text) {
    for (uint32_t i = 0; i < names.size(); ++i) {
        if (names.text(Symbol{i}) == text) {
            return Symbol{i};
        }
    }
    return {};
}

// Calls `see(Symbol)` for the variables that a call of the operator Gradient names in strings, as
// in `xs=["w"], y="loss"`: it reads them.
template <typename See>
void each_named_variable(const Interner& names, const Expr* node, See& see) {
    const auto* call = maybe_as<CallExpr>(node);
    const auto* callee = call != nullptr ? maybe_as<AttributeExpr>(call->callee) : nullptr;
    if (callee == nullptr || names.text(callee->name) != "Gradient") {
        return;
    }
    auto visit = [&](const Expr* one) {
        if (const auto* string = maybe_as<StringExpr>(one)) {
            if (Symbol name = find_name(names, string->value); name.valid()) {
                see(name);
            }
        }
    };
    for (const Keyword& keyword : call->keywords) {
        each_expression(keyword.value, visit);
    }
}

}  // namespace sardonyx::syntax
