// Which lists a block makes longer, and which lists and dicts it changes otherwise, by its text.
#pragma once

#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The names whose list a block makes longer: by append or extend, by += or by x = x + [...].
std::vector<Symbol> grown_names(const Context& c, syntax::Stmts statements);

// The names whose items a block assigns to or deletes.
std::vector<Symbol> names_with_items(syntax::Stmts statements);

// The names whose list or dict a block changes by a method such as `pop` or `insert`.
std::vector<Symbol> changed_names(const Context& c, syntax::Stmts statements);

// x.append(...) or x.extend(...), as `x` and the argument; null: another expression.
const syntax::Expr* grown_by_call(const Context& c, const syntax::Expr* expr,
                                  const syntax::Expr*& argument, bool& extends);

}  // namespace sardonyx::elaborate
