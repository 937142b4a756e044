// Functions put in the place of their calls.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "ir/ir.h"

namespace sardonyx::models {

// Replaces each call of a function of the model, in the graph and all graphs in it, by the nodes
// of its body, until there is none left, or `limit` nodes have come (calls of calls multiply, and a
// circle of calls never ends). Gives for each node of the main graph the number of the node there
// that it was, or that it has come for.
using Origins = std::unordered_map<const ir::Node*, size_t>;
Origins inline_calls(ir::Model& model, size_t limit = 200'000);
// The same of the functions of one domain alone.
Origins inline_domain(ir::Model& model, std::string_view domain, size_t limit = 200'000);
// The same of the calls in the main graph that leave out an input or a required attribute of their
// function, or whose function has such calls. ONNX permits them, and Python does not.
Origins inline_incomplete_calls(ir::Model& model, size_t limit = 200'000);
bool has_incomplete_calls(const ir::Model& model);

}  // namespace sardonyx::models
