#include "models/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "infer/infer.h"
#include "ir/copy.h"
#include "models/values.h"

namespace sardonyx::models {
namespace {

using Types = std::unordered_map<std::string, Type>;

Types inferred_types(const ir::Model& model) {
    std::unique_ptr<ir::Model> typed = ir::copy(model);
    (void)infer::infer_model(*typed);
    Types types;
    for_each_value(*typed->graph, [&](const ir::Value& value) {
        types.emplace(std::string(value.name), value.type);
    });
    return types;
}

class Cutter {
  public:
    explicit Cutter(ir::Model& model)
        : model_(model), graph_(*model.graph), types_(inferred_types(model)) {}

    Result<Cut> run(const CutRequest& request) {
        SDX_ASSIGN(std::vector<ir::Value*> inputs, find(request.inputs, "--from"));
        SDX_ASSIGN(std::vector<ir::Value*> outputs, find(request.outputs, "--to"));
        if (outputs.empty()) {
            outputs = graph_.outputs;
        }
        for (ir::Value* output : outputs) {
            SDX_TRY(know_type(*output));
        }
        std::vector<ir::Value*> ours;
        for (ir::Value* input : inputs) {
            SDX_ASSIGN(ir::Value * one, make_input(*input));
            std::replace(outputs.begin(), outputs.end(), input, one);
            ours.push_back(one);
        }
        graph_.outputs = outputs;
        Cut result;
        result.removed = remove_unused(model_);
        if (!ours.empty() || result.removed.nodes + result.removed.initializers > 0) {
            SDX_TRY(check_notes(model_, "the model", "would name values that go"));
        }
        SDX_TRY(settle_inputs(ours, result));
        for (const ir::Value* output : graph_.outputs) {
            result.outputs.emplace_back(output->name);
        }
        return result;
    }

  private:
    Result<std::vector<ir::Value*>> find(const std::vector<std::string>& names,
                                         std::string_view option) {
        std::vector<ir::Value*> values;
        for (const std::string& name : names) {
            SDX_ASSIGN(ir::Value * value, find_value(model_, name));
            if (std::find(values.begin(), values.end(), value) != values.end()) {
                return Error{fmt::format("`{} {}` is given twice", option, name)};
            }
            values.push_back(value);
        }
        return values;
    }

    // What a graph says of its inputs and outputs it must say whole.
    Result<void> know_type(ir::Value& value) {
        auto known = types_.find(std::string(value.name));
        if (!value.type.is_known() && value.preserved.empty() && known != types_.end()) {
            value.type = known->second;
        }
        bool lacks =
            !value.type.is_known() ||
            (value.type.is_tensor() && value.type.element_type() == ElementType::kUndefined);
        if (lacks && value.preserved.empty()) {
            return Error{fmt::format(
                "the type of `{0}` is not known; set it first: `sardonyx set-shape MODEL "
                "'{0}=FLOAT[...]' -o OUT.onnx`",
                value.name)};
        }
        return {};
    }

    // An input in the place of a value that a node makes, or that is stored.
    Result<ir::Value*> make_input(ir::Value& value) {
        if (value.is_graph_input()) {
            return &value;
        }
        SDX_TRY(know_type(value));
        std::string name(value.name);
        ir::Value* input = model_.add_input(&graph_, name, value.type);
        input->doc = value.doc;
        input->metadata = value.metadata;
        input->preserved = value.preserved;
        value.replace_uses_with(input);
        for_each_graph(graph_, [&](ir::Graph& graph) {
            std::replace(graph.outputs.begin(), graph.outputs.end(), &value, input);
        });
        value.name = value.producer() != nullptr ? other_name(name) : value.name;
        if (value.producer() == nullptr) {
            model_.remove_initializer(&value);
        }
        return input;
    }

    // For an output of a node that stays for its other outputs.
    std::string_view other_name(const std::string& name) {
        std::unordered_set<std::string_view> taken;
        for_each_value(graph_, [&](const ir::Value& value) { taken.insert(value.name); });
        for (size_t i = 1;; ++i) {
            std::string one = fmt::format("{}_{}", name, i);
            if (!taken.contains(one)) {
                return model_.intern(one);
            }
        }
    }

    bool is_needed(const ir::Value& value) const {
        bool is_read = value.has_uses();
        for_each_graph(graph_, [&](const ir::Graph& graph) {
            is_read = is_read || std::find(graph.outputs.begin(), graph.outputs.end(), &value) !=
                                     graph.outputs.end();
        });
        return is_read;
    }

    // Inputs in the order in which they were named; of the others, those that are needed.
    Result<void> settle_inputs(const std::vector<ir::Value*>& ours, Cut& result) {
        if (ours.empty()) {  // the interface stays but for what nobody reads
            for (ir::Value* input : std::vector<ir::Value*>(graph_.inputs)) {
                keep_or_remove(*input, nullptr);
            }
        } else {
            for (const ir::Value* input : ours) {
                if (!is_needed(*input)) {
                    return Error{
                        fmt::format("no output needs `{}`: leave out `--from {}`, or name an "
                                    "output that depends on it",
                                    input->name, input->name)};
                }
            }
            std::vector<ir::Value*> order = ours;
            for (ir::Value* input : std::vector<ir::Value*>(graph_.inputs)) {
                bool is_ours = std::find(ours.begin(), ours.end(), input) != ours.end();
                if (!is_ours && keep_or_remove(*input, &result.also_needed)) {
                    order.push_back(input);
                }
            }
            graph_.inputs = std::move(order);
        }
        for (const ir::Value* input : graph_.inputs) {
            result.inputs.emplace_back(input->name);
        }
        return {};
    }

    bool keep_or_remove(ir::Value& input, std::vector<std::string>* kept) {
        if (!is_needed(input)) {
            if (input.is_initializer()) {
                model_.remove_initializer(&input);
            }
            model_.remove_input(&input);
            return false;
        }
        if (kept != nullptr) {
            kept->emplace_back(input.name);
        }
        return true;
    }

    ir::Model& model_;
    ir::Graph& graph_;
    Types types_;
};

}  // namespace

Result<Cut> cut(ir::Model& model, const CutRequest& request) {
    SDX_TRY(main_graph(model));
    return Cutter(model).run(request);
}

}  // namespace sardonyx::models
