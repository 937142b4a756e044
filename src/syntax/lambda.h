// Lambdas as functions.
#pragma once

#include "syntax/tree.h"

namespace sardonyx::syntax {

// The one lambda in the statements of the tree; null: there is none, or another one.
const LambdaExpr* only_lambda(const Tree& tree);
// A function called `lambda` that returns the lambda's value. It lies in the tree's arena.
const FunctionDefStmt* as_function(Tree& tree, const LambdaExpr& lambda);

}  // namespace sardonyx::syntax
