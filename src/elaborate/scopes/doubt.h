// What names are worth after statements of which nobody knows whether they run.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Where nothing is known of the arguments of the function (check_in_place()), nothing is known any
// more of names that the statements bind, or whose lists and dicts they change.
void doubt(Context& c, syntax::Stmts statements);

}  // namespace sardonyx::elaborate
