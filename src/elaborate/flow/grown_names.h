// Which lists a block makes longer, by its text.
#pragma once

#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The names whose list a block makes longer: by append or extend, by += or by x = x + [...].
std::vector<Symbol> grown_names(const Context& c, syntax::Stmts statements);

// x.append(...) or x.extend(...), as the name and the argument; null: another expression.
const syntax::NameExpr* grown_by_call(const Context& c, const syntax::Expr* expr,
                                      const syntax::Expr*& argument, bool& extends);

}  // namespace sardonyx::elaborate
