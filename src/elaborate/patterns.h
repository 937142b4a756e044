// Which suite of a `match` is chosen.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The suite that the subject of a `match` chooses, the names of its pattern bound; null: none.
// Nothing after a diagnostic (patterns.cpp).
std::optional<const syntax::Clause*> chosen_case(Context& c, const syntax::OpaqueStmt* statement);

}  // namespace sardonyx::elaborate
