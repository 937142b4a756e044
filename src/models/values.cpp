#include "models/values.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/stop.h"
#include "ir/standard.h"
#include "ir/walk.h"

namespace sardonyx::models {

std::string did_you_mean(std::string_view name, std::span<const std::string_view> names) {
    std::string_view near = nearest(name, names);
    return near.empty() ? std::string() : fmt::format("; did you mean `{}`?", near);
}

void for_each_value(const ir::Graph& graph, const std::function<void(ir::Value&)>& visit) {
    for (ir::Value* input : graph.inputs) {
        visit(*input);
    }
    for (ir::Value* initializer : graph.initializers) {
        if (!initializer->is_graph_input()) {
            visit(*initializer);
        }
    }
    for (const ir::Node& node : graph) {
        stop_point();
        for_each_result(node, visit);
    }
}

void for_each_result(const ir::Node& node, const std::function<void(ir::Value&)>& visit) {
    for (ir::Value* output : node.outputs()) {
        visit(*output);
    }
    ir::for_each_subgraph(node, [&](const ir::Graph& inner) { for_each_value(inner, visit); });
}

void for_each_graph(ir::Graph& graph, const std::function<void(ir::Graph&)>& visit) {
    visit(graph);
    for (ir::Node& node : graph) {
        ir::for_each_subgraph(node, [&](ir::Graph& inner) { for_each_graph(inner, visit); });
    }
}

Result<void> check_notes(const ir::Model& model, std::string_view whose, std::string_view words) {
    if (model.preserved.empty() && model.graph->preserved.empty()) {
        return {};
    }
    return Error{fmt::format(
        "{} has notes of quantization, training or devices, which name values and {}: remove "
        "them first with `sardonyx strip --keep docs,metadata,types,names,unused`",
        whose, words)};
}

Result<ir::Value*> find_value(const ir::Model& model, std::string_view name) {
    std::vector<std::string_view> names;
    ir::Value* found = nullptr;
    for_each_value(*model.graph, [&](ir::Value& value) {
        found = value.name == name && !name.empty() ? &value : found;
        if (value.graph() == model.graph && !value.name.empty()) {
            names.push_back(value.name);
        }
    });
    if (found == nullptr) {
        return Error{
            fmt::format("there is no value `{}` in the graph{}", name, did_you_mean(name, names))};
    }
    if (found->graph() != model.graph) {
        return Error{fmt::format("value `{}` is in the subgraph `{}`, which ends with its node",
                                 name, found->graph()->name)};
    }
    return found;
}

bool is_stored(const ir::Value& value) {
    return value.producer() != nullptr ? ir::is_standard(value.producer(), "Constant")
                                       : value.is_initializer() && !value.is_graph_input();
}

const Tensor* stored_tensor(const ir::Value& value) {
    if (value.producer() == nullptr) {
        return value.constant ? &*value.constant : nullptr;
    }
    const ir::Attribute* attribute =
        is_stored(value) ? value.producer()->find_attribute("value") : nullptr;
    return attribute != nullptr ? attribute->get<Tensor>() : nullptr;
}

Result<ir::Graph*> main_graph(ir::Model& model) {
    if (model.graph == nullptr) {
        return Error{"the file has only functions, and no graph"};
    }
    return model.graph;
}

}  // namespace sardonyx::models
