// Functions of a model that import another version of a domain than the model does.
#pragma once

#include "ir/ir.h"

namespace sardonyx::infer {

// A node of the function whose operator is another one in the version that the model imports of its
// domain than in the function's own: the standard refuses such a model. Null: there is none.
const ir::Node* incompatible_node(const ir::Model& model, const ir::Function& function);

}  // namespace sardonyx::infer
