// GraphProto, NodeProto and the body of a FunctionProto; and what the names mean.
//
// The messages of a graph are collected first and read in the order inputs, initializers, nodes,
// outputs, types of inner values: the order on the wire does not matter. Names are looked up in one
// table by symbol; a graph notes what it defines over an outer graph's names and puts that back at
// its end.
#include <fmt/format.h>

#include <algorithm>

#include "base/stop.h"
#include "ir/sparse.h"
#include "proto/fields.h"
#include "proto/read_context.h"
#include "proto/wire.h"
#include "types/domain.h"

namespace sardonyx::proto {
namespace {

using protozero::pbf_reader;

// The names that one graph defines.
class Scope {
  public:
    explicit Scope(ReadContext& context) : context_(context) {}

    ir::Value* find(std::string_view name) const {
        uint32_t index = context_.model.symbol(name).index;
        return index < context_.bindings.size() ? context_.bindings[index] : nullptr;
    }
    // Binds the name to the value, unless a value that `is_rival` accepts has the name already.
    template <typename IsRival>
    bool define(ir::Value* value, Symbol name, IsRival is_rival) {
        uint32_t index = name.index;
        if (index >= context_.bindings.size()) {
            context_.bindings.resize(std::max<size_t>(index + 1, 2 * context_.bindings.size()));
        }
        ir::Value*& binding = context_.bindings[index];
        if (binding != nullptr && is_rival(*binding)) {
            return false;
        }
        defined_.push_back({index, binding});
        binding = value;
        return true;
    }
    // Not in a destructor: after a failure, the names are not used.
    void close() {
        for (size_t i = defined_.size(); i > 0; --i) {
            context_.bindings[defined_[i - 1].index] = defined_[i - 1].hidden;
        }
    }

  private:
    struct Defined {
        uint32_t index;
        ir::Value* hidden;
    };
    ReadContext& context_;
    std::vector<Defined> defined_;
};

// --- Inputs and initializers ---------------------------------------------------------------------

// An input or initializer. It may hide a name of the graphs around, as the ONNX checker has it.
bool define(ReadContext& context, Scope* scope, ir::Value* value) {
    auto is_rival = [&](const ir::Value& other) { return other.graph() == value->graph(); };
    return scope->define(value, context.model.symbol(value->name), is_rival) ||
           context.fail(fmt::format("`{}` is defined twice", value->name));
}

bool define_input(ReadContext& context, Scope* scope, std::string_view name, ir::Graph* graph,
                  ir::Value** result) {
    if (name.empty()) {
        return context.fail("the input has no name");
    }
    *result = context.model.add_input(graph, name);
    return define(context, scope, *result);
}

bool read_inputs(ReadContext& context, const BodyParts& parts, BodyKind kind, Scope* scope,
                 ir::Graph* graph) {
    for (size_t i = 0; i < parts.inputs.size(); ++i) {
        stop_point_at(static_cast<int64_t>(i));
        context.enter("input", static_cast<int64_t>(i));
        ValueInfo info;
        bool ok = kind == BodyKind::kFunction
                      ? context.take() && context.keep(parts.inputs[i], &info.name)
                      : read_value_info(context, parts.inputs[i], &info);
        ir::Value* input = nullptr;
        if (!ok || !define_input(context, scope, info.name, graph, &input)) {
            return false;
        }
        apply_value_info(context, std::move(info), input);
        context.leave();
    }
    return true;
}

// The value that an initializer of this name is to become: null, or an input of the graph.
bool check_initializer_name(ReadContext& context, const Scope& scope, std::string_view name,
                            ir::Graph* graph, ir::Value** input) {
    if (name.empty()) {
        return context.fail("the initializer has no name");
    }
    ir::Value* known = scope.find(name);
    *input = known != nullptr && known->graph() == graph ? known : nullptr;
    if (*input != nullptr && known->is_initializer()) {
        return context.fail(fmt::format("`{}` is defined twice", name));
    }
    return true;
}

bool read_initializer(ReadContext& context, std::string_view bytes, Scope* scope,
                      ir::Graph* graph) {
    NamedTensor read;
    std::string_view name, doc;
    ir::Value* value = nullptr;
    if (!read_tensor(context, bytes, &read) || !context.keep(read.name, &name) ||
        !context.keep(read.doc, &doc) ||
        !check_initializer_name(context, *scope, name, graph, &value)) {
        return false;
    }
    if (value != nullptr) {
        context.model.add_default(value, std::move(read.tensor));
    } else {
        value = context.model.add_initializer(graph, name, std::move(read.tensor));
        if (!define(context, scope, value)) {
            return false;
        }
    }
    if (value->doc.empty()) {
        value->doc = doc;
    }
    if (value->metadata.empty()) {
        value->metadata = std::move(read.metadata);
    }
    return true;
}

bool read_sparse_initializer(ReadContext& context, std::string_view bytes, Scope* scope,
                             ir::Graph* graph) {
    ir::SparseTensor sparse;
    std::string_view name, kept;
    ir::Value* input = nullptr;
    if (!read_sparse_tensor(context, bytes, &sparse, &name) || !context.keep(name, &kept) ||
        !check_initializer_name(context, *scope, kept, graph, &input)) {
        return false;
    }
    if (input != nullptr) {
        ir::add_sparse_default(context.model, input, std::move(sparse));
        return true;
    }
    return define(context, scope,
                  context.model.add_sparse_initializer(graph, kept, std::move(sparse)));
}

bool read_initializers(ReadContext& context, const BodyParts& parts, Scope* scope,
                       ir::Graph* graph) {
    for (size_t i = 0; i < parts.initializers.size(); ++i) {
        stop_point();
        context.enter("initializer", static_cast<int64_t>(i));
        if (!read_initializer(context, parts.initializers[i], scope, graph)) {
            return false;
        }
        context.leave();
    }
    for (size_t i = 0; i < parts.sparse_initializers.size(); ++i) {
        context.enter("sparse_initializer", static_cast<int64_t>(i));
        if (!read_sparse_initializer(context, parts.sparse_initializers[i], scope, graph)) {
            return false;
        }
        context.leave();
    }
    return true;
}

// --- Nodes ---------------------------------------------------------------------------------------

// The fields of a NodeProto; the texts are views of the file until the node is made.
struct NodeParts {
    std::vector<std::string_view> inputs, outputs, attributes;
    std::vector<Symbol> names;  // of the outputs
    std::string_view domain, op_type;
    std::string_view name, doc, overload;  // kept
    ir::Metadata metadata;
    std::string preserved;

