// Which argument of an operator its result is a view of, where more than its name says it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// The place of the argument that a view is of, or of the list that holds it.
size_t viewed_place(std::string_view packet);

// The argument itself: of a list of tensors the one whose place the part has.
template <typename AnyNode>
auto& viewed_argument(AnyNode& node, std::optional<int64_t> part) {
    auto& given = node.args[std::min(viewed_place(packet_of(node.target)), node.args.size() - 1)];
    auto at = static_cast<size_t>(part.value_or(0));
    return given.is_sequence() && at < given.items.size() ? given.items[at] : given;
}

// Whether each result is a view of the tensor that has its place in the list that it is given.
bool views_each(const Node& node);

// Whether the result shares the memory of a tensor in the list that it is given; nothing: the
// operator takes no list.
std::optional<bool> shares_listed(const Node& node);

// The equation that undoes an equation of einsum such as `ij->ji`; empty: there is none.
std::string transpose_back(std::string equation);

// Of an equation of einsum such as `bii->ib`, which takes a diagonal: the axis of the result that
// each axis of the tensor has, here 1, 0, 0. Empty: it sums, or has `...`.
std::vector<int64_t> axes_of_diagonal(std::string equation);

}  // namespace sardonyx::torch
