// Values of a graph, found by their names.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::models {

// The value of the main graph. Error: there is none of this name, with one that is near; or it
// stands in a subgraph, where nothing outside can name it.
Result<ir::Value*> find_value(const ir::Model& model, std::string_view name);
// What there is in place of a name that is not: "; did you mean `x`?", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> names);

// Whether it is stored in the model: an initializer that no caller can replace, or the output of a
// Constant node.
bool is_stored(const ir::Value& value);

// The tensor of an initializer or of a Constant node; null: it is neither, or no tensor.
const Tensor* stored_tensor(const ir::Value& value);

// Calls visit(ir::Value&) for inputs, initializers and outputs of nodes of the graph and of all
// graphs in it, in order; an initializer that is an input comes once.
void for_each_value(const ir::Graph& graph, const std::function<void(ir::Value&)>& visit);
// Calls visit(ir::Value&) for the outputs of the node, and for all values of its graphs.
void for_each_result(const ir::Node& node, const std::function<void(ir::Value&)>& visit);
// Calls visit(ir::Graph&) for the graph and all in it.
void for_each_graph(ir::Graph& graph, const std::function<void(ir::Graph&)>& visit);

// Error where the model has notes of quantization or training. These name values, which nobody
// follows: `words` says what becomes of them, as in "would be lost".
Result<void> check_notes(const ir::Model& model, std::string_view whose, std::string_view words);

// Error where the model is a file of functions alone.
Result<ir::Graph*> main_graph(ir::Model& model);

}  // namespace sardonyx::models