    void clear() {
        inputs.clear();
        outputs.clear();
        attributes.clear();
        domain = op_type = name = doc = overload = {};
        metadata.clear();
        preserved.clear();
    }
};

bool read_node_parts(ReadContext& context, std::string_view bytes, NodeParts* parts) {
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(NodeField::kInput):
                if (!context.take()) {
                    return false;
                }
                parts->inputs.push_back(message.get_view());
                break;
            case bytes_field(NodeField::kOutput):
                if (!context.take() ||
                    !context.check_text(message.get_view(), &parts->outputs.emplace_back())) {
                    return false;
                }
                break;
            case bytes_field(NodeField::kAttribute):
                if (!context.take()) {
                    return false;
                }
                parts->attributes.push_back(message.get_view());
                break;
            case bytes_field(NodeField::kOpType):
                if (!context.check_text(message.get_view(), &parts->op_type)) {
                    return false;
                }
                break;
            case bytes_field(NodeField::kDomain):
                if (!context.check_text(message.get_view(), &parts->domain)) {
                    return false;
                }
                break;
            case bytes_field(NodeField::kName):
                if (!context.keep_apart(message.get_view(), &parts->name)) {
                    return false;
                }
                break;
            case bytes_field(NodeField::kDoc):
                if (!context.keep_apart(message.get_view(), &parts->doc)) {
                    return false;
                }
                break;
            case bytes_field(NodeField::kOverload):
                if (!context.keep(message.get_view(), &parts->overload)) {
                    return false;
                }
                break;
            case bytes_field(NodeField::kMetadata):
                if (!read_metadata(context, message.get_view(), &parts->metadata)) {
                    return false;
                }
                break;
            default:  // device_configurations, and what later releases have
                preserve_field(&message, &parts->preserved);
        }
    }
    return true;
}

// "node `name` (Add)", or "the Add node" when it has no name.
std::string describe(const NodeParts& node) {
    return node.name.empty() ? fmt::format("the {} node", node.op_type)
                             : fmt::format("node `{}` ({})", node.name, node.op_type);
}

bool has_output(std::string_view node_bytes, std::string_view name) {
    pbf_reader message(node_bytes);
    while (message.next()) {
        if (message.tag_and_type() != bytes_field(NodeField::kOutput)) {
            message.skip();
        } else if (message.get_view() == name) {
            return true;
        }
    }
    return false;
}

