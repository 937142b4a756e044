// Which names of a function may mean the same tensor, by its text alone.
#pragma once

#include <vector>

#include "elaborate/flow/text_facts.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The names of the function whose tensor an expression may be, or may hold (aliases.cpp).
std::vector<Symbol> passed_names(Context& c, const syntax::Expr* expr);

AliasClasses& alias_classes(Context& c);

}  // namespace sardonyx::elaborate
