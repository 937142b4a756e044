#include "models/unused.h"

#include <algorithm>
#include <unordered_set>

#include "base/stop.h"
#include "ir/walk.h"

namespace sardonyx::models {
namespace {

using Values = std::unordered_set<const ir::Value*>;

// What the outputs of the graph need, over the nodes that make it.
Values needed_values(const ir::Graph& graph) {
    Values needed;
    std::vector<const ir::Value*> waiting;
    auto need = [&](const ir::Value& value) {
        if (needed.insert(&value).second) {
            waiting.push_back(&value);
        }
    };
    for (const ir::Value* output : graph.outputs) {
        need(*output);
    }
    std::unordered_set<const ir::Node*> seen;
    while (!waiting.empty()) {
        const ir::Node* node = waiting.back()->producer();
        waiting.pop_back();
        if (node != nullptr && seen.insert(node).second) {
            ir::for_each_read(*node, need);
        }
    }
    return needed;
}

// What the nodes inside of a node read.
void let_inner_go(ir::Node& node) {
    ir::for_each_subgraph(node, [](ir::Graph& graph) {
        for (ir::Node& inner : graph) {
            for (size_t i = 0; i < inner.input_count(); ++i) {
                inner.set_input(i, nullptr);
            }
            let_inner_go(inner);
        }
    });
}

void see_calls(const ir::Model& model, const ir::Graph& graph,
               std::vector<const ir::Function*>& waiting) {
    for (const ir::Node& node : graph) {
        stop_point();
        const ir::Function* callee = model.find_function(node.domain, node.op_type, node.overload);
        if (callee != nullptr) {
            waiting.push_back(callee);
        }
        ir::for_each_subgraph(node,
                              [&](const ir::Graph& inner) { see_calls(model, inner, waiting); });
    }
}

size_t remove_functions(ir::Model& model) {
    std::vector<const ir::Function*> waiting;
    std::unordered_set<const ir::Function*> called;
    see_calls(model, *model.graph, waiting);
    while (!waiting.empty()) {
        const ir::Function* one = waiting.back();
        waiting.pop_back();
        if (called.insert(one).second) {
            see_calls(model, *one->body, waiting);
        }
    }
    size_t before = model.functions.size();
    for (ir::Function* one : std::vector<ir::Function*>(model.functions)) {
        if (!called.contains(one)) {
            model.remove_function(one);
        }
    }
    return before - model.functions.size();
}

}  // namespace

void remove_nodes(const std::vector<ir::Node*>& nodes) {
    for (ir::Node* node : nodes) {
        for (size_t i = 0; i < node->input_count(); ++i) {
            node->set_input(i, nullptr);
        }
        let_inner_go(*node);
    }
    for (ir::Node* node : nodes) {
        node->graph()->remove(node);
    }
}

Removed remove_unused(ir::Model& model) {
    Removed removed;
    ir::Graph& graph = *model.graph;
    Values needed = needed_values(graph);
    std::vector<ir::Node*> dead;
    for (ir::Node& node : graph) {
        if (std::none_of(node.outputs().begin(), node.outputs().end(),
                         [&](const ir::Value* output) { return needed.contains(output); })) {
            dead.push_back(&node);
        }
    }
    removed.nodes = dead.size();
    remove_nodes(dead);
    for (ir::Value* initializer : std::vector<ir::Value*>(graph.initializers)) {
        if (!initializer->is_graph_input() && !needed.contains(initializer)) {
            model.remove_initializer(initializer);
            ++removed.initializers;
        }
    }
    removed.functions = remove_functions(model);
    return removed;
}

}  // namespace sardonyx::models
