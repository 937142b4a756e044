// Inference of one node goes in three steps: the checks that the schema alone allows, the
// operator's own function, and what holds for all outputs (the element type of the schema's type
// variable; a symbol for every size that is not known).
#include "infer/infer.h"

#include <algorithm>

#include "base/stop.h"
#include "infer/call_cache.h"
#include "infer/diagnostics.h"
#include "infer/model_check.h"
#include "infer/operators.h"
#include "infer/schema_check.h"
#include "infer/subgraph.h"
#include "ops/schema_set.h"

namespace sardonyx::infer {
namespace {

// Gives a symbol to every size that is not known. Nor is one that would be negative: what made it
// so has been found to be wrong before, or stands for nothing that can happen.
void set_fresh_dims(const NodeContext& c, Type& type) {
    auto is_size = [](const Dim& dim) {
        return dim.is_static() ? dim.value() >= 0 : dim.is_symbolic();
    };
    if (!type.is_tensor() || !type.has_shape() ||
        std::all_of(type.shape().begin(), type.shape().end(), is_size)) {
        return;
    }
    Shape shape = type.shape();
    for (Dim& dim : shape) {
        if (!is_size(dim)) {
            dim = c.fresh_dim();
        }
    }
    type.set_shape(std::move(shape));
}

// Whether outputs of this parameter are always tensors.
bool is_tensor_parameter(const ops::Schema& schema, const ops::Parameter& parameter) {
    const ops::TypeSet& types = schema.type_variables[parameter.type_variable].types;
    return types.tensor != 0 && types.sequence == 0 && types.optional_tensor == 0 &&
           types.optional_sequence == 0 && !types.maps;
}

// What a schema file says of shapes: that of an output is that of an input.
void pass_declared_shapes(NodeContext& c, const ops::SchemaSet::Entry* entry) {
    for (size_t i = 0; entry != nullptr && i < c.output_count(); ++i) {
        const ops::Parameter* parameter = c.schema->output(i);
        int source = i < entry->shape_of.size() ? entry->shape_of[i] : -1;
        if (source >= 0 && parameter != nullptr && is_tensor_parameter(*c.schema, *parameter)) {
            c.pass_shape(static_cast<size_t>(source), i);
        }
    }
}

void finish_outputs(NodeContext& c) {
    for (size_t i = 0; i < c.output_count(); ++i) {
        Type& type = c.node.output(i)->type;
        const ops::Parameter* parameter = c.schema->output(i);
        if (!type.is_known() && parameter != nullptr &&
            is_tensor_parameter(*c.schema, *parameter)) {
            type = Type::tensor(c.output_element(i));
        }
        set_fresh_dims(c, type);
    }
}

void infer_subgraphs_of(const Context& context, ir::Node& node) {
    Context inner = context;
    inner.depth = context.depth + 1;
    if (context.subgraphs_are_typed || inner.depth > kMaxDepth) {
        return;
    }
    for (const ir::Attribute& attribute : node.attributes) {
        if (ir::Graph* const* graph = attribute.get<ir::Graph*>()) {
            infer_graph(inner, **graph);
        } else if (auto* graphs = attribute.get<std::vector<ir::Graph*>>()) {
            for (ir::Graph* each : *graphs) {
                infer_graph(inner, *each);
            }
        }
    }
}

// A node whose operator no schema describes: a call of a function, or an unknown operator.
void infer_call_node(const Context& context, ir::Node& node) {
    const ir::Function* function = called_function(context, node);
    if (function == nullptr) {
        infer_subgraphs_of(context, node);
        return;
    }
    size_t earlier_findings = context.findings != nullptr ? context.findings->size() : 0;
    finish_call(context, node, call_function(context, *function, inputs_of(node), node.attributes),
                earlier_findings);
}

// The first number that no symbol "unk__<n>" of the graph has.
void skip_fresh_numbers(const ir::Graph& graph, int& next) {
    auto see_value = [&next](const ir::Value* value) {
        drop_symbols(value->type, [&next](std::string_view symbol) {
            next = std::max(next, fresh_number(symbol).value_or(-1) + 1);
            return false;
        });
    };
    std::for_each(graph.inputs.begin(), graph.inputs.end(), see_value);
    StopCounter stops;
    for (const ir::Node& node : graph) {
        stops.step();
        std::for_each(node.outputs().begin(), node.outputs().end(), see_value);
        for (const ir::Attribute& attribute : node.attributes) {
            if (ir::Graph* const* subgraph = attribute.get<ir::Graph*>()) {
                skip_fresh_numbers(**subgraph, next);
            } else if (auto* subgraphs = attribute.get<std::vector<ir::Graph*>>()) {
                for (const ir::Graph* each : *subgraphs) {
                    skip_fresh_numbers(*each, next);
                }
            }
        }
    }
}

}  // namespace

void infer_node(const Context& context, ir::Node& node) {
    for (ir::Value* output : node.outputs()) {
        output->content.reset();
    }
    int64_t version = ir::opset_version(context.opset_imports, node.domain);
    const ops::Schema* schema =
        node.overload.empty()
            ? ops::find_schema(context.schemas, node.domain, node.op_type, version)
            : nullptr;
    if (schema == nullptr) {
        infer_call_node(context, node);
        return;
    }
    NodeContext c(context, node, schema);
    check_against_schema(c);
    if (InferFunction function = find_operator(node.domain, node.op_type)) {
        function(c);
    } else if (context.schemas != nullptr) {
        pass_declared_shapes(c, context.schemas->find(node.domain, node.op_type, version));
    }
    finish_outputs(c);
}

void infer_graph(const Context& context, ir::Graph& graph) {
    StopCounter stops;
    for (ir::Node& node : graph) {
        stops.step();
        if (context.depth > 0 && !take_steps(context, 1)) {
            return;
        }
        infer_node(context, node);
    }
}

std::vector<Finding> infer_model(ir::Model& model, const ops::SchemaSet* schemas,
                                 const BodyVisitor* typed_body) {
    std::vector<Finding> findings;
    if (model.graph == nullptr) {
        return findings;
    }
    int fresh_dims = 0;
    skip_fresh_numbers(*model.graph, fresh_dims);
    int64_t steps = kMaxSteps;
    CallCache calls;
    Context context;
    context.calls = &calls;
    context.model = &model;
    context.opset_imports = model.opset_imports;
    context.schemas = schemas;
    context.findings = &findings;
    context.fresh_dims = &fresh_dims;
    context.steps = &steps;
    context.typed_body = typed_body;
    check_node_names(model, schemas, findings);
    check_defaults(model, findings);
    infer_graph(context, *model.graph);
    check_recursion(model, findings);
    return findings;
}

}  // namespace sardonyx::infer
