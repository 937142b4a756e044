// What emitters that make nodes of graphs say of values.
#include "lowering/graph_values.h"

#include <vector>

namespace sardonyx::lowering {

namespace {

// Null: the value has no known shape, or no such axis.
const Dim* find_dim(ir::Value* value, int64_t axis) {
    int rank = GraphValues::rank(value);
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < rank ? &value->type.shape()[static_cast<size_t>(axis)] : nullptr;
}

}  // namespace

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
