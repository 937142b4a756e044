// What names stand for.
#pragma once

#include "ide/analysis.h"
#include "ide/cursor.h"

namespace sardonyx::ide {

// The type of a name where it was bound last before the place, in the same function; null: it is
// no name of the function.
const KnownType* type_of_name(const Analysis& analysis, const NameAt& at);

}  // namespace sardonyx::ide
