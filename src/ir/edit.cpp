// Edits of nodes, and checks that all edits share.
#include "ir/edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/copy.h"
#include "ir/describe.h"
#include "ir/walk.h"
#include "types/domain.h"

namespace sardonyx::ir {
namespace {

// What inference follows.
constexpr size_t kMaxNesting = 100;

}  // namespace

Editor::Editor(Model& model) : model_(model) {
    if (model.graph != nullptr) {
        index(*model.graph, model.graph);
    }
    for (Function* function : model.functions) {
        index(*function->body, function->body);
    }
}

void Editor::index(Node& node, const Graph* root) {
    for (Value* output : node.outputs()) {
        see(output, root);
    }
    for_each_subgraph(node, [&](Graph& subgraph) {
        holders_[&subgraph] = &node;
        index(subgraph, root);
    });
}

void Editor::index(Graph& graph, const Graph* root) {
    names_[root];
    for (Value* input : graph.inputs) {
        see(input, root);
    }
    for (Value* initializer : graph.initializers) {
        if (!initializer->is_graph_input()) {
            see(initializer, root);
        }
    }
    for (Node& node : graph) {
        index(node, root);
    }
    for (Value* output : graph.outputs) {
        output_of_[output].push_back(&graph);
    }
}

const Graph* Editor::root_of(const Graph& graph) const {
    const Graph* root = &graph;
    while (root->parent() != nullptr) {
        root = root->parent();
    }
    return root;
}

bool Editor::is_alive(const Value& value) const {
    if (value.producer() != nullptr) {
        return is_alive(*value.producer());
    }
    return value.graph() != nullptr && is_alive(*value.graph());
}

Result<void> Editor::check_alive(const Graph& graph) const {
    if (!is_alive(graph)) {
        return Error{fmt::format("graph `{}` is no longer in the model", graph.name)};
    }
    return {};
}

Result<void> Editor::check_alive(const Node& node) const {
    if (!is_alive(node)) {
        return Error{describe(node) + " is no longer in the model"};
    }
    return {};
}

// The place in `outer` that encloses `position` of `graph`, a graph inside it: a node, or null for
// the end.
const Node* Editor::anchor(const Graph& outer, const Graph& graph, const Node* position) const {
    for (const Graph* at = &graph; at != &outer; at = at->parent()) {
        position = holders_.at(at);
    }
    return position;
}

Result<void> Editor::check_inputs(std::span<Value* const> inputs, const Graph& graph,
                                  const Node* position) const {
    for (const Value* input : inputs) {
        SDX_TRY(check_in_sight(input, graph, position));
    }
    return {};
}

// --- Nodes ---------------------------------------------------------------------------------------

Result<Node*> Editor::insert(Graph& graph, Node* position, const NewNode& wanted) {
    SDX_TRY(check_alive(graph));
    if (position != nullptr) {
        SDX_TRY(check_in(graph, *position));
    }
    if (wanted.op_type.empty()) {
        return Error{"a node needs an operator"};
    }
    SDX_TRY(check_inputs(wanted.inputs, graph, position));
    SDX_TRY(check_names(graph, wanted.outputs));
    for (const Attribute& attribute : wanted.attributes) {
        SDX_TRY(check_attribute(graph, wanted.op_type, attribute));
    }
    Node* node =
        model_.make_node(wanted.domain, wanted.op_type, wanted.inputs, wanted.outputs.size());
    node->overload = model_.intern(wanted.overload);
    node->name = model_.intern(wanted.name);
    for (const Attribute& attribute : wanted.attributes) {
        node->attributes.push_back(attribute);
        intern(node->attributes.back());
    }
    graph.insert(node, position);
    name_outputs(*node, wanted.outputs);
    name_read(wanted.inputs);
    return node;
}

Result<void> Editor::check_names(const Graph& graph, const OutputNames& names) const {
    std::unordered_set<std::string_view> given;
    for (const std::optional<std::string>& name : names) {
        if (!name || name->empty()) {
            continue;
        }
        SDX_TRY(check_name(graph, *name));
        if (!given.insert(*name).second) {
            return Error{fmt::format("two outputs are named `{}`", *name)};
        }
    }
    return {};
}

void Editor::name_outputs(Node& node, const OutputNames& names) {
    const Graph& graph = *node.graph();
    for (size_t i = 0; i < names.size(); ++i) {
        if (names[i]) {
            name_value(*node.output(i), graph, *names[i]);
        }
    }
    for (size_t i = 0; i < names.size(); ++i) {
        if (!names[i]) {
            std::string hint(node.op_type);
            std::transform(hint.begin(), hint.end(), hint.begin(), [](char c) {
                return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            });
            name_value(*node.output(i), graph, fresh_name(graph, hint));
            self_named_.insert(node.output(i));
        }
    }
}

Result<Node*> Editor::finish(Node& node, const OutputNames& outputs) {
    SDX_TRY(check_alive(node));
    if (node.output_count() > 0) {
        return Error{describe(node) + " has outputs already"};
    }
    Graph& graph = *node.graph();
    SDX_TRY(check_names(graph, outputs));
    std::vector<Value*> inputs;
    for (size_t i = 0; i < node.input_count(); ++i) {
        inputs.push_back(node.input(i));
    }
    Node* whole = model_.make_node(node.domain, node.op_type, inputs, outputs.size());
    whole->overload = node.overload;
    whole->name = node.name;
    whole->doc = node.doc;
    whole->metadata = node.metadata;
    whole->attributes = std::move(node.attributes);
    node.attributes.clear();
    graph.insert(whole, &node);
    for_each_subgraph(*whole, [&](const Graph& subgraph) { holders_[&subgraph] = whole; });
    let_go(node);
    graph.remove(&node);
    name_outputs(*whole, outputs);
    return whole;
}

Result<std::vector<Value*>> Editor::splice(Graph& graph, const Model& from,
                                           std::span<Value* const> inputs) {
    SDX_TRY(check_alive(graph));
    SDX_TRY(check_inputs(inputs, graph, nullptr));
    const Graph* root = root_of(graph);
    if (from.graph == nullptr || from.graph->inputs.size() != inputs.size()) {
        return Error{"a model takes as many values as its graph has inputs"};
    }
    if (root != model_.graph && !from.graph->initializers.empty()) {
        return Error{"a function cannot hold initializers"};
    }
    for (const OpsetImport& import : from.opset_imports) {
        int64_t version = model_.opset_version(import.domain);
        if (version != 0 && version != import.version) {
            return Error{fmt::format("version {} of `{}` after version {} in the same model",
                                     import.version, shown_domain(import.domain), version)};
        }
        if (version == 0) {
            model_.opset_imports.push_back({model_.intern(import.domain), import.version});
        }
    }
    name_read(inputs);
    Names& names = names_.at(root);
    std::vector<Names::iterator> reserved;  // until the values are there
    Spliced made = ir::splice(model_, graph, from, inputs, [&](std::string_view wanted) {
        std::string name = fresh_name(graph, wanted);
        reserved.push_back(names.emplace(model_.intern(name), nullptr));
        return name;
    });
    for (Names::iterator name : reserved) {
        names.erase(name);
    }
    for (Function* function : made.functions) {
        index(*function->body, function->body);
    }
    for (Value* initializer : made.initializers) {
        see(initializer, root);
    }
    for (Node* node : made.nodes) {
        index(*node, root);
    }
    return std::move(made.outputs);
}

// Whether the graph is a subgraph of one of the nodes, at any depth.
bool Editor::is_inside(const Graph* graph, const std::unordered_set<const Node*>& nodes) const {
    for (; graph->parent() != nullptr; graph = graph->parent()) {
        if (nodes.count(holders_.at(graph)) != 0) {
            return true;
        }
    }
    return false;
}

Result<void> Editor::check_unread(const Node& node,
                                  const std::unordered_set<const Node*>& gone) const {
    for (const Value* output : node.outputs()) {
        for (const Use* use = output->first_use(); use != nullptr; use = use->next) {
            if (gone.count(use->user) == 0 && !is_inside(use->user->graph(), gone)) {
                return Error{fmt::format("{} cannot be removed: {} reads its output `{}`",
                                         describe(node), describe(*use->user), output->name)};
            }
        }
        auto found = output_of_.find(output);
        if (found == output_of_.end()) {
            continue;
        }
        for (const Graph* graph : found->second) {
            if (!is_inside(graph, gone)) {
                return Error{fmt::format("{} cannot be removed: `{}` is an output of graph `{}`",
                                         describe(node), output->name, graph->name)};
            }
        }
    }
    return {};
}

// Removes the inputs of a node and of all nodes in its subgraphs.
void Editor::let_go(Node& node) {
    for (size_t i = 0; i < node.input_count(); ++i) {
        node.set_input(i, nullptr);
    }
    for_each_subgraph(node, [&](Graph& subgraph) {
        for (Node& inner : subgraph) {
            let_go(inner);
        }
    });
}

// Removes everything in a subgraph whose nodes have been released.
void Editor::discard(Graph& graph) {
    for (Value* output : graph.outputs) {
        forget_output(*output, graph);
    }
    for (Value* value : graph.inputs) {
        forget_name(*value, graph);
    }
    for (Value* value : graph.initializers) {
        forget_name(*value, graph);
    }
    for (Node& node : graph) {
        for_each_subgraph(node, [&](Graph& subgraph) { discard(subgraph); });
        for (Value* output : node.outputs()) {
            forget_name(*output, graph);
        }
        graph.remove(&node);
    }
    dead_graphs_.insert(&graph);
}

Result<void> Editor::remove(std::span<Node* const> nodes) {
    std::unordered_set<const Node*> gone(nodes.begin(), nodes.end());
    for (const Node* node : nodes) {
        SDX_TRY(check_alive(*node));
    }
    for (const Node* node : nodes) {
        SDX_TRY(check_unread(*node, gone));
    }
    for (Node* node : nodes) {
        let_go(*node);
    }
    for (Node* node : nodes) {
        if (!is_alive(*node)) {
            continue;  // it went with a node around it, or is given twice
        }
        for_each_subgraph(*node, [&](Graph& subgraph) { discard(subgraph); });
        for (Value* output : node->outputs()) {
            forget_name(*output, *node->graph());
        }
        node->graph()->remove(node);
    }
    return {};
}

// The nodes of the value's graph that read it, or in which it is read; outputs of subgraphs, too.
std::vector<const Node*> Editor::readers(const Value& value) const {
    std::vector<const Node*> nodes;
    for (const Use* use = value.first_use(); use != nullptr; use = use->next) {
        nodes.push_back(anchor(*value.graph(), *use->user->graph(), use->user));
    }
    auto found = output_of_.find(&value);
    if (found != output_of_.end()) {
        for (const Graph* graph : found->second) {
            if (graph != value.graph()) {
                nodes.push_back(anchor(*value.graph(), *graph, nullptr));
            }
        }
    }
    return nodes;
}

Result<void> Editor::move(Node& node, Node* position) {
    SDX_TRY(check_alive(node));
    Graph& graph = *node.graph();
    if (position != nullptr) {
        SDX_TRY(check_in(graph, *position));
    }
    if (position == &node || position == node.next()) {
        return {};
    }
    for (const Value* output : node.outputs()) {
        for (const Node* reader : readers(*output)) {
            if (position == nullptr || reader->is_before(*position)) {
                return Error{fmt::format("{} cannot come after {}, which reads its output `{}`",
                                         describe(node), describe(*reader), output->name)};
            }
        }
    }
    Result<void> known;
    for_each_read(node, [&](const Value& value) {
        const Node* producer = value.graph() == &graph ? value.producer() : nullptr;
        if (known.ok() && producer != nullptr && position != nullptr &&
            !producer->is_before(*position)) {
            known = Error{fmt::format("{} cannot come before {}, whose output `{}` it reads",
                                      describe(node), describe(*producer), value.name)};
        }
    });
    SDX_TRY(known);
    bool goes_on = position == nullptr || node.is_before(*position);
    const Node* end = goes_on ? position : &node;
    for (const Node* passed = goes_on ? node.next() : position; passed != end;
         passed = passed->next()) {
        SDX_TRY(goes_on ? check_order(*passed, node) : check_order(node, *passed));
    }
    graph.move(&node, position);
    return {};
}

Result<void> Editor::set_inputs(Node& node, std::span<Value* const> inputs) {
    SDX_TRY(check_alive(node));
    SDX_TRY(check_inputs(inputs, *node.graph(), &node));
    name_read(inputs);
    if (inputs.size() != node.input_count()) {
        model_.set_input_count(&node, inputs.size());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        node.set_input(i, inputs[i]);
    }
    mark(&node);
    return {};
}

Result<void> Editor::set_input(Node& node, size_t index, Value* value) {
    SDX_TRY(check_alive(node));
    SDX_TRY(check_in_sight(value, *node.graph(), &node));
    if (index >= node.input_count()) {
        return Error{fmt::format("{} has {} inputs, and none of index {}", describe(node),
                                 node.input_count(), index)};
    }
    name_read(value);
    node.set_input(index, value);
    mark(&node);
    return {};
}

Result<void> Editor::set_operator(Node& node, std::string_view domain, std::string_view op_type,
                                  std::string_view overload) {
    SDX_TRY(check_alive(node));
    if (op_type.empty()) {
        return Error{"a node needs an operator"};
    }
    node.domain = model_.intern(domain);
    node.op_type = model_.intern(op_type);
    node.overload = model_.intern(overload);
    mark(&node);
    return {};
}

Result<void> Editor::check_reference(const Graph& graph, std::string_view op_type,
                                     const Attribute& attribute) const {
    if (!attribute.is_reference()) {
        return {};
    }
    const Graph* root = root_of(graph);
    for (const Function* function : model_.functions) {
        if (function->body == root && function->has_parameter(attribute.reference)) {
            return {};
        }
    }
    return Error{fmt::format("`{}` is not an attribute parameter of a function around `{}`",
                             attribute.reference, op_type)};
}

Result<void> Editor::check_attribute(const Graph& graph, std::string_view op_type,
                                     const Attribute& attribute) const {
    if (attribute.name.empty()) {
        return Error{"an attribute needs a name"};
    }
    if (attribute.get<Graph*>() != nullptr || attribute.get<std::vector<Graph*>>() != nullptr) {
        return Error{
            fmt::format("attribute `{}` of `{}`: a graph can be used only once; make a new "
                        "one in the node, and fill it",
                        attribute.name, op_type)};
    }
    return check_reference(graph, op_type, attribute);
}

void Editor::intern(Attribute& attribute) {
    attribute.name = model_.intern(attribute.name);
    attribute.reference = model_.intern(attribute.reference);
    attribute.doc = model_.intern(attribute.doc);
}

Result<void> Editor::set_attribute(Node& node, Attribute attribute) {
    SDX_TRY(check_alive(node));
    SDX_TRY(check_attribute(*node.graph(), node.op_type, attribute));
    const Attribute* old = node.find_attribute(attribute.name);
    intern(attribute);
    if (old == nullptr) {
        node.attributes.push_back(std::move(attribute));
    } else {
        size_t place = static_cast<size_t>(old - node.attributes.data());
        for_each_subgraph(*old, [&](Graph& subgraph) {
            for (Node& inner : subgraph) {
                let_go(inner);
            }
            discard(subgraph);
        });
        node.attributes[place] = std::move(attribute);
    }
    mark(&node);
    return {};
}

Result<void> Editor::remove_attribute(Node& node, std::string_view name) {
    SDX_TRY(check_alive(node));
    const Attribute* old = node.find_attribute(name);
    if (old == nullptr) {
        return Error{fmt::format("{} has no attribute `{}`", describe(node), name)};
    }
    for_each_subgraph(*old, [&](Graph& subgraph) {
        for (Node& inner : subgraph) {
            let_go(inner);
        }
        discard(subgraph);
    });
    node.attributes.erase(node.attributes.begin() + (old - node.attributes.data()));
    mark(&node);
    return {};
}

Result<Graph*> Editor::add_subgraph(Node& node, std::string_view attribute, std::string_view name) {
    SDX_TRY(check_alive(node));
    if (attribute.empty() || node.find_attribute(attribute) != nullptr) {
        return Error{fmt::format("{} has an attribute `{}` already", describe(node), attribute)};
    }
    size_t depth = 0;
    for (const Graph* at = node.graph(); at != nullptr; at = at->parent()) {
        ++depth;
    }
    if (depth >= kMaxNesting) {
        return Error{fmt::format("graphs are nested more than {} deep", kMaxNesting)};
    }
    Graph* graph = model_.make_graph(node.graph());
    graph->name = model_.intern(name);
    node.attributes.push_back(make_attribute(model_.intern(attribute), graph));
    holders_[graph] = &node;
    mark(&node);
    return graph;
}

}  // namespace sardonyx::ir
