#include "models/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/stop.h"
#include "infer/infer.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "models/dims.h"
#include "models/inline.h"
#include "models/runtimes.h"
#include "models/values.h"
#include "proto/proto.h"
#include "types/domain.h"

namespace sardonyx::models {
namespace {

using OperatorKey = std::pair<std::string, std::string>;

void set_sizes_of(ir::Model& model, const Sizes& sizes, std::set<std::string>& seen) {
    replace_dims(model, [&](std::string_view name) {
        seen.emplace(name);
        for (const auto& [known, size] : sizes) {
            if (known == name) {
                return Dim(size);
            }
        }
        return Dim::symbol(name);
    });
}

Error unknown_size(const std::string& name, const std::set<std::string>& seen) {
    std::string list;
    for (const std::string& one : seen) {
        list += fmt::format("{}`{}`", list.empty() ? "" : ", ", one);
    }
    return Error{fmt::format("no value has a dimension `{}`; {}", name,
                             list.empty() ? "none has a name" : "there are " + list)};
}

std::string operator_name(const ir::Node& node) {
    return node.domain.empty() ? std::string(node.op_type)
                               : fmt::format("{}.{}", node.domain, node.op_type);
}

void count_nodes(const ir::Model& model, const ir::Graph& graph,
                 std::map<OperatorKey, OperatorCount>& counts) {
    for (const ir::Node& node : graph) {
        stop_point();
        std::string domain(shown_domain(node.domain));
        OperatorCount& one = counts[{domain, std::string(node.op_type)}];
        one.domain = std::move(domain);
        one.name = node.op_type;
        one.is_function = model.find_function(node.domain, node.op_type, node.overload) != nullptr;
        ++one.count;
        ir::for_each_subgraph(node,
                              [&](const ir::Graph& inner) { count_nodes(model, inner, counts); });
    }
}

std::vector<OperatorCount> in_order(const std::map<OperatorKey, OperatorCount>& counts) {
    std::vector<OperatorCount> result;
    for (const auto& [key, one] : counts) {
        result.push_back(one);
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    return result;
}

// --- The parts of a description ------------------------------------------------------------------

void describe_header(const ir::Model& model, Info& info) {
    info.graph = model.graph->name;
    info.producer = model.producer_name;
    if (!model.producer_version.empty()) {
        info.producer += fmt::format(" {}", model.producer_version);
    }
    info.doc = model.doc;
    info.ir_version = proto::needed_ir_version(model);
    info.model_version = model.model_version;
    for (const ir::OpsetImport& import : model.opset_imports) {
        info.opsets.emplace_back(shown_domain(import.domain), import.version);
    }
    for (const auto& [key, value] : model.metadata) {
        info.metadata.emplace_back(key, value);
    }
    info.runtime = needed_runtime(model);
}

void describe_operators(const ir::Model& model, Info& info) {
    std::map<OperatorKey, OperatorCount> counts;
    count_nodes(model, *model.graph, counts);
    info.operators = in_order(counts);
    std::map<const ir::Function*, size_t> calls;
    auto count_calls = [&](const ir::Graph& graph) {
        for_each_graph(const_cast<ir::Graph&>(graph), [&](ir::Graph& each) {
            for (const ir::Node& node : each) {
                stop_point();
                ++calls[model.find_function(node.domain, node.op_type, node.overload)];
            }
        });
    };
    count_calls(*model.graph);
    for (const ir::Function* function : model.functions) {
        count_calls(*function->body);
    }
    for (const ir::Function* function : model.functions) {
        FunctionInfo& one = info.functions.emplace_back();
        one.name = fmt::format("{}:{}{}{}", shown_domain(function->domain), function->name,
                               function->overload.empty() ? "" : ":", function->overload);
        one.calls = calls[function];
        for ([[maybe_unused]] const ir::Node& node : *function->body) {
            ++one.nodes;
        }
    }
}

void describe_weights(const ir::Model& model, Info& info) {
    std::map<ElementType, WeightKind> kinds;
    auto add = [&](const Tensor& tensor) {
        WeightKind& kind = kinds[tensor.element_type()];
        kind.type = sardonyx::name(tensor.element_type());
        ++kind.tensors;
        kind.elements += tensor.count();
        bool is_text = tensor.element_type() == ElementType::kString;
        kind.bytes += is_text ? 0 : static_cast<int64_t>(tensor.stored_bytes().size());
    };
    auto add_graph = [&](const ir::Graph& graph) {
        for_each_value(graph, [&](const ir::Value& value) {
            if (value.is_initializer() && value.sparse != nullptr) {
                add(value.sparse->values);
            } else if (value.is_initializer() && value.constant) {
                add(*value.constant);
            } else if (value.producer() != nullptr && is_stored(value)) {
                const ir::Attribute* attribute = value.producer()->find_attribute("value");
                const auto* tensor = attribute != nullptr ? attribute->get<Tensor>() : nullptr;
                if (tensor != nullptr) {
                    add(*tensor);
                }
            }
        });
    };
    add_graph(*model.graph);
    for (const ir::Function* function : model.functions) {
        add_graph(*function->body);
    }
    for (auto& [type, kind] : kinds) {
        info.parameters += kind.elements;
        info.weight_bytes += kind.bytes;
        info.weights.push_back(std::move(kind));
    }
}

void add_cost(Dim& sum, const Dim& one) {
    sum = sum + one;
}

// `typed`: the model with its functions inlined, and types; `origins`: which nodes of `model` its
// own are.
void describe_costs(const ir::Model& model, const ir::Model& typed, const Origins& origins,
                    Info& info) {
    for (const ir::Node& node : *model.graph) {
        stop_point();
        NodeInfo& row = info.nodes.emplace_back();
        const ir::Value* output = node.output(0);
        row.name = !node.name.empty() ? node.name : output != nullptr ? output->name : "";
        row.op = operator_name(node);
        row.cost = {0, 0, 0};
    }
    std::map<OperatorKey, OperatorCount> uncounted;
    info.operations = 0;
    for (const ir::Node& node : *typed.graph) {
        stop_point();
        NodeInfo& row = info.nodes[origins.at(&node)];
        Cost cost = cost_of(typed, node);
        add_cost(row.cost.operations, cost.operations);
        add_cost(row.cost.bytes_read, cost.bytes_read);
        add_cost(row.cost.bytes_written, cost.bytes_written);
        if (node.output(0) != nullptr && node.output(0)->type.is_known()) {
            row.type = node.output(0)->type.to_string();
        }
        if (cost.operations.is_unknown()) {
            OperatorCount& one =
                uncounted[{std::string(shown_domain(node.domain)), std::string(node.op_type)}];
            one.domain = shown_domain(node.domain);
            one.name = node.op_type;
            ++one.count;
        } else {
            add_cost(info.operations, cost.operations);
        }
    }
    info.uncounted = in_order(uncounted);
    info.peak = peak_of(*typed.graph);
}

}  // namespace

Result<Info> describe(const ir::Model& model, const Sizes& sizes) {
    if (model.graph == nullptr) {
        return Error{"the file has only functions, and no graph"};
    }
    Info info;
    describe_header(model, info);
    describe_operators(model, info);
    describe_weights(model, info);
    std::unique_ptr<ir::Model> typed = ir::copy(model);
    Origins origins = inline_calls(*typed);
    std::set<std::string> seen;
    set_sizes_of(*typed, sizes, seen);
    (void)infer::infer_model(*typed);
    set_sizes_of(*typed, sizes, seen);  // those that only inference has met
    for (const auto& [name, size] : sizes) {
        if (!seen.contains(name)) {
            return unknown_size(name, seen);
        }
    }
    info.dims.assign(seen.begin(), seen.end());
    for (const ir::Value* input : typed->graph->inputs) {
        info.inputs.push_back({std::string(input->name), input->type.to_string()});
    }
    for (size_t i = 0; i < typed->graph->outputs.size(); ++i) {
        info.outputs.push_back({std::string(model.graph->outputs[i]->name),
                                typed->graph->outputs[i]->type.to_string()});
    }
    describe_costs(model, *typed, origins, info);
    return info;
}

}  // namespace sardonyx::models
