// What emitters that make nodes of graphs say of values.
#include "lowering/graph_values.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace sardonyx::lowering {

namespace {

// Null: the value has no known shape, or no such axis.
const Dim* find_dim(ir::Value* value, int64_t axis) {
    int rank = GraphValues::rank(value);
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < rank ? &value->type.shape()[static_cast<size_t>(axis)] : nullptr;
}

// Operators whose result has the shape of their first input, and those that broadcast.
constexpr std::string_view kOfOne[] = {"Abs",   "Cast",  "CastLike", "Identity",
                                       "IsInf", "IsNaN", "Neg",      "Not"};
constexpr std::string_view kOfSeveral[] = {
    "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
    "Mod", "Mul", "Or",  "Sub",   "Xor"};
constexpr int kSteps = 6;  // of a chain that is followed

enum class ShapeFit : uint8_t { kBroadcasts, kIsSame };

// Whether the shape of a value fits that of `value`.
bool fits_shape_of(ir::Value* value, ir::Value* other, ShapeFit wanted, int steps) {
    if (other == value || other == nullptr) {
        return other == value;
    }
    if (wanted == ShapeFit::kBroadcasts && GraphValues::rank(other) == 0) {
        return true;
    }
    ir::Node* node = other->producer();
    if (node == nullptr || !node->domain.empty() || steps == 0) {
        return false;
    }
    if (std::ranges::find(kOfOne, node->op_type) != std::end(kOfOne)) {
        return fits_shape_of(value, node->input(0), wanted, steps - 1);
    }
    if (std::ranges::find(kOfSeveral, node->op_type) == std::end(kOfSeveral)) {
        return false;
    }
    auto broadcasts = [&](const ir::Use& input) {
        return fits_shape_of(value, input.value, ShapeFit::kBroadcasts, steps - 1);
    };
    auto is_same = [&](const ir::Use& input) {
        return fits_shape_of(value, input.value, ShapeFit::kIsSame, steps - 1);
    };
    return std::ranges::all_of(node->inputs(), broadcasts) &&
           (wanted == ShapeFit::kBroadcasts || std::ranges::any_of(node->inputs(), is_same));
}

}  // namespace

bool GraphValues::same_shape(Value value, Value other) {
    return fits_shape_of(value, other, ShapeFit::kIsSame, kSteps);
}

int64_t GraphValues::dim(Value value, int64_t axis) {
    const Dim* found = find_dim(value, axis);
    return found != nullptr && found->is_static() ? found->value() : -1;
}

bool GraphValues::same_dim(Value value, int64_t axis, Value other, int64_t other_axis) {
    const Dim* one = find_dim(value, axis);
    const Dim* two = find_dim(other, other_axis);
    return one != nullptr && two != nullptr && one->equals(*two);
}

std::optional<int64_t> GraphValues::known(Value value) {
    if (value == nullptr || !value->constant || value->constant->count() != 1) {
        return std::nullopt;
    }
    std::optional<std::vector<int64_t>> values = to_int64s(*value->constant);
    return values ? std::optional<int64_t>(values->front()) : std::nullopt;
}

}  // namespace sardonyx::lowering
