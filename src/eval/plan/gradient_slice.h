// The part of a graph that a Gradient node names: the nodes that make `y` from `xs` and `zs`.
//
// A node is in the part when `y` needs it and it depends on a value of `xs` or `zs`. These values
// themselves are given to the node, whatever makes them in the graph. What the part reads and does
// not make is read from the graph around, like the outer values of a subgraph. The nodes may stand
// in the graph of the Gradient node and in the graphs around it, before or after it.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::eval {

inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";

// Gradients of gradients of ...; each order at least doubles the work.
inline constexpr int kMostOrders = 16;

bool is_gradient(const ir::Node& node);
// Whether one is among the nodes of the graph and its subgraphs.
bool has_gradient(const ir::Graph& graph);

struct GradientSlice {
    std::vector<const ir::Value*> variables;  // `xs`, then `zs`
    const ir::Value* y = nullptr;
    std::vector<const ir::Node*> nodes;  // in the order of execution
    std::vector<const ir::Value*>
        outer_reads;  // by the nodes; also `y` where none of them makes it
};

// Finds the parts for the Gradient nodes of one main graph or function body.
class GradientSlices {
  public:
    // Errors: names that are not there or twice, a node that differentiates itself, work beyond the
    // limits.
    Result<const GradientSlice*> of(const ir::Node& node);

  private:
    using Values = std::vector<const ir::Value*>;

    void index(const ir::Graph& root);
    Result<GradientSlice> find(const ir::Node& node);
    const ir::Value* find_value(const ir::Graph* graph, std::string_view name);
    Result<const ir::Value*> named(const ir::Node& node, std::string_view name);
    Result<std::vector<const ir::Node*>> needed(const ir::Node& node, const GradientSlice& slice);
    // All that the node reads: its inputs, and what its subgraphs and parts read from outside.
    Result<const Values*> reads(const ir::Node& node);
    const ir::Graph* around(const ir::Graph& graph) const;

    bool is_indexed_ = false;
    std::unordered_map<const ir::Node*, int64_t> positions_;  // a subgraph's after its node's
    std::unordered_map<const ir::Graph*, const ir::Node*> holders_;
    std::vector<const ir::Node*> gradients_;
    std::unordered_map<const ir::Graph*, std::unordered_map<std::string_view, const ir::Value*>>
        names_;
    std::unordered_map<const ir::Node*, Values> reads_;
    std::unordered_map<const ir::Node*, Result<GradientSlice>> slices_;
    int depth_ = 0;
    int64_t visits_ = 0;
};

}  // namespace sardonyx::eval
