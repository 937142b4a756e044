// What emitters that make nodes of graphs say of values: a base for them.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/ir.h"

namespace sardonyx::lowering {

class GraphValues {
  public:
    using Value = ir::Value*;

    // kUndefined, -1 and nothing: not known, or null.
    static ElementType element(Value value) {
        return value != nullptr ? value->type.element_type() : ElementType::kUndefined;
    }
    static int rank(Value value) {
        return value != nullptr && value->type.has_shape()
                   ? static_cast<int>(value->type.shape().size())
                   : -1;
    }
    static int64_t dim(Value value, int64_t axis);
    // Whether an axis of one value has the size of an axis of another one in every run.
    static bool same_dim(Value value, int64_t axis, Value other, int64_t other_axis);
    // Whether `other` has the shape of `value` in every run, also where neither's rank is known.
    static bool same_shape(Value value, Value other);
    // Of one element.
    static std::optional<int64_t> known(Value value);
};

}  // namespace sardonyx::lowering
