// Comparisons and chains of them: `a < b < c`.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object eval_compare(Context& c, const syntax::CompareExpr* expr);

}  // namespace sardonyx::elaborate
