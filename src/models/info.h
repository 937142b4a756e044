// What a model is: its interface, its operators, its weights, and what a run costs.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "models/costs.h"

namespace sardonyx::models {

using Sizes = std::vector<std::pair<std::string, int64_t>>;  // of named dimensions

struct NamedType {
    std::string name, type;
};

struct OperatorCount {
    std::string domain, name;  // "ai.onnx"
    size_t count = 0;          // of nodes in the graph and all graphs in it
    bool is_function = false;  // of the model
};

struct FunctionInfo {
    std::string name;  // "domain:name" and ":overload" where it has one
    size_t nodes = 0, calls = 0;
};

struct NodeInfo {
    std::string name;  // its own, or its first output
    std::string op;
    std::string type;  // of the first output
    Cost cost;
};

struct WeightKind {
    std::string type;
    size_t tensors = 0;
    int64_t elements = 0, bytes = 0;
};

struct Info {
    std::string graph, producer, doc;
    int64_t ir_version = 0, model_version = 0;
    std::vector<std::pair<std::string, int64_t>> opsets;
    std::vector<std::pair<std::string, std::string>> metadata;
    std::string runtime;  // the release of ONNX Runtime that it needs; empty: none is known
    std::vector<NamedType> inputs, outputs;
    std::vector<OperatorCount> operators;  // the most frequent first
    std::vector<FunctionInfo> functions;
    std::vector<WeightKind> weights;  // by element type
    int64_t parameters = 0, weight_bytes = 0;
    std::vector<NodeInfo> nodes;  // of the graph, in its order; a call costs what its body does
    Dim operations;               // of all nodes that are known
    std::vector<OperatorCount> uncounted;  // the operators of the others
    Peak peak;
    std::vector<std::string> dims;  // the names that sizes have
};

// Error: there is no graph, or a size is of no dimension.
Result<Info> describe(const ir::Model& model, const Sizes& sizes);

// For people: what matters, and with `lists_nodes` a line for each node.
std::string info_text(const Info& info, bool lists_nodes);
std::string info_json(const Info& info);
// The list that is `nodes` there, or a part of it.
std::string nodes_json(std::span<const NodeInfo> nodes);

}  // namespace sardonyx::models
