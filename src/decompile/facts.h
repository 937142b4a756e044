// What is known of the values of one main graph or function before its text is written.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/ir.h"
#include "ops/ops.h"

namespace sardonyx::decompile {

// How deep subgraphs may be nested: Python's own limit of indentation is 100.
inline constexpr int kMaxDepth = 50;

// What an initializer is that is an input of its graph as well: its default, or, where the model is
// of an IR version below 4, in which every initializer has to be one, a constant as others are.
enum class InitializedInput : uint8_t { kHasDefault, kIsConstant };
InitializedInput initialized_input(const ir::Model& model);
// The elements of a value that is an initializer or the output of a Constant node with a tensor;
// null: it is none.
const Tensor* constant_of(const ir::Value& value, InitializedInput input);
// Whether a Loop goes on until its number of iterations: its condition is not given or true, and
// stays what it was.
bool is_endless(const ir::Node& loop, InitializedInput input);
// The outputs of a node up to the last that somebody may want.
size_t wanted_outputs(const ir::Node& node);
// The same for inputs: those at the end that are left out do not count.
size_t given_inputs(const ir::Node& node);

// How the nodes that are written use a constant.
struct ConstantUse {
    int count = 0;
    // Also as the result of a graph or the argument of a function, where it must be a tensor.
    bool needs_name = false;
};

class Facts {
  public:
    // Walks back from the outputs of `graph`.
    Facts(const ir::Model& model, const ir::Graph& graph);

    bool is_live(const ir::Node& node) const { return live_.contains(&node); }
    // Whether a node that is written, or the graph, reads the value.
    bool is_read(const ir::Value& value) const { return read_.contains(&value); }
    const ConstantUse& use_of(const ir::Value& value) const;
    // In the order in which they are met, each once.
    const std::vector<const ir::Function*>& callees() const { return callees_; }
    size_t node_count() const { return live_.size(); }
    const Tensor* constant_of(const ir::Value& value) const {
        return decompile::constant_of(value, initialized_input_);
    }
    bool is_endless(const ir::Node& loop) const {
        return decompile::is_endless(loop, initialized_input_);
    }

    // The element type that the compiler will know a value to have where the text stands;
    // kUndefined: perhaps none. Filled in the order of the text.
    ElementType known_type(const ir::Value* value) const;
    void set_known_type(const ir::Value* value, ElementType type);
    // Of the outputs of a node, by those of its inputs.
    void know_outputs(const ir::Node& node, const ops::Schema* schema);

  private:
    void need(const ir::Value* value, bool needs_name);
    void need_outputs(const ir::Graph& graph);
    void visit(const ir::Model& model, const ir::Node& node);

    InitializedInput initialized_input_;
    std::unordered_set<const ir::Node*> live_;
    std::unordered_set<const ir::Value*> read_;
    std::unordered_map<const ir::Value*, ConstantUse> constants_;
    std::unordered_map<const ir::Value*, ElementType> types_;
    std::vector<const ir::Function*> callees_;
    std::unordered_set<const ir::Function*> called_;
    std::vector<const ir::Node*> waiting_;
};

bool is_true(const Tensor* tensor);
// The subgraphs of a node, in the order of its attributes.
std::vector<const ir::Graph*> subgraphs(const ir::Node& node);
// The only element type that a type variable admits; kUndefined: there are several.
ElementType only_type(const ops::TypeSet& types);

}  // namespace sardonyx::decompile
