// The emitter that lowering/operators.h asks for, where each node that is emitted runs at once:
// Python's operators and subscripts on tensors are this and the templates of lowering/.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "eager/surface.h"
#include "eval/dispatch/dispatch.h"
#include "ir/ir.h"

namespace sardonyx::eager {

// A Value points to an operand, which the caller keeps, or to a result, which the emitter keeps.
template <typename Surface>
class Emitter {
  public:
    using Value = const RuntimeValue*;

    explicit Emitter(Surface surface = {}) : surface_(std::move(surface)) {}

    Value emit(std::string_view op_type, std::initializer_list<Value> inputs,
               std::initializer_list<ir::Attribute> attributes = {}) {
        return emit_variadic(op_type, {inputs.begin(), inputs.size()}, attributes);
    }
    Value emit_variadic(std::string_view op_type, std::span<const Value> inputs,
                        std::initializer_list<ir::Attribute> attributes = {}) {
        const eval::OperatorEntry* entry = eval::find_operator("", op_type, opset());
        SDX_CHECK(entry != nullptr);
        RuntimeValue& result = kept_.emplace_back();
        surface_.evaluate(*entry, opset(), inputs, {attributes.begin(), attributes.size()},
                          {&result, 1});
        return &result;
    }
    ElementType element(Value value) const {
        return value->is_tensor() ? value->tensor().element_type() : ElementType::kUndefined;
    }
    int rank(Value value) const { return value->is_tensor() ? value->tensor().rank() : -1; }
    int64_t dim(Value value, int64_t axis) const {
        axis += axis < 0 ? rank(value) : 0;
        return axis >= 0 && axis < rank(value) ? value->tensor().dims()[static_cast<size_t>(axis)]
                                               : -1;
    }
    bool same_dim(Value value, int64_t axis, Value other, int64_t other_axis) const {
        return dim(value, axis) >= 0 && dim(value, axis) == dim(other, other_axis);
    }
    bool same_shape(Value value, Value other) const {
        return rank(value) >= 0 && rank(other) == rank(value) &&
               std::ranges::equal(value->tensor().dims(), other->tensor().dims());
    }
    std::optional<int64_t> known(Value value) const {
        if (!value->is_tensor() || value->tensor().count() != 1) {
            return std::nullopt;
        }
        std::optional<std::vector<int64_t>> values = to_int64s(value->tensor());
        return values ? std::optional<int64_t>(values->front()) : std::nullopt;
    }
    bool is_size(Value /*value*/) const { return false; }
    Value int64s(std::vector<int64_t> values) {
        return keep(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
    }
    Value int64_scalar(int64_t value) { return keep(Tensor::scalar(value)); }
    Value scalar_like(Value like, double value) {
        Result<Tensor> scalar = tensor_from_doubles(element(like), {}, {&value, 1});
        if (!scalar.ok()) {
            Surface::refuse(Wrong::kEvaluation, scalar.error().message);
        }
        return keep(std::move(*scalar));
    }
    // Every operator that lowering/ asks for is in it, and other evaluators, which lag behind the
    // newest opset, know it.
    int64_t opset() const { return 21; }
    Value fail(const std::string& message, const std::string& help) {
        Surface::refuse(Wrong::kType, message + ": " + help);
        return nullptr;
    }
    Value fail_index(const std::string& message, const std::string& help) {
        Surface::refuse(Wrong::kIndex, message + ": " + help);  // ends a loop over x[0], x[1], ...
        return nullptr;
    }

    template <typename Kept>
    Value keep(Kept&& value) {
        return &kept_.emplace_back(std::forward<Kept>(value));
    }
    // The tensor that a Value is; the emitter's last result leaves it.
    Tensor take(Value value) {
        if (!kept_.empty() && value == &kept_.back()) {
            return std::move(kept_.back().tensor());
        }
        return value->tensor();
    }

  private:
    [[no_unique_address]] Surface surface_;
    // Most expressions have few results: their nodes lie here, not on the heap.
    std::array<std::byte, 1024> buffer_;
    std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
    std::pmr::list<RuntimeValue> kept_{&memory_};
};

}  // namespace sardonyx::eager
