// A list of tensors and numbers as one tensor: `[n, -1]` where a tensor is needed.
#pragma once

#include <vector>

#include "eager/emitter.h"
#include "lowering/literal.h"

namespace sardonyx::eager {

// The tensor, with the element type of the first tensor in it unless given; `reader` is one of
// lowering/literal.h, and `tensor_of(leaf, type)` gives what a leaf is beside tensors of a type.
template <typename Surface, typename Reader, typename TensorOf>
Tensor tensor_of_mixed_list(const typename Surface::Argument& list, const Reader& reader,
                            ElementType type, const TensorOf& tensor_of) {
    using Argument = typename Surface::Argument;
    std::vector<Argument> leaves;
    Dims dims;
    auto leaf = [&leaves](const Argument& one) {
        leaves.push_back(one);
        return true;
    };
    lowering::ListShape shape = lowering::walk_lists(list, reader, leaf, dims);
    if (shape != lowering::ListShape::kTensor) {
        Surface::refuse(Wrong::kValue, lowering::list_problem(shape).text());
    }
    for (const Argument& one : leaves) {
        if (type == ElementType::kUndefined && reader.kind(one) == lowering::LiteralKind::kNone) {
            type = tensor_of(one, ElementType::kUndefined).element_type();
        }
    }
    Emitter<Surface> e;
    std::vector<lowering::MixedPart<typename Emitter<Surface>::Value>> parts;
    parts.reserve(leaves.size());
    for (const Argument& one : leaves) {
        parts.push_back({e.keep(tensor_of(one, type))});
    }
    return e.take(lowering::lower_mixed_list(e, dims, parts));
}

}  // namespace sardonyx::eager
