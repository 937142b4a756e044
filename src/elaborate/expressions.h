// Evaluation of expressions at compile time: static where everything is known, nodes otherwise.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// `wanted`: the number of targets that the result is unpacked into; 0: it is used as one value.
Object eval(Context& c, const syntax::Expr* expr, size_t wanted = 0);

}  // namespace sardonyx::elaborate
