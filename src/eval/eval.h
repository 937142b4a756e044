// Evaluation: models, functions of them and single operators run on values.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "eval/runtime/run_options.h"
#include "eval/runtime/value.h"
#include "ir/ir.h"

namespace sardonyx::eval {

class CustomOperators;
class RunObserver;

// A model prepared for running: each node knows its kernel, and each value its place. It is never
// changed, so that several threads may run it at once.
class Plan;

// Prepares the main graph and the functions that it calls. The model must outlive the plan, and
// must not be changed. Errors: the model is a function; an unknown operator or one without a
// kernel, attributes that do not fit, graphs nested too deep. `custom`: kernels of the user's, if
// any (dispatch/custom.h).
Result<std::shared_ptr<const Plan>> prepare(
    const ir::Model& model, std::shared_ptr<const CustomOperators> custom = nullptr);

// Runs the main graph. `inputs` go to the graph inputs by name; inputs that have a default may be
// left out. The results are those of the graph's outputs, in order. Errors name the node, its
// operator, and the types involved.
Result<std::vector<RuntimeValue>> run(
    const Plan& plan, std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
    const RunOptions& options = {});

// As run(), and shows each node to the observer (run/observer.h).
Result<std::vector<RuntimeValue>> run(
    const Plan& plan, std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
    const RunOptions& options, RunObserver* observer);

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
