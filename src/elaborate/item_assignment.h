// Assignments to items: x[i] = value, and `del`.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// x[i] = value and x[i] op= value (item_assignment.cpp).
bool assign_item(Context& c, const syntax::SubscriptExpr* target, const Object& value,
                 syntax::Range value_range);

void augment_item(Context& c, const syntax::AugAssignStmt* statement);

// del xs[i]: of a static list or dict.
void delete_item(Context& c, const syntax::SubscriptExpr* target);

}  // namespace sardonyx::elaborate
