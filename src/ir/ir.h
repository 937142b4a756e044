// The intermediate representation: what a .onnx file says, without protobuf.
//
// Ownership: a Model owns every Graph, Function, Node and Value made through it; they have stable
// addresses and live as long as the Model, also after they are taken out of a graph. Strings handed
// in are interned in the Model. Nodes sit in an intrusive list per graph, in execution order, that
// survives insertion and erasure while it is walked; each Value knows its uses by nodes. A node of
// a subgraph may use values of the graphs around it directly: there is no lookup by name.
//
// Invariants (checked by verify.h): a value has one producer or is a graph input or an initializer;
// definitions come before uses; names are unique within a model's main graph and the subgraphs in
// it, and within a function and its subgraphs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/arena.h"
#include "base/interner.h"
#include "base/pool.h"
#include "diagnostics/source.h"
#include "types/attribute_type.h"
#include "types/tensor.h"
#include "types/type.h"

namespace sardonyx::ir {

class Model;
class Graph;
class Function;
class Node;
class Value;

// key -> value pairs of metadata_props, in the order of the file.
using Metadata = std::vector<std::pair<std::string_view, std::string_view>>;

// --- Attributes ----------------------------------------------------------------------------------

using sardonyx::AttributeType;

// values: the non-zero elements; indices: INT64, [NNZ] or [NNZ, rank].
struct SparseTensor {
    Tensor values;
    Tensor indices;
    Dims dims;
};

using AttributeValue =
    std::variant<std::monostate, float, int64_t, std::string, Tensor, Graph*, std::vector<float>,
                 std::vector<int64_t>, std::vector<std::string>, std::vector<Tensor>,
                 std::vector<Graph*>, SparseTensor, std::vector<SparseTensor>, Type,
                 std::vector<Type>>;

struct Attribute {
    std::string_view name;
    AttributeType type = AttributeType::kUndefined;
    // Not empty: the value is that of this attribute parameter of the enclosing function, and
    // `value` is empty; `type` says what it will be.
    std::string_view reference;
    AttributeValue value;
    std::string_view doc;

    bool is_reference() const { return !reference.empty(); }
    // Null when the attribute is of another type or a reference.
    template <typename T>
    const T* get() const {
        return std::get_if<T>(&value);
    }
};

// An attribute with the AttributeType that its value implies.
Attribute make_attribute(std::string_view name, AttributeValue value);

// --- Values --------------------------------------------------------------------------------------

// One use of a value as input `index` of `user`.
struct Use {
    Value* value = nullptr;  // null: the optional input is left out
    Node* user = nullptr;
    uint32_t index = 0;
    Use* previous = nullptr;  // among the uses of `value`
    Use* next = nullptr;
};

// The elements of an integer or BOOL tensor of rank 0 or 1, as dims; unknown elements are unknown
// Dims. How shape computations are followed through Shape, Gather, Concat and arithmetic.
struct SymbolicContent {
    bool is_scalar = false;  // rank 0; `elements` has one element
    std::vector<Dim> elements;
};

// What a surface with objects of its own, such as Python, has for a part of a model; the IR neither
// reads it nor copies it.
struct Represented {
    void* surface_object = nullptr;
};

class Value : public Represented {
  public:
    std::string_view name;
    Type type;
    std::string_view doc;
    Metadata metadata;
    diagnostics::Span span;  // of the expression that made it, where there was one

    // The elements, when they are constant: of an initializer, of a Constant node, or folded.
    std::optional<Tensor> constant;
    // Known for shape computations; not stored in files.
    std::unique_ptr<SymbolicContent> content;
    // The elements of a sparse initializer, which has no `constant`.
    std::unique_ptr<const SparseTensor> sparse;
    std::string_view preserved;  // see Model::preserved; the type, where `type` has no words for it

    Node* producer() const { return producer_; }  // null: input or initializer
    uint32_t output_index() const { return output_index_; }
    // The graph whose input or initializer it is, or whose node makes it.
    Graph* graph() const { return graph_; }
    bool is_initializer() const { return is_initializer_; }
    bool is_graph_input() const { return is_graph_input_; }

    const Use* first_use() const { return uses_; }
    bool has_uses() const { return uses_ != nullptr; }  // by nodes; graph outputs are not uses
    // Makes every node that uses this value use `other`. Graph outputs are not touched.
    void replace_uses_with(Value* other);

