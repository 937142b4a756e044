// A list of tensors and numbers as one tensor: `[n, -1]` where a tensor is needed.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "eager/emitter.h"
#include "lowering/literal.h"

namespace sardonyx::eager {

// The tensor, with the element type of the first tensor in it unless given; `reader` is one of
// lowering/literal.h, and `tensor_of(leaf)` the tensor of a leaf that is no literal.
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
    // The tensors first, because they settle the type of the literals between them.
    std::vector<Tensor> tensors(leaves.size());
    for (size_t i = 0; i < leaves.size(); ++i) {
        if (reader.kind(leaves[i]) == lowering::LiteralKind::kNone) {
            tensors[i] = tensor_of(leaves[i]);
            type = type == ElementType::kUndefined ? tensors[i].element_type() : type;
        }
    }
    Emitter<Surface> e;
    std::vector<lowering::MixedPart<typename Emitter<Surface>::Value>> parts;
    parts.reserve(leaves.size());
    for (size_t i = 0; i < leaves.size(); ++i) {
        bool is_literal = reader.kind(leaves[i]) != lowering::LiteralKind::kNone;
        parts.push_back(
            {e.keep(is_literal ? Surface::from_literal(leaves[i], type) : std::move(tensors[i]))});
    }
    return e.take(lowering::lower_mixed_list(e, dims, parts));
}

}  // namespace sardonyx::eager
