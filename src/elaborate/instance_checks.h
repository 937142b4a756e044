// isinstance().
#pragma once

#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/calls.h"

namespace sardonyx::elaborate {

Object py_isinstance(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