// Only for the error message: the damaged bytes of a later node are not this node's mistake, so
// they may throw on the way and are reported instead.
bool is_defined_later(const ReadContext& context, std::string_view name) {
    for (const ReadContext::OpenGraph& graph : context.open_graphs) {
        for (size_t i = graph.next; i < graph.nodes->size(); ++i) {
            if (has_output((*graph.nodes)[i], name)) {
                return true;
            }
        }
    }
    return false;
}

bool resolve_inputs(ReadContext& context, const NodeParts& node, const Scope& scope,
                    std::vector<ir::Value*>* inputs) {
    inputs->clear();
    for (std::string_view name : node.inputs) {
        ir::Value* value = name.empty() ? nullptr : scope.find(name);
        if (value == nullptr && !name.empty()) {
            return context.fail(
                is_defined_later(context, name)
                    ? fmt::format("{} uses `{}` before the node that makes it; nodes must be in "
                                  "the order of execution",
                                  describe(node), name)
                    : fmt::format("{} uses `{}`, which nothing defines", describe(node), name));
        }
        inputs->push_back(value);
    }
    return true;
}

// Gives the outputs their names, each of which is looked up once.
void name_outputs(ReadContext& context, NodeParts* parts, const ir::Node& node) {
    parts->names.clear();
    for (size_t i = 0; i < parts->outputs.size(); ++i) {
        std::string_view name = parts->outputs[i];
        parts->names.push_back(name.empty() ? Symbol() : context.model.symbol(name));
        node.output(i)->name = context.model.text(parts->names.back());
    }
}

bool define_outputs(ReadContext& context, const NodeParts& parts, const ir::Node& node,
                    Scope* scope) {
    for (size_t i = 0; i < parts.names.size(); ++i) {
        if (parts.names[i].valid() &&
            !scope->define(node.output(i), parts.names[i], [](const ir::Value&) { return true; })) {
            return context.fail(fmt::format("{} makes `{}`, which is defined already",
                                            describe(parts), node.output(i)->name));
        }
    }
    return true;
}

bool read_node(ReadContext& context, std::string_view bytes, Scope* scope, ir::Graph* graph,
               NodeParts* parts, std::vector<ir::Value*>* inputs) {
    if (!context.take() || !read_node_parts(context, bytes, parts)) {
        return false;
    }
    if (parts->op_type.empty()) {
        return context.fail("the node has no `op_type`");
    }
    if (!resolve_inputs(context, *parts, *scope, inputs)) {
        return false;
    }
    ir::Node* node = context.model.make_node(normal_domain(parts->domain), parts->op_type, *inputs,
                                             parts->outputs.size());
    name_outputs(context, parts, *node);
    node->name = parts->name;
    node->doc = parts->doc;
    node->overload = parts->overload;
    node->metadata = std::move(parts->metadata);
    if (!parts->preserved.empty()) {
        node->preserved = context.model.intern(parts->preserved);
    }
    if (!parts->attributes.empty() &&
        !read_attributes(context, "attribute", parts->attributes, graph, &node->attributes)) {
        return false;
    }
    graph->insert(node);
    return define_outputs(context, *parts, *node, scope);
}

bool read_nodes(ReadContext& context, const BodyParts& parts, Scope* scope, ir::Graph* graph) {
    size_t level = context.open_graphs.size();
    context.open_graphs.push_back({&parts.nodes, 0});
    NodeParts node;
    std::vector<ir::Value*> inputs;
    for (size_t i = 0; i < parts.nodes.size(); ++i) {
        stop_point_at(static_cast<int64_t>(i));
        context.enter("node", static_cast<int64_t>(i));
        context.open_graphs[level].next = i + 1;
        node.clear();
        if (!read_node(context, parts.nodes[i], scope, graph, &node, &inputs)) {
            return false;
        }
        context.leave();
    }
    context.open_graphs.pop_back();
    return true;
}

// --- Outputs and the types of inner values -------------------------------------------------------

