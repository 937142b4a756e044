// Checks and readings that inference functions of every family share. Each makes its Finding and
// gives back what is still certain; nothing is ever found in what is not known.
#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infer/node_context.h"

namespace sardonyx::infer {

inline constexpr std::string_view kImageLayout = "(batch, channel, spatial...)";

// The input's shape when its rank lies in [low, high]. Null when it is not known, or after a
// Finding. `layout` says in words what the dimensions are, as kImageLayout does.
const Shape* shape_of_rank(NodeContext& c, size_t input, int low, int high,
                           std::string_view layout = {});
inline const Shape* shape_of_rank(NodeContext& c, size_t input, int rank,
                                  std::string_view layout = {}) {
    return shape_of_rank(c, input, rank, rank, layout);
}

// The dim at `axis` (negative: from the end); unknown for a null shape and past its ends.
Dim dim_at(const Shape* shape, int axis);
// The same of an input, whatever its rank.
Dim input_dim(const NodeContext& c, size_t input, int axis);

// One dimension of one input; a negative axis counts from the end.
struct Place {
    size_t input;
    int axis;
};
// The size that two dimensions share, after a Finding when they certainly differ. `what` names it:
// "the batch size".
Dim same_dim(NodeContext& c, Place a, Place b, std::string_view what);
// A Finding when the dimension is certainly not `expected`; `reason` says where that comes from:
// "`hidden_size` is 4". Gives what is known of the size.
Dim expect_dim(NodeContext& c, Place place, const Dim& expected, std::string_view reason);

// An INT attribute (or its default); a Finding and nothing when it lies outside [low, high].
std::optional<int64_t> int_in_range(NodeContext& c, std::string_view attribute, int64_t low,
                                    int64_t high = INT64_MAX);
// An INT attribute that is 0 or 1; false when it is not known.
bool flag(NodeContext& c, std::string_view attribute);
// An INTS attribute of exactly `count` elements, each in [low, high]; `otherwise` for each element
// when the node does not have it. Nothing after a Finding, and when the value is not known.
std::optional<std::vector<int64_t>> ints_of_count(NodeContext& c, std::string_view attribute,
                                                  size_t count, int64_t otherwise, int64_t low,
                                                  int64_t high = INT64_MAX);
// The value of an attribute of a type that NodeContext does not read; null when absent or unbound.
template <typename T>
const T* attribute_value(const NodeContext& c, std::string_view attribute) {
    const ir::Attribute* found = c.attribute(attribute);
    return found != nullptr ? found->get<T>() : nullptr;
}

// The element type that an INT attribute such as `dtype` names; `otherwise` when it is absent or 0.
// A Finding when it names none, or one that output `output` does not take.
ElementType element_from_attribute(NodeContext& c, std::string_view attribute,
                                   ElementType otherwise, size_t output = 0);

// The integer in a tensor of one element, constant or symbolic; unknown otherwise.
Dim input_scalar(const NodeContext& c, size_t input);
// A Finding when an integer input of one element is certainly below `low`; else its value.
Dim scalar_at_least(NodeContext& c, size_t input, int64_t low);
// A Finding when the input is certainly not a scalar (rank 0; one element is let pass, as runtimes
// do).
void check_scalar(NodeContext& c, size_t input);

// Normalised axes without repetition; nothing after a Finding.
std::optional<std::vector<int>> normalize_axes(NodeContext& c, const std::vector<int64_t>& axes,
                                               int rank, std::string_view attribute);

// A dividend over a divisor that divides it without remainder by the operator's definition.
// Unknown when the divisor is not a positive number.
Dim exact_quotient(const Dim& dividend, int64_t divisor);

}  // namespace sardonyx::infer
