#include "syntax/lambda.h"

#include "syntax/visit.h"

namespace sardonyx::syntax {

std::vector<const LambdaExpr*> lambdas_in(const Tree& tree) {
    std::vector<const LambdaExpr*> lambdas;
    auto visit = [&](const Expr* one) {
        if (const auto* found = maybe_as<LambdaExpr>(one)) {
            lambdas.push_back(found);
        }
    };
    each_expression(tree.body, visit);
    return lambdas;
}

const FunctionDefStmt* as_function(Tree& tree, const LambdaExpr& lambda) {
    const Stmt* result =
        tree.arena.make<ReturnStmt>(Stmt{StmtKind::kReturn, lambda.body->range}, lambda.body);
    return tree.arena.make<FunctionDefStmt>(
        Stmt{StmtKind::kFunctionDef, lambda.range}, tree.names.intern("lambda"), lambda.range,
        Exprs{}, lambda.parameters, nullptr,
        tree.arena.copy(std::span<const Stmt* const>(&result, 1)), false);
}

}  // namespace sardonyx::syntax
