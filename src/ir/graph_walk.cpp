#include "ir/graph_walk.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace sardonyx::ir {
namespace {

// The first node of the graph that was behind `gone` when that was taken out.
Node* first_behind(const Graph& graph, const Node& gone) {
    Node* node = graph.first_node();
    while (node != nullptr && !gone.is_before(*node)) {
        node = node->next();
    }
    return node;
}

}  // namespace

size_t node_count(const Graph& graph) {
    size_t nodes = 0;
    for (const Node* node = graph.first_node(); node != nullptr; node = node->next()) {
        ++nodes;
    }
    return nodes;
}

bool encloses(const Graph& outer, const Graph* graph) {
    while (graph != nullptr && graph != &outer) {
        graph = graph->parent();
    }
    return graph != nullptr;
}

Node& node_at(const Graph& graph, size_t index) {
    size_t count = node_count(graph);
    SDX_CHECK(index < count);
    bool from_end = index > count / 2;
    Node* node = from_end ? graph.last_node() : graph.first_node();
    for (size_t i = from_end ? count - 1 - index : index; i > 0; --i) {
        node = from_end ? node->previous() : node->next();
    }
    return *node;
}

bool is_graph_output(const Value& value) {
    const std::vector<Value*>& outputs = value.graph()->outputs;
    return std::find(outputs.begin(), outputs.end(), &value) != outputs.end();
}

Value* find_own_value(const Graph& graph, std::string_view name) {
    Value* found = nullptr;
    for_each_own_value(graph, [&](Value* value) { found = value->name == name ? value : found; });
    return found;
}

Node* NodeCursor::advance() {
    if (!has_begun_) {
        current_ = graph_->first_node();
    } else if (current_ != nullptr && current_->graph() == graph_) {
        current_ = current_->next();
    } else if (current_ != nullptr) {
        bool is_there = next_ != nullptr && next_->graph() == graph_;
        current_ = is_there || next_ == nullptr ? next_ : first_behind(*graph_, *next_);
    }
    has_begun_ = true;
    next_ = current_ != nullptr ? current_->next() : nullptr;
    return current_;
}

}  // namespace sardonyx::ir
