// Members of objects: op.Add, x.shape, math.pi.
#pragma once

#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A member of an object: op.Add, x.shape, math.pi.
Object member(Context& c, const Object& object, std::string_view name, syntax::Range range,
              syntax::Range name_range);

}  // namespace sardonyx::elaborate
