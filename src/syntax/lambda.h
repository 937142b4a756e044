// Lambdas as functions.
#pragma once

#include <vector>

#include "syntax/tree.h"

namespace sardonyx::syntax {

// All lambdas in the statements of the tree.
std::vector<const LambdaExpr*> lambdas_in(const Tree& tree);
// A function called `lambda` that returns the lambda's value. It lies in the tree's arena.
const FunctionDefStmt* as_function(Tree& tree, const LambdaExpr& lambda);

}  // namespace sardonyx::syntax