  private:
    friend class Model;
    friend class Node;
    friend class Graph;
    Node* producer_ = nullptr;
    Graph* graph_ = nullptr;
    Use* uses_ = nullptr;
    uint32_t output_index_ = 0;
    bool is_initializer_ = false;
    bool is_graph_input_ = false;
};

// --- Nodes ---------------------------------------------------------------------------------------

class Node : public Represented {
  public:
    std::string_view domain;  // "" for ai.onnx
    std::string_view op_type;
    std::string_view overload;
    std::string_view name;
    std::string_view doc;
    std::vector<Attribute> attributes;
    Metadata metadata;
    std::string_view preserved;  // see Model::preserved
    diagnostics::Span span;

    size_t input_count() const { return inputs_.size(); }
    // Null for an optional input that is left out, and for every index past the end.
    Value* input(size_t index) const {
        return index < inputs_.size() ? inputs_[index].value : nullptr;
    }
    std::span<const Use> inputs() const { return inputs_; }
    void set_input(size_t index, Value* value);

    // An output with an empty name is not wanted by anyone.
    std::span<Value* const> outputs() const { return outputs_; }
    size_t output_count() const { return outputs_.size(); }
    Value* output(size_t index = 0) const {
        return index < outputs_.size() ? outputs_[index] : nullptr;
    }

    const Attribute* find_attribute(std::string_view attribute_name) const;

    Node* previous() const { return previous_; }
    Node* next() const { return next_; }
    Graph* graph() const { return graph_; }  // null once it has been taken out
    // Whether it comes before `other` in the graph that both are in.
    bool is_before(const Node& other) const { return order_ < other.order_; }

  private:
    friend class Model;
    friend class Graph;
    friend class Value;
    std::span<Use> inputs_;
    std::span<Value*> outputs_;
    Node* previous_ = nullptr;
    Node* next_ = nullptr;
    Graph* graph_ = nullptr;
    int64_t order_ = 0;  // grows along the graph; with gaps, so that few insertions number it anew
};

// --- Graphs --------------------------------------------------------------------------------------

// Walks the nodes of a graph. The node that it stands on may be removed meanwhile.
class NodeIterator {
  public:
    explicit NodeIterator(Node* node)
        : node_(node), next_(node != nullptr ? node->next() : nullptr) {}
    Node& operator*() const { return *node_; }
    Node* operator->() const { return node_; }
    NodeIterator& operator++() {
        node_ = next_;
        next_ = node_ != nullptr ? node_->next() : nullptr;
        return *this;
    }
    friend bool operator==(const NodeIterator& a, const NodeIterator& b) {
        return a.node_ == b.node_;
    }

  private:
    Node* node_;
    Node* next_;
};

class Graph : public Represented {
  public:
    std::string_view name;
    std::string_view doc;
    Metadata metadata;
    std::string_view preserved;        // see Model::preserved
    std::vector<Value*> inputs;        // add through Model::add_input
    std::vector<Value*> outputs;       // any values in sight; the same one may stand twice
    std::vector<Value*> initializers;  // add through Model::add_initializer

    Node* first_node() const { return first_; }
    Node* last_node() const { return last_; }
    NodeIterator begin() const { return NodeIterator(first_); }
    NodeIterator end() const { return NodeIterator(nullptr); }

    // Inserts a node that is in no graph before `position`; at the end when that is null.
    void insert(Node* node, Node* position = nullptr);
    // Takes the node out and drops its uses of values. Its outputs must have no uses left.
    void remove(Node* node);
    // Puts a node of the graph before another one of it; at the end when that is null.
    void move(Node* node, Node* position);

    Graph* parent() const { return parent_; }  // the graph around a subgraph

  private:
    friend class Model;
    void link(Node* node, Node* position);
    void unlink(Node* node);
    void number_nodes();

