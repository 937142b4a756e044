// A call as it stands in the text.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object eval_arguments_and_call(Context& c, const syntax::CallExpr* expr, size_t wanted);

}  // namespace sardonyx::elaborate
