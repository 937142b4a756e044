// int, float, bool, str, list, tuple and the like, called.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// `dict.fromkeys`.
Object dict_fromkeys(Context& c, const Arguments& a);

// int, float, bool, str, list, tuple called as functions.
Object call_python_type(Context& c, const PythonType& type, const Arguments& arguments);

}  // namespace sardonyx::elaborate
