// What flows along an edge at run time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "types/tensor.h"

namespace sardonyx::eval {

class RuntimeValue;

// A sequence carries its element type for when it is empty. Shared: copying is cheap, elements are
// not written once shared.
struct Sequence {
    ElementType element_type = ElementType::kUndefined;
    std::vector<RuntimeValue> items;
};

// A map of ai.onnx.ml: keys (INT64 or STRING) and their values, two tensors of rank 1 and one
// length. No key is there twice.
struct Map {
    Tensor keys;
    Tensor values;
};

// Error: keys of another type, other than one value for each key, or a key that is there twice.
Result<std::shared_ptr<const Map>> make_map(Tensor keys, Tensor values);

// What flows along an edge at run time: nothing (an optional without element, or an input left
// out), a tensor, a sequence, or a map.
class RuntimeValue {
  public:
    RuntimeValue() = default;
    RuntimeValue(Tensor tensor) : value_(std::move(tensor)) {}
    RuntimeValue(std::shared_ptr<const Sequence> sequence) : value_(std::move(sequence)) {}
    RuntimeValue(std::shared_ptr<const Map> map) : value_(std::move(map)) {}
    RuntimeValue(const RuntimeValue&) = default;
    RuntimeValue(RuntimeValue&&) noexcept = default;
    ~RuntimeValue() = default;

    RuntimeValue& operator=(const RuntimeValue&) = default;
    // Tensors and nothing, which most values are, without the variant's table of functions.
    RuntimeValue& operator=(RuntimeValue&& other) noexcept {
        if (Tensor* tensor = std::get_if<Tensor>(&other.value_)) {
            *this = std::move(*tensor);
        } else if (!other.is_none()) {
            value_ = std::move(other.value_);
        } else if (!is_none()) {
            value_.emplace<std::monostate>();
        }
        variable_ = other.variable_;
        return *this;
    }
    RuntimeValue& operator=(Tensor&& tensor) noexcept {
        if (Tensor* mine = std::get_if<Tensor>(&value_)) {
            *mine = std::move(tensor);
        } else {
            value_.emplace<Tensor>(std::move(tensor));
        }
        variable_ = 0;
        return *this;
    }

    bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
    bool is_sequence() const {
        return std::holds_alternative<std::shared_ptr<const Sequence>>(value_);
    }
    bool is_map() const { return std::holds_alternative<std::shared_ptr<const Map>>(value_); }
    const Tensor& tensor() const { return std::get<Tensor>(value_); }
    Tensor& tensor() { return std::get<Tensor>(value_); }
    const Sequence& sequence() const { return *sequence_pointer(); }
    const std::shared_ptr<const Sequence>& sequence_pointer() const {
        return std::get<std::shared_ptr<const Sequence>>(value_);
    }

    const Map& map() const { return *std::get<std::shared_ptr<const Map>>(value_); }

    // The variable of a running Gradient that it is the value of (tape.h); 0: of none.
    int64_t variable() const { return variable_; }
    void set_variable(int64_t variable) { variable_ = variable; }

    // "FLOAT[2,3]", "Sequence[FLOAT] of 3", "Map[INT64, FLOAT] of 2", "None".
    std::string describe() const;

  private:
    std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>,
                 std::shared_ptr<const Map>>
        value_;
    int64_t variable_ = 0;
};

}  // namespace sardonyx::eval
