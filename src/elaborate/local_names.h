// The names that a function binds, by its text.
#pragma once

#include <vector>

#include "base/symbol_map.h"
#include "syntax/tree.h"

namespace sardonyx::elaborate {

void add_bound(const syntax::Expr* node, std::vector<Symbol>& names);

// The names that a function's body binds; those that it declares global or nonlocal apart.
void add_locals(syntax::Stmts body, std::vector<Symbol>& names, SymbolSet& outer);

}  // namespace sardonyx::elaborate
