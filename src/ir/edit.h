// Edits of a model by hand: each keeps the invariants of ir.h, or is refused with the reason and
// changes nothing.
//
// The library's own passes know what they do, and change the ir directly. An Editor is for callers
// of whom nothing is known: it checks that what they give belongs to the model, is in it still and
// is in sight, and that names stay unique. It keeps indexes of the model, so that a check costs
// about what the edit costs: while an Editor lives, nobody else changes the structure or the names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::ir {

class Editor {
  public:
    explicit Editor(Model& model);
    Editor(const Editor&) = delete;
    Editor& operator=(const Editor&) = delete;

    // Nothing: a name is made. Empty: nobody wants the output.
    using OutputNames = std::vector<std::optional<std::string>>;

    // --- Nodes. A `position` of null is the end of the graph.
    struct NewNode {
        std::string_view domain;
        std::string_view op_type;
        std::string_view overload;
        std::string_view name;
        std::span<Value* const> inputs;
        OutputNames outputs;
        std::vector<Attribute> attributes;
    };
    Result<Node*> insert(Graph& graph, Node* position, const NewNode& wanted);
    // Gives a node that has no outputs yet its outputs, and gives it back as a new node: one that
    // is written by its graphs is known whole when they are.
    Result<Node*> finish(Node& node, const OutputNames& outputs);
    // Puts copies of the nodes of a model's main graph at the end of `graph`, with its initializers
    // and the functions that they call; `inputs` stand for the inputs of that graph. Gives what its
    // outputs are here. Nothing is known of the new values but their names, which are new where
    // they have to be.
    Result<std::vector<Value*>> splice(Graph& graph, const Model& from,
                                       std::span<Value* const> inputs);
    // Takes nodes out with all that is in their subgraphs; nothing else may read what they make.
    Result<void> remove(std::span<Node* const> nodes);
    // Puts the node before another one of its graph.
    Result<void> move(Node& node, Node* position);
    Result<void> set_inputs(Node& node, std::span<Value* const> inputs);
    Result<void> set_input(Node& node, size_t index, Value* value);
    Result<void> set_operator(Node& node, std::string_view domain, std::string_view op_type,
                              std::string_view overload);
    // A graph is no value to set: add_subgraph() makes one.
    Result<void> set_attribute(Node& node, Attribute attribute);
    Result<void> remove_attribute(Node& node, std::string_view name);
    Result<Graph*> add_subgraph(Node& node, std::string_view attribute, std::string_view name);

    // --- Values.
    Result<Value*> add_input(Graph& graph, std::string_view name, Type type);
    Result<Value*> add_initializer(Graph& graph, std::string_view name, Tensor tensor);
    // An input or initializer that nothing reads.
    Result<void> remove(Value& value);
    Result<void> set_tensor(Value& initializer, Tensor tensor);
    Result<void> set_type(Value& value, Type type);
    Result<void> rename(Value& value, std::string_view name);
    // Everything that reads `value` reads `other`, graph outputs included.
    Result<void> replace_uses(Value& value, Value& other);
    Result<void> set_outputs(Graph& graph, std::span<Value* const> outputs);
    // A name that no value of the graph and those around and in it has.
    std::string fresh_name(const Graph& graph, std::string_view hint);

    // --- The model.
    // Whether there is such a version is the caller's business (ops/versions.h).
    Result<void> set_opset(std::string_view domain, int64_t version);
    // Nothing may call it.
    Result<void> remove_function(Function& function);

    // Whether it is still in the model.
    bool is_alive(const Graph& graph) const { return dead_graphs_.count(&graph) == 0; }
    bool is_alive(const Node& node) const { return node.graph() != nullptr; }
    bool is_alive(const Value& value) const;
    // Error: it is not.
    Result<void> check_alive(const Graph& graph) const;
    Result<void> check_alive(const Node& node) const;
    Result<void> check_alive(const Value& value) const;
    Result<void> check_alive(const Function& function) const;
    // Error: the node is in another graph, as one around it.
    static Result<void> check_in(const Graph& graph, const Node& node);

    // Forgets what was known of values that depend on what has been edited since: types of inner
    // values, constants and contents. Whoever reads these calls it first; the next inference knows
    // them again.
    void settle();
    // What values say now is right: for those who have typed what they have edited.
    void trust() { changed_.clear(); }

  private:
    using Names = std::unordered_multimap<std::string_view, const Value*>;

    void index(Graph& graph, const Graph* root);
    void index(Node& node, const Graph* root);
    void see(Value* value, const Graph* root);
    const Value* named(const Graph& graph, std::string_view name) const;
    std::vector<const Graph*> roots() const;
    const Graph* root_of(const Graph& graph) const;
    const Node* anchor(const Graph& outer, const Graph& graph, const Node* position) const;
    const Graph* hiding_graph(const Value& value, const Graph& graph) const;
    Result<void> check_in_sight(const Value* value, const Graph& graph, const Node* position) const;
    Result<void> check_inputs(std::span<Value* const> inputs, const Graph& graph,
                              const Node* position) const;
    Result<void> check_name(const Graph& graph, std::string_view name) const;
    Result<void> check_output(const Graph& graph, const Value& value) const;
    Result<void> check_attribute(const Graph& graph, std::string_view op_type,
                                 const Attribute& attribute) const;
    Result<void> check_reference(const Graph& graph, std::string_view op_type,
                                 const Attribute& attribute) const;
    Result<void> check_names(const Graph& graph, const OutputNames& names) const;
    void name_outputs(Node& node, const OutputNames& names);
    void intern(Attribute& attribute);
    Result<void> check_unread(const Node& node, const std::unordered_set<const Node*>& gone) const;
    std::vector<const Node*> readers(const Value& value) const;
    bool is_inside(const Graph* graph, const std::unordered_set<const Node*>& nodes) const;
    void name_value(Value& value, const Graph& graph, std::string_view name);
    // An output that nobody has wanted so far gets a name.
    void name_read(Value* value);
    void name_read(std::span<Value* const> values);
    void forget_name(const Value& value, const Graph& graph);
    Result<void> check_order(const Node& earlier, const Node& later) const;
    void make_way(const Graph& graph, std::string_view name);
    void let_go(Node& node);
    void discard(Graph& graph);
    void mark(Node* node) { changed_.push_back(node); }
    void mark_users(const Value& value);
    void mark_all(const Graph& graph);
    void mark_callers(const Graph& body);
    void forget_output(const Value& value, const Graph& graph);

    Model& model_;
    std::unordered_map<const Graph*, Node*> holders_;  // of subgraphs
    std::unordered_map<const Graph*, Names> names_;    // by main graph or body
    std::unordered_set<const Value*> self_named_;      // outputs whose names nobody has given
    std::unordered_map<const Value*, std::vector<Graph*>> output_of_;
    std::unordered_set<const Graph*> dead_graphs_;
    std::vector<Node*> changed_;
    size_t next_name_ = 0;
};

}  // namespace sardonyx::ir
