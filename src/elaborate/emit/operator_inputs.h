// An argument of an operator as a value of the graph.
#pragma once

#include "elaborate/emit/operator_binding.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

ir::Value* input_value(Context& c, const ops::Schema& schema, const BoundCall& call, size_t index,
                       syntax::Range call_range);

}  // namespace sardonyx::elaborate
