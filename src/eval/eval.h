// Evaluation: kernels behind one dispatch table, and the runner of graphs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"
#include "types/tensor.h"

namespace sardonyx::eval {

class Interrupt;
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

// What flows along an edge at run time: nothing (an optional without element, or an input left
// out), a tensor, a sequence, or a map.
class RuntimeValue {
  public:
    RuntimeValue() = default;
    RuntimeValue(Tensor tensor) : value_(std::move(tensor)) {}
    RuntimeValue(std::shared_ptr<const Sequence> sequence) : value_(std::move(sequence)) {}
    RuntimeValue(std::shared_ptr<const Map> map) : value_(std::move(map)) {}

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

struct RunOptions {
    int64_t max_steps = INT64_MAX;          // loop iterations and nodes in all; beyond: an error
    int64_t max_bytes = int64_t{16} << 30;  // of one tensor
    uint64_t seed = 0;                      // for random operators that have no `seed` attribute
    int threads = 0;                        // 0: the cores; results do not depend on it
    Interrupt* interrupt = nullptr;         // of this run alone (interrupt.h); null: none
};

// A model prepared for running: each node knows its kernel, and each value its place. It is never
// changed, so that several threads may run it at once.
class Plan;

// Prepares the main graph and the functions that it calls. The model must outlive the plan, and
// must not be changed. Errors: the model is a function; an unknown operator or one without a
// kernel, attributes that do not fit, graphs nested too deep.
Result<std::shared_ptr<const Plan>> prepare(const ir::Model& model);

// Runs the main graph. `inputs` go to the graph inputs by name; inputs that have a default may be
// left out. The results are those of the graph's outputs, in order. Errors name the node, its
// operator, and the types involved.
Result<std::vector<RuntimeValue>> run(
    const Plan& plan, std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
    const RunOptions& options = {});

// Prepares the model and runs it once.
Result<std::vector<RuntimeValue>> run_model(
    const ir::Model& model, std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
    const RunOptions& options = {});

// Runs one operator at once: the eager entry. `attributes` are as on a node.
Result<std::vector<RuntimeValue>> run_operator(std::string_view domain, std::string_view op_type,
                                               int64_t opset_version,
                                               std::span<const RuntimeValue> inputs,
                                               std::span<const ir::Attribute> attributes,
                                               size_t output_count, const RunOptions& options = {});

// Runs a function of the model on these inputs, with these attributes of the call.
Result<std::vector<RuntimeValue>> run_function(const ir::Model& model, const ir::Function& function,
                                               std::span<const RuntimeValue> inputs,
                                               std::span<const ir::Attribute> attributes,
                                               const RunOptions& options = {});

}  // namespace sardonyx::eval
