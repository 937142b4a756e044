#include "ir/ir.h"
#include "ir/sparse.h"
#include "types/domain.h"

#include <algorithm>

namespace sardonyx::ir {
namespace {

// The AttributeType of each alternative of AttributeValue, in the order of the variant.
constexpr AttributeType kTypeOfAlternative[] = {
    AttributeType::kUndefined,     AttributeType::kFloat,     AttributeType::kInt,
    AttributeType::kString,        AttributeType::kTensor,    AttributeType::kGraph,
    AttributeType::kFloats,        AttributeType::kInts,      AttributeType::kStrings,
    AttributeType::kTensors,       AttributeType::kGraphs,    AttributeType::kSparseTensor,
    AttributeType::kSparseTensors, AttributeType::kTypeProto, AttributeType::kTypeProtos};
static_assert(std::size(kTypeOfAlternative) == std::variant_size_v<AttributeValue>);

}  // namespace

Attribute make_attribute(std::string_view name, AttributeValue value) {
    AttributeType type = kTypeOfAlternative[value.index()];
    return Attribute{name, type, {}, std::move(value), {}};
}

namespace {

void link_use(Use* use, Value* value, Use** first) {
    use->value = value;
    use->previous = nullptr;
    use->next = *first;
    if (*first != nullptr) {
        (*first)->previous = use;
    }
    *first = use;
}

void unlink_use(Use* use, Use** first) {
    if (use->previous != nullptr) {
        use->previous->next = use->next;
    } else {
        *first = use->next;
    }
    if (use->next != nullptr) {
        use->next->previous = use->previous;
    }
    use->value = nullptr;
    use->previous = use->next = nullptr;
}

}  // namespace

void Value::replace_uses_with(Value* other) {
    SDX_CHECK(other != this);
    while (uses_ != nullptr) {
        Use* use = uses_;
        unlink_use(use, &uses_);
        link_use(use, other, &other->uses_);
    }
}

void Node::set_input(size_t index, Value* value) {
    SDX_CHECK(index < inputs_.size());
    Use* use = &inputs_[index];
    if (use->value != nullptr) {
        unlink_use(use, &use->value->uses_);
    }
    if (value != nullptr) {
        link_use(use, value, &value->uses_);
    }
}

const Attribute* Node::find_attribute(std::string_view attribute_name) const {
    for (const Attribute& attribute : attributes) {
        if (attribute.name == attribute_name) {
            return &attribute;
        }
    }
    return nullptr;
}

namespace {

constexpr int64_t kOrderGap = int64_t{1} << 32;

}  // namespace

void Graph::number_nodes() {
    int64_t order = 0;
    for (Node* node = first_; node != nullptr; node = node->next_) {
        node->order_ = order;
        order += kOrderGap;
    }
}

void Graph::link(Node* node, Node* position) {
    node->next_ = position;
    node->previous_ = position != nullptr ? position->previous_ : last_;
    int64_t before = node->previous_ != nullptr ? node->previous_->order_ : -kOrderGap;
    int64_t after = position != nullptr ? position->order_ : before + 2 * kOrderGap;
    node->order_ = before + (after - before) / 2;
    (node->previous_ != nullptr ? node->previous_->next_ : first_) = node;
    (position != nullptr ? position->previous_ : last_) = node;
    if (node->order_ == before) {
        number_nodes();
    }
}

void Graph::unlink(Node* node) {
    (node->previous_ != nullptr ? node->previous_->next_ : first_) = node->next_;
    (node->next_ != nullptr ? node->next_->previous_ : last_) = node->previous_;
    node->previous_ = node->next_ = nullptr;
}

void Graph::insert(Node* node, Node* position) {
    SDX_CHECK(node->graph_ == nullptr);
    node->graph_ = this;
    link(node, position);
    for (Value* output : node->outputs_) {
        output->graph_ = this;
    }
}

void Graph::remove(Node* node) {
    SDX_CHECK(node->graph_ == this);
    for (Value* output : node->outputs_) {
        SDX_CHECK(!output->has_uses());
    }
    for (size_t i = 0; i < node->inputs_.size(); ++i) {
        node->set_input(i, nullptr);
    }
    unlink(node);
    node->graph_ = nullptr;
}

void Graph::move(Node* node, Node* position) {
    SDX_CHECK(node->graph_ == this && node != position);
    unlink(node);
    link(node, position);
}

bool Function::has_parameter(std::string_view parameter) const {
    return std::find(attributes.begin(), attributes.end(), parameter) != attributes.end() ||
           std::any_of(attribute_defaults.begin(), attribute_defaults.end(),
                       [&](const Attribute& attribute) { return attribute.name == parameter; });
}

Graph* Model::make_graph(Graph* parent) {
    Graph& graph = graphs_.make();
    graph.parent_ = parent;
    return &graph;
}

Function* Model::add_function(std::string_view domain, std::string_view name,
                              std::string_view overload) {
    Function& function = functions_.make();
    function.body = make_graph(nullptr);
    functions.push_back(&function);
    name_function(&function, domain, name, overload);
    return &function;
}

void Model::forget_function(const Function* function) {
    auto found = function_index_.find({function->domain, function->name, function->overload});
    if (found != function_index_.end() && found->second == function) {
        function_index_.erase(found);
    }
}

void Model::name_function(Function* function, std::string_view domain, std::string_view name,
                          std::string_view overload) {
    forget_function(function);
    function->domain = intern(domain);
    function->name = intern(name);
    function->overload = intern(overload);
    if (name.empty()) {
        return;
    }
    function_index_.emplace(std::array{function->domain, function->name, function->overload},
                            function);
}

void Model::remove_function(Function* function) {
    functions.erase(std::find(functions.begin(), functions.end(), function));
    forget_function(function);
}

Value* Model::add_input(Graph* graph, std::string_view name, Type type) {
    Value& value = values_.make();
    value.name = intern(name);
    value.type = std::move(type);
    value.graph_ = graph;
    value.is_graph_input_ = true;
    graph->inputs.push_back(&value);
    return &value;
}

Value* Model::add_initializer(Graph* graph, std::string_view name, Tensor tensor) {
    Value& value = values_.make();
    value.name = intern(name);
    value.type = tensor.type();
    value.constant = std::move(tensor);
    value.graph_ = graph;
    value.is_initializer_ = true;
    graph->initializers.push_back(&value);
    return &value;
}

Value* Model::add_sparse_initializer(Graph* graph, std::string_view name, SparseTensor tensor) {
    Value& value = values_.make();
    value.name = intern(name);
    value.type = dense_type(tensor);
    value.sparse = std::make_unique<const SparseTensor>(std::move(tensor));
    value.graph_ = graph;
    value.is_initializer_ = true;
    graph->initializers.push_back(&value);
    return &value;
}

void Model::add_default(Value* input, Tensor tensor) {
    SDX_CHECK(input->is_graph_input_ && !input->is_initializer_);
    input->constant = std::move(tensor);
    input->is_initializer_ = true;
    input->graph_->initializers.push_back(input);
}

void Model::remove_input(Value* input) {
    SDX_CHECK(input->is_graph_input_ && !input->is_initializer_ && !input->has_uses());
    std::vector<Value*>& inputs = input->graph_->inputs;
    inputs.erase(std::find(inputs.begin(), inputs.end(), input));
    input->graph_ = nullptr;
}

void Model::remove_initializer(Value* initializer) {
    SDX_CHECK(initializer->is_initializer_);
    SDX_CHECK(initializer->is_graph_input_ || !initializer->has_uses());
    std::vector<Value*>& initializers = initializer->graph_->initializers;
    initializers.erase(std::find(initializers.begin(), initializers.end(), initializer));
    initializer->is_initializer_ = false;
    initializer->constant.reset();
    initializer->sparse.reset();
    if (!initializer->is_graph_input_) {
        initializer->graph_ = nullptr;
    }
}

void Model::set_input_count(Node* node, size_t count) {
    std::span<Use> old = node->inputs_;
    Use* uses = static_cast<Use*>(arena_.allocate(sizeof(Use) * count, alignof(Use)));
    node->inputs_ = {uses, count};
    for (size_t i = 0; i < count; ++i) {
        new (&uses[i]) Use{nullptr, node, static_cast<uint32_t>(i), nullptr, nullptr};
    }
    for (size_t i = 0; i < old.size(); ++i) {
        Value* value = old[i].value;
        if (value != nullptr) {
            unlink_use(&old[i], &value->uses_);
        }
        if (value != nullptr && i < count) {
            link_use(&uses[i], value, &value->uses_);
        }
    }
}

Node* Model::make_node(std::string_view domain, std::string_view op_type,
                       std::span<Value* const> inputs, size_t output_count) {
    Node& node = nodes_.make();
    node.domain = intern(domain);
    node.op_type = intern(op_type);
    if (!inputs.empty()) {
        Use* uses = static_cast<Use*>(arena_.allocate(sizeof(Use) * inputs.size(), alignof(Use)));
        node.inputs_ = {uses, inputs.size()};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        Use* use =
            new (&node.inputs_[i]) Use{nullptr, &node, static_cast<uint32_t>(i), nullptr, nullptr};
        if (inputs[i] != nullptr) {
            link_use(use, inputs[i], &inputs[i]->uses_);
        }
    }
    if (output_count > 0) {
        Value** outputs =
            static_cast<Value**>(arena_.allocate(sizeof(Value*) * output_count, alignof(Value*)));
        node.outputs_ = {outputs, output_count};
    }
    for (size_t i = 0; i < output_count; ++i) {
        Value& value = values_.make();
        value.producer_ = &node;
        value.output_index_ = static_cast<uint32_t>(i);
        node.outputs_[i] = &value;
    }
    return &node;
}

Node* Model::make_node(std::string_view domain, std::string_view op_type,
                       std::span<Value* const> inputs,
                       std::span<const std::string_view> output_names) {
    Node* node = make_node(domain, op_type, inputs, output_names.size());
    for (size_t i = 0; i < output_names.size(); ++i) {
        node->outputs_[i]->name = intern(output_names[i]);
    }
    return node;
}

const Function* Model::find_function(std::string_view domain, std::string_view name,
                                     std::string_view overload) const {
    auto found = function_index_.find({domain, name, overload});
    return found != function_index_.end() ? found->second : nullptr;
}

int64_t Model::opset_version(std::string_view domain) const {
    return ir::opset_version(opset_imports, domain);
}

int64_t opset_version(std::span<const OpsetImport> imports, std::string_view domain) {
    for (const OpsetImport& import : imports) {
        if (normal_domain(import.domain) == normal_domain(domain)) {
            return import.version;
        }
    }
    return 0;
}

}  // namespace sardonyx::ir
