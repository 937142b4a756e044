// The checks that need nothing but the schema: counts of inputs and outputs, the types that a type
// variable admits, one type for one variable, types of attributes.
#pragma once

#include "infer/node_context.h"

namespace sardonyx::infer {

void check_against_schema(NodeContext& c);

}  // namespace sardonyx::infer
