// List, dict and generator comprehensions.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A generator over static items is an iterator, unless what it is given to uses it at once.
// `ends_at`: the truth of an item after which a generator is not asked for more, as by any().
Object eval_comprehension(Context& c, const syntax::ComprehensionExpr* expr,
                          bool is_used_at_once = false, std::optional<bool> ends_at = std::nullopt);

}  // namespace sardonyx::elaborate
