#include "eval/plan/gradient_slice.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {
namespace {

// Nodes that are looked at for all the Gradient nodes of a graph together.
constexpr int64_t kMostVisits = int64_t{1} << 24;

template <typename Body>
void for_each_graph(const ir::Node& node, const Body& body) {
    for (const ir::Attribute& attribute : node.attributes) {
        if (ir::Graph* const* graph = attribute.get<ir::Graph*>();
            graph != nullptr && *graph != nullptr) {
            body(**graph);
        }
    }
}

Result<std::vector<std::string>> names_of(const ir::Node& node, std::string_view attribute) {
    const ir::Attribute* found = node.find_attribute(attribute);
    if (found == nullptr) {
        return std::vector<std::string>();
    }
    if (found->is_reference()) {
        return Error{
            fmt::format("attribute `{}` refers to the function's parameter `{}`, but names values "
                        "of the graph around the node: write the names into the attribute",
                        attribute, found->reference)};
    }
    if (const auto* name = found->get<std::string>()) {
        return std::vector<std::string>{*name};
    }
    const auto* names = found->get<std::vector<std::string>>();
    return names != nullptr ? *names : std::vector<std::string>();
}

}  // namespace

bool is_gradient(const ir::Node& node) {
    return node.op_type == "Gradient" && node.domain == kTrainingDomain;
}

bool has_gradient(const ir::Graph& graph) {
    std::vector<const ir::Graph*> stack{&graph};  // graphs may be nested deep
    while (!stack.empty()) {
        const ir::Graph& next = *stack.back();
        stack.pop_back();
        for (const ir::Node& node : next) {
            if (is_gradient(node)) {
                return true;
            }
            for_each_graph(node, [&](const ir::Graph& inner) { stack.push_back(&inner); });
        }
    }
    return false;
}

void GradientSlices::index(const ir::Graph& root) {
    // Without recursion: graphs may be nested deep. A node's subgraphs come right after it.
    std::vector<const ir::Node*> stack;
    auto push_reversed = [&](const ir::Graph& graph) {
        for (const ir::Node* node = graph.last_node(); node != nullptr; node = node->previous()) {
            stack.push_back(node);
        }
    };
    push_reversed(root);
    while (!stack.empty()) {
        const ir::Node* node = stack.back();
        stack.pop_back();
        positions_.emplace(node, static_cast<int64_t>(positions_.size()));
        if (is_gradient(*node)) {
            gradients_.push_back(node);
        }
        for_each_graph(*node, [&](const ir::Graph& graph) {
            if (holders_.emplace(&graph, node).second) {
                push_reversed(graph);
            }
        });
    }
}

const ir::Graph* GradientSlices::around(const ir::Graph& graph) const {
    auto holder = holders_.find(&graph);
    return holder == holders_.end() ? nullptr : holder->second->graph();
}

Result<const GradientSlice*> GradientSlices::of(const ir::Node& node) {
    if (!is_indexed_) {
        is_indexed_ = true;
        const ir::Graph* root = node.graph();
        while (root->parent() != nullptr) {
            root = root->parent();
        }
        index(*root);
        // In this order no part has to wait for many others.
        for (const ir::Node* gradient : gradients_) {
            (void)of(*gradient);
        }
    }
    auto found = slices_.find(&node);
    if (found == slices_.end()) {
        // While it is being found, it is needed by itself.
        slices_.emplace(&node, Error{"the gradient depends on itself: `y` is made from an output "
                                     "of this node; name a value that is not"});
        ++depth_;
        Result<GradientSlice> slice = find(node);
        --depth_;
        found = slices_.insert_or_assign(&node, std::move(slice)).first;
    }
    if (!found->second.ok()) {
        return found->second.error();
    }
    return &found->second.value();
}

const ir::Value* GradientSlices::find_value(const ir::Graph* graph, std::string_view name) {
    auto [found, is_new] = names_.try_emplace(graph);
    if (is_new) {
        for (const ir::Value* value : graph->inputs) {
            found->second.emplace(value->name, value);
        }
        for (const ir::Value* value : graph->initializers) {
            found->second.emplace(value->name, value);
        }
        for (const ir::Node& node : *graph) {
            for (const ir::Value* value : node.outputs()) {
                found->second.emplace(value->name, value);
            }
        }
    }
    auto value = found->second.find(name);
    return value == found->second.end() ? nullptr : value->second;
}

Result<const ir::Value*> GradientSlices::named(const ir::Node& node, std::string_view name) {
    for (const ir::Graph* graph = node.graph(); graph != nullptr && !name.empty();
         graph = around(*graph)) {
        if (const ir::Value* value = find_value(graph, name)) {
            return value;
        }
    }
    return Error{fmt::format(
        "there is no value `{}` in the graph around the node: `xs`, `zs` and `y` name inputs, "
        "initializers and outputs of nodes of that graph",
        name)};
}