    Node* first_ = nullptr;
    Node* last_ = nullptr;
    Graph* parent_ = nullptr;
};

// --- Functions and models ------------------------------------------------------------------------

struct OpsetImport {
    std::string_view domain;
    int64_t version = 0;
};

// A FunctionProto. Inputs and outputs are those of `body`; an output must be made inside the body.
class Function : public Represented {
  public:
    std::string_view domain;
    std::string_view name;
    std::string_view overload;
    std::string_view doc;
    std::vector<std::string_view> attributes;   // parameters without a default
    std::vector<Attribute> attribute_defaults;  // parameters with one
    std::vector<OpsetImport> opset_imports;
    Metadata metadata;
    Graph* body = nullptr;

    bool has_parameter(std::string_view parameter) const;  // an attribute, with a default or not
};

class Model {
  public:
    Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    // 0: the lowest that the content needs, found when the model is written.
    int64_t ir_version = 0;
    std::string_view producer_name;
    std::string_view producer_version;
    std::string_view domain;
    int64_t model_version = 0;
    std::string_view doc;
    std::vector<OpsetImport> opset_imports;
    Metadata metadata;
    // What the file says and the ir has no words for (training, devices, quantization notes), as
    // the file's format has it. It is put back on writing and means nothing in between: names in it
    // are not followed when values are renamed.
    std::string_view preserved;
    Graph* graph = nullptr;            // null for a file with a FunctionProto alone
    std::vector<Function*> functions;  // in the order of the file

    // One copy of `text` for the life of the model.
    std::string_view intern(std::string_view text) {
        return text.empty() ? std::string_view() : strings_.text(strings_.intern(text));
    }
    // The same with a dense number for the text, for tables by name.
    Symbol symbol(std::string_view text) { return strings_.intern(text); }
    void reserve_symbols(size_t more) { strings_.reserve(more); }
    // Keeps a text that few others equal, such as the name of a node, without looking it up.
    std::string_view copy(std::string_view text) { return arena_.copy_text(text); }
    std::string_view text(Symbol symbol) const { return strings_.text(symbol); }

    // `parent`: the graph that a subgraph stands in; null for main graphs and function bodies.
    Graph* make_graph(Graph* parent);
    Function* add_function(std::string_view domain, std::string_view name,
                           std::string_view overload = {});
    // Gives a function another domain, name and overload, by which it is found.
    void name_function(Function* function, std::string_view domain, std::string_view name,
                       std::string_view overload);
    // Takes the function out of `functions`; nothing may call it any more.
    void remove_function(Function* function);
    Value* add_input(Graph* graph, std::string_view name, Type type = {});
    Value* add_initializer(Graph* graph, std::string_view name, Tensor tensor);
    Value* add_sparse_initializer(Graph* graph, std::string_view name, SparseTensor tensor);
    // Gives an input a default, as files before IR version 4 do for every initializer: the value is
    // then an input and an initializer.
    void add_default(Value* input, Tensor tensor);
    // Takes an input or an initializer without uses out of its graph; its `graph` is null then. Of
    // an input with a default, only the default goes.
    void remove_input(Value* input);
    void remove_initializer(Value* initializer);
    // Gives a node as many inputs; new ones are left out.
    void set_input_count(Node* node, size_t count);
    // A node with so many fresh outputs, which have no names yet, in no graph yet; insert it with
    // Graph::insert.
    Node* make_node(std::string_view domain, std::string_view op_type,
                    std::span<Value* const> inputs, size_t output_count);
    // The same with outputs of these names.
    Node* make_node(std::string_view domain, std::string_view op_type,
                    std::span<Value* const> inputs, std::span<const std::string_view> output_names);

    const Function* find_function(std::string_view domain, std::string_view name,
                                  std::string_view overload = {}) const;
    // 0 when the domain is not imported. "" and "ai.onnx" are the same domain.
    int64_t opset_version(std::string_view domain) const;

  private:
    Interner strings_;
    Arena arena_;
    Pool<Value> values_;
    Pool<Node> nodes_;
    Pool<Graph> graphs_;
    Pool<Function> functions_;
    void forget_function(const Function* function);

    // By domain, name and overload; the first of equal ones.
    std::map<std::array<std::string_view, 3>, Function*> function_index_;
};

// The version that a list of imports gives to a domain; 0 when it has none.
int64_t opset_version(std::span<const OpsetImport> imports, std::string_view domain);

// Text for people and tests; one line per node, with types where known. Deterministic.
std::string dump(const Model& model);
std::string dump(const Graph& graph, int indent = 0);

}  // namespace sardonyx::ir
