// What emitters that make nodes of graphs say of values.
#include "lowering/graph_values.h"

#include <vector>

namespace sardonyx::lowering {

int64_t GraphValues::dim(Value value, int64_t axis) {
    if (rank(value) < 0) {
        return -1;
    }
    const Shape& shape = value->type.shape();
    axis += axis < 0 ? rank(value) : 0;
    bool is_known = axis >= 0 && axis < rank(value) && shape[static_cast<size_t>(axis)].is_static();
    return is_known ? shape[static_cast<size_t>(axis)].value() : -1;
}

std::optional<int64_t> GraphValues::known(Value value) {
    if (value == nullptr || !value->constant || value->constant->count() != 1) {
        return std::nullopt;
    }
    std::optional<std::vector<int64_t>> values = to_int64s(*value->constant);
    return values ? std::optional<int64_t>(values->front()) : std::nullopt;
}

}  // namespace sardonyx::lowering
