// isinstance().
#pragma once

#include "elaborate/eval.h"

namespace sardonyx::elaborate {

Object py_isinstance(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
