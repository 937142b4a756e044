// Whether parts of models hold the same, bit by bit.
#pragma once

#include "ir/ir.h"

namespace sardonyx::ir {

bool same_tensor(const Tensor& a, const Tensor& b);
// Whether two initializers hold the same tensor, dense or sparse.
bool same_stored(const Value& a, const Value& b);
// Of attributes without graphs: two with graphs differ.
bool same_value(const AttributeValue& a, const AttributeValue& b);

}  // namespace sardonyx::ir