bool read_outputs(ReadContext& context, const BodyParts& parts, BodyKind kind, const Scope& scope,
                  ir::Graph* graph) {
    for (size_t i = 0; i < parts.outputs.size(); ++i) {
        stop_point_at(static_cast<int64_t>(i));
        context.enter("output", static_cast<int64_t>(i));
        ValueInfo info;
        bool ok = kind == BodyKind::kFunction
                      ? context.take() && context.keep(parts.outputs[i], &info.name)
                      : read_value_info(context, parts.outputs[i], &info);
        if (!ok) {
            return false;
        }
        ir::Value* value =
            kind == BodyKind::kFunction && !info.name.empty() ? scope.find(info.name) : info.value;
        if (value == nullptr) {
            return context.fail(
                fmt::format("the output `{}` is not defined in the graph", info.name));
        }
        graph->outputs.push_back(value);
        if (value->graph() == graph) {
            apply_value_info(context, std::move(info), value);
        }
        context.leave();
    }
    return true;
}

// Entries for names that the graph does not have are legal and say nothing, nor do those for
// initializers, whose types are those of their elements: they are kept as they are.
bool read_value_infos(ReadContext& context, const BodyParts& parts, BodyKind kind,
                      ir::Graph* graph) {
    uint32_t field = GraphField::kValueInfo;
    if (kind == BodyKind::kFunction) {
        field = FunctionField::kValueInfo;
    }
    std::string kept;
    for (size_t i = 0; i < parts.value_infos.size(); ++i) {
        stop_point_at(static_cast<int64_t>(i));
        context.enter("value_info", static_cast<int64_t>(i));
        ValueInfo info;
        if (!read_value_info(context, parts.value_infos[i], &info)) {
            return false;
        }
        ir::Value* value = info.value;
        bool is_own = value != nullptr && value->graph() == graph;
        if (is_own && (value->producer() != nullptr || value->is_graph_input())) {
            apply_value_info(context, std::move(info), value);
        } else {
            protozero::add_varint_to_buffer(&kept, bytes_field(field));
            protozero::add_varint_to_buffer(&kept, parts.value_infos[i].size());
            kept += parts.value_infos[i];
        }
        context.leave();
    }
    if (!kept.empty()) {
        graph->preserved = context.model.intern(kept + std::string(graph->preserved));
    }
    return true;
}

bool read_graph_parts(ReadContext& context, std::string_view bytes, BodyParts* parts,
                      ir::Graph* graph) {
    std::string preserved;
    pbf_reader message(bytes);
    while (message.next()) {
        bool ok = true;
        switch (message.tag_and_type()) {
            case bytes_field(GraphField::kNode):
                ok = context.collect(message.get_view(), &parts->nodes);
                break;
            case bytes_field(GraphField::kInput):
                ok = context.collect(message.get_view(), &parts->inputs);
                break;
            case bytes_field(GraphField::kOutput):
                ok = context.collect(message.get_view(), &parts->outputs);
                break;
            case bytes_field(GraphField::kInitializer):
                ok = context.collect(message.get_view(), &parts->initializers);
                break;
            case bytes_field(GraphField::kSparseInitializer):
                ok = context.collect(message.get_view(), &parts->sparse_initializers);
                break;
            case bytes_field(GraphField::kValueInfo):
                ok = context.collect(message.get_view(), &parts->value_infos);
                break;
            case bytes_field(GraphField::kName):
                ok = context.keep(message.get_view(), &graph->name);
                break;
            case bytes_field(GraphField::kDoc):
                ok = context.keep(message.get_view(), &graph->doc);
                break;
            case bytes_field(GraphField::kMetadata):
                ok = read_metadata(context, message.get_view(), &graph->metadata);
                break;
            default:  // quantization_annotation, and what later releases have
                preserve_field(&message, &preserved);
        }
        if (!ok) {
            return false;
        }
    }
    graph->preserved = context.model.intern(preserved);
    return true;
}

}  // namespace

bool read_body(ReadContext& context, const BodyParts& parts, BodyKind kind, ir::Graph* graph) {
    Scope scope(context);
    context.model.reserve_symbols(parts.inputs.size() + parts.initializers.size() +
                                  parts.nodes.size());
    if (!read_inputs(context, parts, kind, &scope, graph) ||
        !read_initializers(context, parts, &scope, graph) ||
        !read_nodes(context, parts, &scope, graph) ||
        !read_outputs(context, parts, kind, scope, graph) ||
        !read_value_infos(context, parts, kind, graph)) {
        return false;
    }
    scope.close();
    return true;
}

bool read_graph(ReadContext& context, std::string_view bytes, ir::Graph* graph) {
    BodyParts parts;
    if (!context.descend() || !read_graph_parts(context, bytes, &parts, graph) ||
        !read_body(context, parts, BodyKind::kGraph, graph)) {
        return false;
    }
    context.ascend();
    return true;
}

}  // namespace sardonyx::proto
