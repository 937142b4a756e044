// hasattr(), getattr() and setattr().
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object py_hasattr(Context& c, const Arguments& a);
Object py_getattr(Context& c, const Arguments& a);
Object py_setattr(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
