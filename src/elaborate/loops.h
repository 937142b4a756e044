// `for` and `while`.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Loops (loops.cpp).
Jump exec_for(Context& c, const syntax::ForStmt* statement);

Jump exec_while(Context& c, const syntax::WhileStmt* statement);

}  // namespace sardonyx::elaborate
