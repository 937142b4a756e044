// Edits of values, graph outputs and what is of the whole model; and what edits make unknown.
#include <fmt/format.h>

#include <algorithm>

#include "ir/describe.h"
#include "ir/edit.h"
#include "ir/walk.h"
#include "types/domain.h"

namespace sardonyx::ir {
namespace {

bool calls(const Node& node, const Function& function) {
    return node.op_type == function.name && node.overload == function.overload &&
           normal_domain(node.domain) == normal_domain(function.domain);
}

// The nodes of the graph, and of those in it, that call the function.
template <typename Visit>
void for_each_call(const Graph& graph, const Function& function, const Visit& visit) {
    for (Node& node : graph) {
        if (calls(node, function)) {
            visit(node);
        }
        for_each_subgraph(node,
                          [&](const Graph& subgraph) { for_each_call(subgraph, function, visit); });
    }
}

}  // namespace

Result<void> Editor::check_alive(const Value& value) const {
    if (!is_alive(value)) {
        return Error{fmt::format("value `{}` is no longer in the model", value.name)};
    }
    return {};
}

Result<void> Editor::check_alive(const Function& function) const {
    const std::vector<Function*>& all = model_.functions;
    if (std::find(all.begin(), all.end(), &function) == all.end()) {
        return Error{fmt::format("function `{}` is no longer in the model", function.name)};
    }
    return {};
}

Result<void> Editor::check_in(const Graph& graph, const Node& node) {
    if (node.graph() != &graph) {
        return Error{fmt::format("{} is not in graph `{}`", describe(node), graph.name)};
    }
    return {};
}

Result<Value*> Editor::add_input(Graph& graph, std::string_view name, Type type) {
    SDX_TRY(check_alive(graph));
    make_way(graph, name);
    SDX_TRY(check_name(graph, name));
    Value* value = model_.add_input(&graph, name, std::move(type));
    name_value(*value, graph, name);
    return value;
}

Result<Value*> Editor::add_initializer(Graph& graph, std::string_view name, Tensor tensor) {
    SDX_TRY(check_alive(graph));
    for (const Function* function : model_.functions) {
        if (function->body == &graph) {
            return Error{fmt::format("function `{}` cannot hold initializers: make it a `Constant`",
                                     function->name)};
        }
    }
    make_way(graph, name);
    SDX_TRY(check_name(graph, name));
    Value* value = model_.add_initializer(&graph, name, std::move(tensor));
    name_value(*value, graph, name);
    return value;
}

Result<void> Editor::remove(Value& value) {
    SDX_TRY(check_alive(value));
    if (value.producer() != nullptr) {
        return Error{fmt::format("value `{}` is an output of {}: remove the node", value.name,
                                 describe(*value.producer()))};
    }
    if (value.has_uses()) {
        return Error{fmt::format("value `{}` cannot be removed: {} reads it", value.name,
                                 describe(*value.first_use()->user))};
    }
    auto found = output_of_.find(&value);
    if (found != output_of_.end() && !found->second.empty()) {
        return Error{fmt::format("value `{}` cannot be removed: it is an output of graph `{}`",
                                 value.name, found->second.front()->name)};
    }
    forget_name(value, *value.graph());
    bool is_input = value.is_graph_input();
    if (value.is_initializer()) {
        model_.remove_initializer(&value);
    }
    if (is_input) {
        model_.remove_input(&value);
    }
    return {};
}

Result<void> Editor::set_tensor(Value& initializer, Tensor tensor) {
    if (!is_alive(initializer) || !initializer.is_initializer()) {
        return Error{fmt::format("value `{}` is not an initializer", initializer.name)};
    }
    initializer.sparse.reset();
    initializer.content.reset();
    if (!initializer.is_graph_input()) {
        initializer.type = tensor.type();
    }
    initializer.constant = std::move(tensor);
    mark_users(initializer);
    return {};
}

Result<void> Editor::set_type(Value& value, Type type) {
    SDX_TRY(check_alive(value));
    if (value.is_initializer() && !value.is_graph_input()) {
        return Error{fmt::format("the type of initializer `{}` is that of its tensor", value.name)};
    }
    settle();  // what was known before does not take this away
    value.type = std::move(type);
    value.preserved = {};
    value.content.reset();
    if (!value.is_initializer()) {
        value.constant.reset();
    }
    mark_users(value);
    return {};
}

Result<void> Editor::rename(Value& value, std::string_view name) {
    SDX_TRY(check_alive(value));
    if (name == value.name) {
        return {};
    }
    make_way(*value.graph(), name);
    SDX_TRY(check_name(*value.graph(), name));
    forget_name(value, *value.graph());
    name_value(value, *value.graph(), name);
    return {};
}

Result<void> Editor::check_output(const Graph& graph, const Value& value) const {
    SDX_TRY(check_in_sight(&value, graph, nullptr));
    bool is_made_here = value.producer() != nullptr && value.graph() == &graph;
    bool is_body = std::any_of(model_.functions.begin(), model_.functions.end(),
                               [&](const Function* one) { return one->body == &graph; });
    if (is_body && !is_made_here) {
        return Error{
            fmt::format("an output of a function is made by a node of its body: pass `{}` "
                        "through `Identity`",
                        value.name)};
    }
    if (graph.parent() != nullptr && value.graph() != &graph) {
        return Error{
            fmt::format("an output of a graph of a node is a value of this graph: pass `{}` "
                        "through `Identity`",
                        value.name)};
    }
    return {};
}

Result<void> Editor::replace_uses(Value& value, Value& other) {
    SDX_TRY(check_alive(value));
    if (&value == &other) {
        return {};
    }
    for (const Use* use = value.first_use(); use != nullptr; use = use->next) {
        SDX_TRY(check_in_sight(&other, *use->user->graph(), use->user));
    }
    auto found = output_of_.find(&value);
    std::vector<Graph*> graphs = found != output_of_.end() ? found->second : std::vector<Graph*>();
    for (const Graph* graph : graphs) {
        SDX_TRY(check_output(*graph, other));
    }
    if (value.has_uses() || !graphs.empty()) {
        SDX_TRY(check_in_sight(&other, *other.graph(), nullptr));  // alive
        name_read(&other);
    }
    mark_users(value);
    value.replace_uses_with(&other);
    for (Graph* graph : graphs) {
        std::replace(graph->outputs.begin(), graph->outputs.end(), &value, &other);
        output_of_[&other].push_back(graph);
        if (graph->parent() != nullptr) {
            mark(holders_.at(graph));
        }
    }
    output_of_.erase(&value);
    return {};
}

void Editor::forget_output(const Value& value, const Graph& graph) {
    auto found = output_of_.find(&value);
    if (found != output_of_.end()) {
        auto place = std::find(found->second.begin(), found->second.end(), &graph);
        if (place != found->second.end()) {
            found->second.erase(place);
        }
    }
}

Result<void> Editor::set_outputs(Graph& graph, std::span<Value* const> outputs) {
    SDX_TRY(check_alive(graph));
    for (const Value* output : outputs) {
        if (output == nullptr) {
            return Error{"an output of a graph is a value"};
        }
        SDX_TRY(check_output(graph, *output));
    }
    for (const Value* output : graph.outputs) {
        forget_output(*output, graph);
    }
    graph.outputs.assign(outputs.begin(), outputs.end());
    for (Value* output : graph.outputs) {
        name_read(output);
        output_of_[output].push_back(&graph);
    }
    if (graph.parent() != nullptr) {
        mark(holders_.at(&graph));
    }
    return {};
}

// --- The model -----------------------------------------------------------------------------------

Result<void> Editor::set_opset(std::string_view domain, int64_t version) {
    if (version < 1) {
        return Error{fmt::format("the version of `{}` is at least 1", shown_domain(domain))};
    }
    auto same = [&](const OpsetImport& import) {
        return normal_domain(import.domain) == normal_domain(domain);
    };
    auto& imports = model_.opset_imports;
    auto found = std::find_if(imports.begin(), imports.end(), same);
    if (found != imports.end()) {
        found->version = version;
    } else {
        imports.push_back({model_.intern(domain), version});
    }
    if (model_.graph != nullptr) {
        mark_all(*model_.graph);
    }
    return {};
}

std::vector<const Graph*> Editor::roots() const {
    std::vector<const Graph*> graphs;
    if (model_.graph != nullptr) {
        graphs.push_back(model_.graph);
    }
    for (const Function* function : model_.functions) {
        graphs.push_back(function->body);
    }
    return graphs;
}

Result<void> Editor::remove_function(Function& function) {
    SDX_TRY(check_alive(function));
    for (const Graph* root : roots()) {
        const Node* caller = nullptr;
        if (root != function.body) {
            for_each_call(*root, function, [&](const Node& node) { caller = &node; });
        }
        if (caller != nullptr) {
            return Error{fmt::format("function `{}` cannot be removed: {} calls it", function.name,
                                     describe(*caller))};
        }
    }
    for (Node& node : *function.body) {
        let_go(node);
    }
    discard(*function.body);
    model_.remove_function(&function);
    return {};
}

// --- What edits make unknown ---------------------------------------------------------------------

void Editor::mark_users(const Value& value) {
    for (const Use* use = value.first_use(); use != nullptr; use = use->next) {
        mark(use->user);
    }
    auto found = output_of_.find(&value);
    if (found == output_of_.end()) {
        return;
    }
    for (const Graph* graph : found->second) {
        if (graph->parent() != nullptr) {
            mark(holders_.at(graph));
        }
    }
}

void Editor::mark_all(const Graph& graph) {
    for (Node& node : graph) {
        mark(&node);
    }
}

void Editor::mark_callers(const Graph& body) {
    for (const Function* function : model_.functions) {
        if (function->body != &body) {
            continue;
        }
        for (const Graph* root : roots()) {
            for_each_call(*root, *function, [&](Node& node) { mark(&node); });
        }
    }
}

void Editor::settle() {
    std::unordered_set<const Node*> seen;
    std::unordered_set<const Graph*> bodies;
    while (!changed_.empty()) {
        Node* node = changed_.back();
        changed_.pop_back();
        if (!is_alive(*node) || !seen.insert(node).second) {
            continue;
        }
        for (Value* output : node->outputs()) {
            output->constant.reset();
            output->content.reset();
            auto found = output_of_.find(output);
            bool is_declared = found != output_of_.end() &&
                               std::any_of(found->second.begin(), found->second.end(),
                                           [](const Graph* of) { return of->parent() == nullptr; });
            if (!is_declared) {
                output->type = {};
                output->preserved = {};
            }
            mark_users(*output);
        }
        for_each_subgraph(*node, [&](const Graph& subgraph) {
            for (Value* input : subgraph.inputs) {
                input->content.reset();
            }
            mark_all(subgraph);
        });
        const Graph* graph = node->graph();
        for (; graph->parent() != nullptr; graph = graph->parent()) {
            mark(holders_.at(graph));
        }
        if (graph != model_.graph && bodies.insert(graph).second) {
            mark_callers(*graph);
        }
    }
}

}  // namespace sardonyx::ir
