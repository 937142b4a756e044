// Which operator a node is. Other domains may use the names of ai.onnx: a name alone says nothing.
#pragma once

#include <string_view>

#include "ir/ir.h"

namespace sardonyx::ir {

inline bool is_standard(const Node& node, std::string_view op_type) {
    return node.op_type == op_type && node.domain.empty();
}

// The same for a node that may be null, such as the producer of an input.
inline bool is_standard(const Node* node, std::string_view op_type) {
    return node != nullptr && is_standard(*node, op_type);
}

}  // namespace sardonyx::ir
