// List, dict and generator comprehensions.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A generator over static items is an iterator.
Object eval_comprehension(Context& c, const syntax::ComprehensionExpr* expr);
// Of what uses a generator at once, as any() does: its items. `ends_at`: the truth of an item after
// which it is not asked for more.
Object eval_comprehension_at_once(Context& c, const syntax::ComprehensionExpr* expr,
                                  std::optional<bool> ends_at);

}  // namespace sardonyx::elaborate
