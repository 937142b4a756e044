// Shape computations: the elements of small integer tensors, as numbers and expressions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "infer/node_context.h"

namespace sardonyx::infer {

// Whether the input can have contents at all: an integer or BOOL tensor of rank 0 or 1. Cheap, so
// that operators on large tensors pay nothing.
bool may_have_contents(const NodeContext& c, size_t input);

// One element of the result from one element of each argument.
using Fold = Dim (*)(std::span<const Dim> arguments);

// Gives output 0 the contents that `fold` makes of the elements of the first `count` inputs, which
// broadcast. Nothing happens unless all of them can have contents.
void fold_elementwise(NodeContext& c, size_t count, Fold fold);

// A comparison that the Dims decide is 1 or 0, else unknown.
Dim is_equal(const Dim& a, const Dim& b);
Dim is_less(const Dim& a, const Dim& b);

// max and min that see when one argument is certainly the greater.
Dim greater_of(const Dim& a, const Dim& b);
Dim lesser_of(const Dim& a, const Dim& b);

// Division that rounds towards zero, as integer Div does.
Dim truncated_div(const Dim& a, const Dim& b);

// Output 0, whose shape has been set, has the elements of input 0 in the same order.
void pass_contents(NodeContext& c);

// A list that old versions of an operator take as an attribute and newer ones as an input.
struct ListArgument {
    bool is_given = false;
    int input = -1;                          // -1: it is an attribute
    std::string_view attribute;              // empty: it is an input
    std::optional<std::vector<Dim>> values;  // nothing: not even the length is known

    // The values, when all of them are numbers.
    std::optional<std::vector<int64_t>> ints() const;
    // A Finding at the argument.
    [[gnu::cold]] void fail(NodeContext& c, const diagnostics::Kind& kind, std::string message,
                            std::string help = {}) const;
};
ListArgument list_argument(const NodeContext& c, std::string_view attribute, size_t input);

// The axes of the list as distinct numbers of [0, rank); Findings, and nothing, when they are not.
// Nothing also when they are not all known.
std::optional<std::vector<int>> normalize_axes(NodeContext& c, const ListArgument& axes, int rank);

// The exact quotient of two products of sizes, none of which is 0; unknown when there is none.
Dim quotient_of_sizes(const Dim& dividend, const Dim& divisor);

// Where a slice of an axis begins and how many elements it takes (ONNX Slice; NumPy's rules).
struct SliceRange {
    Dim start;
    Dim count;
};
SliceRange slice_range(const Dim& size, const Dim& start, const Dim& end, const Dim& step);

}  // namespace sardonyx::infer