Result<const GradientSlices::Values*> GradientSlices::reads(const ir::Node& node) {
    if (auto found = reads_.find(&node); found != reads_.end()) {
        return &found->second;
    }
    Values values;
    for (const ir::Use& input : node.inputs()) {
        values.push_back(input.value);
    }
    // The nodes of its subgraphs, which also read what they make: that is made nowhere else.
    std::vector<const ir::Node*> stack;
    auto add_graph = [&](const ir::Graph& graph) {
        for (const ir::Node& inner : graph) {
            stack.push_back(&inner);
        }
        values.insert(values.end(), graph.outputs.begin(), graph.outputs.end());
    };
    for_each_graph(node, add_graph);
    if (is_gradient(node)) {
        SDX_ASSIGN(const GradientSlice* slice, of(node));
        values.insert(values.end(), slice->outer_reads.begin(), slice->outer_reads.end());
    }
    while (!stack.empty()) {
        const ir::Node* inner = stack.back();
        stack.pop_back();
        ++visits_;
        for (const ir::Use& input : inner->inputs()) {
            values.push_back(input.value);
        }
        for_each_graph(*inner, add_graph);
        if (is_gradient(*inner)) {
            SDX_ASSIGN(const GradientSlice* slice, of(*inner));
            values.insert(values.end(), slice->outer_reads.begin(), slice->outer_reads.end());
        }
    }
    return &reads_.emplace(&node, std::move(values)).first->second;
}

// The nodes that `y` needs, up to the variables, in the order of execution.
Result<std::vector<const ir::Node*>> GradientSlices::needed(const ir::Node& node,
                                                            const GradientSlice& slice) {
    std::unordered_set<const ir::Graph*> in_sight;
    std::unordered_set<const ir::Node*> seen;
    for (const ir::Graph* graph = node.graph(); graph != nullptr; graph = around(*graph)) {
        in_sight.insert(graph);
    }
    std::unordered_set<const ir::Value*> variables(slice.variables.begin(), slice.variables.end());
    std::vector<const ir::Node*> nodes;
    std::vector<const ir::Node*> pending;
    auto add_producer = [&](const ir::Value* value) {
        const ir::Node* producer = value != nullptr ? value->producer() : nullptr;
        if (producer != nullptr && in_sight.count(producer->graph()) != 0 &&
            variables.count(value) == 0 && seen.insert(producer).second) {
            pending.push_back(producer);
        }
    };
    add_producer(slice.y);
    while (!pending.empty()) {
        if (++visits_ > kMostVisits) {
            return Error{
                fmt::format("the graph's Gradient nodes name parts with more than {} "
                            "nodes together: use fewer of them",
                            kMostVisits)};
        }
        nodes.push_back(pending.back());
        pending.pop_back();
        SDX_ASSIGN(const Values* values, reads(*nodes.back()));
        std::for_each(values->begin(), values->end(), add_producer);
    }
    std::sort(nodes.begin(), nodes.end(), [&](const ir::Node* a, const ir::Node* b) {
        return positions_.at(a) < positions_.at(b);
    });
    return nodes;
}

Result<GradientSlice> GradientSlices::find(const ir::Node& node) {
    if (depth_ > kMostOrders) {
        return Error{
            fmt::format("gradients of gradients are nested more than {} deep", kMostOrders)};
    }
    GradientSlice slice;
    SDX_ASSIGN(std::vector<std::string> xs, names_of(node, "xs"));
    SDX_ASSIGN(std::vector<std::string> zs, names_of(node, "zs"));
    SDX_ASSIGN(std::vector<std::string> y, names_of(node, "y"));
    std::unordered_set<const ir::Value*> dependent;
    if (node.output_count() > xs.size()) {
        return Error{fmt::format("{} outputs, but `xs` names {} values, each of which has one",
                                 node.output_count(), xs.size())};
    }
    xs.insert(xs.end(), zs.begin(), zs.end());
    for (const std::string& name : xs) {
        SDX_ASSIGN(const ir::Value* value, named(node, name));
        if (!dependent.insert(value).second) {
            return Error{fmt::format(
                "`xs` and `zs` name `{}` twice: one value cannot have two inputs", name)};
        }
        slice.variables.push_back(value);
    }
    if (node.input_count() != slice.variables.size()) {
        return Error{fmt::format(
            "{} inputs, but `xs` and `zs` name {} values: give one input for each name, first for "
            "`xs`, then for `zs`",
            node.input_count(), slice.variables.size())};
    }
    SDX_ASSIGN(slice.y, named(node, y.empty() ? std::string() : y[0]));
    SDX_ASSIGN(std::vector<const ir::Node*> nodes, needed(node, slice));
    for (const ir::Node* inner : nodes) {
        SDX_ASSIGN(const Values* values, reads(*inner));
        if (std::none_of(values->begin(), values->end(),
                         [&](const ir::Value* value) { return dependent.count(value) != 0; })) {
            continue;
        }
        slice.nodes.push_back(inner);
        dependent.insert(inner->outputs().begin(), inner->outputs().end());
    }
    std::unordered_set<const ir::Value*> listed;
    auto add_read = [&](const ir::Value* value) {
        if (value != nullptr && dependent.count(value) == 0 && listed.insert(value).second) {
            slice.outer_reads.push_back(value);
        }
    };
    for (const ir::Node* inner : slice.nodes) {
        SDX_ASSIGN(const Values* values, reads(*inner));
        std::for_each(values->begin(), values->end(), add_read);
    }
    add_read(slice.y);
    return slice;
}

}  // namespace sardonyx::eval
