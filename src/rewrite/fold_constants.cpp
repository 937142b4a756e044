#include "rewrite/fold_constants.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/stop.h"
#include "eval/eager.h"
#include "ir/standard.h"
#include "ir/walk.h"

namespace sardonyx::rewrite {
namespace {

bool is_constant_node(const ir::Node* node) {
    return node != nullptr && ir::is_standard(*node, "Constant");
}

class Folder {
  public:
    Folder(ir::Model& model, size_t max_bytes) : model_(model), max_bytes_(max_bytes) {}

    void run() {
        see_outputs(*model_.graph);
        fold(*model_.graph, model_.opset_imports);
        for (ir::Function* function : model_.functions) {
            see_outputs(*function->body);
            fold(*function->body, function->opset_imports);
        }
    }

  private:
    // Outputs of graphs are no uses.
    void see_outputs(const ir::Graph& graph) {
        outputs_.insert(graph.outputs.begin(), graph.outputs.end());
        for (const ir::Node& node : graph) {
            ir::for_each_subgraph(node, [&](const ir::Graph& inner) { see_outputs(inner); });
        }
    }

    void fold(ir::Graph& graph, std::span<const ir::OpsetImport> imports) {
        for (ir::Node& node : graph) {
            stop_point();
            ir::for_each_subgraph(node, [&](ir::Graph& inner) { fold(inner, imports); });
            if (std::optional<Tensor> tensor = result_of(node, imports)) {
                replace(node, std::move(*tensor));
            }
        }
    }

    // What the node makes in each run; nothing: it is not known, or none of our business.
    std::optional<Tensor> result_of(const ir::Node& node,
                                    std::span<const ir::OpsetImport> imports) const {
        bool is_candidate =
            node.input_count() > 0 && node.output_count() == 1 &&
            std::all_of(node.inputs().begin(), node.inputs().end(),
                        [](const ir::Use& use) {
                            return use.value == nullptr ||
                                   (is_constant_node(use.value->producer()) &&
                                    use.value->constant.has_value());
                        }) &&
            std::none_of(node.attributes.begin(), node.attributes.end(),
                         [](const ir::Attribute& one) {
                             return one.is_reference() || one.get<ir::Graph*>() != nullptr ||
                                    one.get<std::vector<ir::Graph*>>() != nullptr;
                         }) &&
            model_.find_function(node.domain, node.op_type, node.overload) == nullptr;
        if (!is_candidate) {
            return std::nullopt;
        }
        int64_t version = ir::opset_version(imports, node.domain);
        const eval::OperatorEntry* entry = eval::find_operator(node.domain, node.op_type, version);
        if (entry == nullptr || entry->kernel == nullptr || !entry->schema->is_deterministic) {
            return std::nullopt;
        }
        return run(*entry, version, node);
    }

    std::optional<Tensor> run(const eval::OperatorEntry& entry, int64_t version,
                              const ir::Node& node) const {
        std::vector<eval::RuntimeValue> values;
        for (const ir::Use& use : node.inputs()) {
            values.push_back(use.value == nullptr ? eval::RuntimeValue()
                                                  : eval::RuntimeValue(*use.value->constant));
        }
        // What is left out at the end is not there; as a value it would be an empty optional.
        while (!values.empty() && values.back().is_none()) {
            values.pop_back();
        }
        std::vector<const eval::RuntimeValue*> inputs;
        for (const eval::RuntimeValue& value : values) {
            inputs.push_back(&value);
        }
        std::vector<eval::RuntimeValue> outputs(std::max<size_t>(1, entry.schema->minimum_outputs));
        eval::RunOptions options;
        options.max_bytes = static_cast<int64_t>(max_bytes_);
        eval::Status done =
            eval::run_operator(entry, version, inputs, node.attributes, outputs, options);
        if (!done.ok() || !outputs[0].is_tensor() ||
            outputs[0].tensor().element_type() == ElementType::kString ||
            outputs[0].tensor().bytes().size() > max_bytes_) {
            return std::nullopt;
        }
        return outputs[0].tensor();
    }

    void replace(ir::Node& node, Tensor tensor) {
        std::vector<ir::Value*> inputs;
        for (const ir::Use& use : node.inputs()) {
            inputs.push_back(use.value);
        }
        model_.set_input_count(&node, 0);
        node.op_type = model_.intern("Constant");
        node.attributes = {ir::make_attribute(model_.intern("value"), tensor)};
        node.output()->constant = std::move(tensor);
        for (ir::Value* input : inputs) {
            bool is_read = input == nullptr || input->has_uses() || outputs_.count(input) != 0;
            // An input that stands twice goes once.
            if (!is_read && input->producer()->graph() != nullptr) {
                input->graph()->remove(input->producer());
            }
        }
    }

    ir::Model& model_;
    size_t max_bytes_;
    std::unordered_set<const ir::Value*> outputs_;  // of graphs
};

}  // namespace

void fold_constants(ir::Model& model, size_t max_bytes) {
    if (max_bytes > 0) {
        Folder(model, max_bytes).run();
    }
}

}  // namespace sardonyx::rewrite
