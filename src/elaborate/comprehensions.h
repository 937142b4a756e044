// List, dict and generator comprehensions.
#pragma once

#include "elaborate/context.h"

namespace sardonyx::elaborate {

Object eval_comprehension(Context& c, const syntax::ComprehensionExpr* expr);

}  // namespace sardonyx::elaborate
