#include "syntax/lambda.h"

#include "syntax/visit.h"

namespace sardonyx::syntax {

const LambdaExpr* only_lambda(const Tree& tree) {
    const LambdaExpr* lambda = nullptr;
    size_t count = 0;
    auto visit = [&](const Expr* one) {
        if (const auto* found = maybe_as<LambdaExpr>(one)) {
            lambda = found;
            ++count;
        }
    };
    each_expression(tree.body, visit);
    return count == 1 ? lambda : nullptr;
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
