#include "eval/plan/body_outputs.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "infer/infer.h"
#include "ir/copy.h"
#include "ir/standard.h"
#include "ir/walk.h"

namespace sardonyx::eval {
namespace {

using Bodies = std::vector<const ir::Graph*>;

// Subgraphs beyond infer::kMaxDepth are not typed, so that nothing is looked for there.
void add_bodies(const ir::Graph& graph, int depth, Bodies* bodies) {
    for (const ir::Node& node : graph) {
        bool is_loop = ir::is_standard(node, "Loop") || ir::is_standard(node, "Scan") ||
                       ir::is_standard(node, "SequenceMap");
        ir::for_each_subgraph(node, [&](const ir::Graph& subgraph) {
            if (is_loop) {
                bodies->push_back(&subgraph);
            }
            if (depth < infer::kMaxDepth) {
                add_bodies(subgraph, depth + 1, bodies);
            }
        });
    }
}

// In an order that a copy of the model has too.
Bodies bodies_of(const ir::Model& model) {
    Bodies bodies;
    if (model.graph != nullptr) {
        add_bodies(*model.graph, 0, &bodies);
    }
    for (const ir::Function* function : model.functions) {
        add_bodies(*function->body, 0, &bodies);
    }
    return bodies;
}

bool is_complete(const ir::Value* output) {
    const Type& type = output->type;
    return type.is_tensor() && type.element_type() != ElementType::kUndefined && type.has_shape() &&
           std::all_of(type.shape().begin(), type.shape().end(),
                       [](const Dim& dim) { return dim.is_static(); });
}

bool has_incomplete(const ir::Graph* body) {
    return !std::all_of(body->outputs.begin(), body->outputs.end(), is_complete);
}

std::vector<Type> output_types(const ir::Graph& graph) {
    std::vector<Type> types;
    for (const ir::Value* output : graph.outputs) {
        types.push_back(output->type);
    }
    return types;
}

// What holds for several calls of a function.
void join_types(std::vector<Type> types, std::vector<Type>* known) {
    if (known->empty()) {
        *known = std::move(types);
        return;
    }
    for (size_t i = 0; i < types.size(); ++i) {
        (*known)[i] = join((*known)[i], types[i]);
    }
}

using Inferred = std::unordered_map<const ir::Graph*, std::vector<Type>>;

// Types a model, and notes the types of the bodies' outputs in each call that is walked.
void infer_bodies(ir::Model& model, const ir::Function* called, Inferred* inferred) {
    auto note = [inferred](const ir::Graph& graph) {
        Bodies bodies;
        add_bodies(graph, 0, &bodies);
        for (const ir::Graph* body : bodies) {
            join_types(output_types(*body), &(*inferred)[body]);
        }
    };
    infer::BodyVisitor visit = [&note](const ir::Function& function) { note(*function.body); };
    if (called != nullptr) {
        int fresh_dims = 0;
        infer::Context context;
        context.model = &model;
        context.opset_imports = called->opset_imports;
        context.fresh_dims = &fresh_dims;
        context.typed_body = &visit;
        infer::infer_call(context, *called, {}, {});
    } else if (model.graph != nullptr) {
        infer::infer_model(model, nullptr, &visit);
        note(*model.graph);
    }
}

}  // namespace

BodyOutputs::BodyOutputs(const ir::Model& model, const ir::Function* called) {
    Bodies bodies = bodies_of(model);
    if (std::none_of(bodies.begin(), bodies.end(), has_incomplete)) {
        return;
    }
    std::unique_ptr<ir::Model> typed = ir::copy(model);
    Bodies typed_bodies = bodies_of(*typed);
    auto position = std::find(model.functions.begin(), model.functions.end(), called);
    Inferred inferred;
    infer_bodies(*typed,
                 position != model.functions.end()
                     ? typed->functions[static_cast<size_t>(position - model.functions.begin())]
                     : nullptr,
                 &inferred);
    for (size_t i = 0; i < bodies.size() && i < typed_bodies.size(); ++i) {
        inferred_[bodies[i]] = std::move(inferred[typed_bodies[i]]);
    }
}

std::vector<Type> BodyOutputs::of(const ir::Graph& graph) const {
    std::vector<Type> types = output_types(graph);
    auto found = inferred_.find(&graph);
    for (size_t i = 0; found != inferred_.end() && i < found->second.size(); ++i) {
        types[i] = merge(types[i], found->second[i]).value_or(types[i]);
    }
    return types;
}

}  // namespace sardonyx::eval
