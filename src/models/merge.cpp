#include "models/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/copy.h"
#include "ir/sparse.h"
#include "models/dims.h"
#include "models/values.h"
#include "types/domain.h"

namespace sardonyx::models {
namespace {

using Names = std::vector<std::string_view>;

Names names_of(const std::vector<ir::Value*>& values) {
    Names names;
    for (const ir::Value* value : values) {
        names.push_back(value->name);
    }
    return names;
}

ir::Value* find_named(const std::vector<ir::Value*>& values, std::string_view name) {
    auto found = std::find_if(values.begin(), values.end(),
                              [&](const ir::Value* value) { return value->name == name; });
    return found != values.end() ? *found : nullptr;
}

class Merger {
  public:
    Merger(ir::Model& first, const ir::Model& second, const MergeRequest& request)
        : first_(first), second_(second), request_(request) {}

    Result<Merge> run() {
        SDX_TRY(check_opsets());
        SDX_TRY(check_notes(second_, "the second model", "would be lost"));
        SDX_TRY(find_links());
        see_names();
        SDX_TRY(add_inputs());
        ir::Spliced made = ir::splice(first_, *first_.graph, second_, inputs_,
                                      [this](std::string_view name) { return rename(name); });
        name_dims(made);
        SDX_TRY(set_outputs(made.outputs));
        add_header();
        for (const ir::Value* input : first_.graph->inputs) {
            result_.inputs.emplace_back(input->name);
        }
        return std::move(result_);
    }

  private:
    Result<void> check_opsets() {
        for (const ir::OpsetImport& import : second_.opset_imports) {
            int64_t version = first_.opset_version(import.domain);
            if (version != 0 && version != import.version) {
                return Error{fmt::format(
                    "the first model has version {} of {}, the second one {}: convert one of them "
                    "first (onnx.version_converter)",
                    version, shown_domain(import.domain), import.version)};
            }
            if (version == 0) {
                first_.opset_imports.push_back({first_.intern(import.domain), import.version});
            }
        }
        return {};
    }

    Result<void> find_links() {
        const std::vector<ir::Value*>& outputs = first_.graph->outputs;
        const std::vector<ir::Value*>& inputs = second_.graph->inputs;
        auto links = request_.links;
        if (links.empty()) {
            for (const ir::Value* input : inputs) {
                if (find_named(outputs, input->name) != nullptr) {
                    links.emplace_back(input->name, input->name);
                }
            }
        }
        if (links.empty()) {
            return Error{fmt::format(
                "no output of the first model has the name of an input of the second: specify "
                "the links with `--link OUTPUT=INPUT`; there are `{}` and `{}`",
                fmt::join(names_of(outputs), "`, `"), fmt::join(names_of(inputs), "`, `"))};
        }
        for (const auto& [from, to] : links) {
            SDX_TRY(add_link(from, to));
        }
        return {};
    }

    Result<void> add_link(const std::string& from, const std::string& to) {
        Names outputs = names_of(first_.graph->outputs), inputs = names_of(second_.graph->inputs);
        ir::Value* source = find_named(first_.graph->outputs, from);
        ir::Value* target = find_named(second_.graph->inputs, to);
        if (source == nullptr) {
            bool is_behind = find_named(second_.graph->outputs, from) != nullptr;
            return Error{is_behind
                             ? fmt::format("`{}` is an output of the second model, which follows "
                                           "the first: the link would be a cycle",
                                           from)
                             : fmt::format("the first model has no output `{}`{}", from,
                                           did_you_mean(from, outputs))};
        }
        if (target == nullptr) {
            return Error{
                fmt::format("the second model has no input `{}`{}", to, did_you_mean(to, inputs))};
        }
        if (targets_.contains(target)) {
            return Error{fmt::format("the input `{}` is linked twice", to)};
        }
        // Names of dimensions mean nothing from one model to the other.
        auto forget = [](std::string_view) { return Dim(); };
        if (source->type.is_known() && target->type.is_known() &&
            !sardonyx::merge(with_dims(source->type, forget), with_dims(target->type, forget))) {
            return Error{fmt::format("the output `{}` is {}, the input `{}` takes {}", from,
                                     source->type.to_string(), to, target->type.to_string())};
        }
        targets_.emplace(target, source);
        see_dims(source->type, target->type);
        linked_.insert(source);
        result_.links.emplace_back(from, to);
        return {};
    }

    // A dimension of the second model that is linked to one of the first is that one.
    void see_dims(const Type& source, const Type& target) {
        bool both = source.is_tensor() && target.is_tensor() && source.has_shape() &&
                    target.has_shape() && source.shape().size() == target.shape().size();
        for (size_t i = 0; both && i < target.shape().size(); ++i) {
            const Dim& dim = target.shape()[i];
            std::string name = dim.is_symbolic() ? dim.to_string() : std::string();
            if (!name.empty() && Dim::symbol(name).equals(dim) && !source.shape()[i].is_unknown()) {
                dims_.emplace(name, source.shape()[i]);
            }
        }
    }

    // Another one of a name that the first model has is another one.
    void name_dims(const ir::Spliced& made) {
        std::vector<std::string> known = dims_of(second_);
        std::unordered_set<std::string> taken(known.begin(), known.end());
        auto meaning = [&](std::string_view name) {
            auto [found, is_new] = dims_.try_emplace(std::string(name));
            if (is_new) {
                std::string one(name);
                for (size_t i = 2; first_dims_.contains(one); ++i) {
                    std::string next = fmt::format("{}_{}", name, i);
                    one = taken.contains(next) ? one : next;
                }
                found->second = Dim::symbol(one);
            }
            return found->second;
        };
        for (const auto& [theirs, ours] : own_inputs_) {
            ours->type = with_dims(theirs->type, meaning);
        }
        std::vector<const ir::Value*> theirs;
        std::vector<ir::Value*> ours;
        for (const ir::Node& node : *second_.graph) {
            for_each_result(node, [&](ir::Value& value) { theirs.push_back(&value); });
        }
        for (const ir::Node* node : made.nodes) {
            for_each_result(*node, [&](ir::Value& value) { ours.push_back(&value); });
        }
        for (size_t i = 0; i < ours.size(); ++i) {
            ours[i]->type = with_dims(theirs[i]->type, meaning);
            ours[i]->preserved = first_.intern(theirs[i]->preserved);
        }
    }

    void see_names() {
        for (std::string& name : dims_of(first_)) {
            first_dims_.insert(std::move(name));
        }
        for_each_value(*first_.graph, [&](const ir::Value& value) { taken_.emplace(value.name); });
        for_each_value(*second_.graph, [&](const ir::Value& value) {
            if (!targets_.contains(&value)) {
                theirs_.emplace(value.name);
            }
        });
    }

    // The name of a value of the second model, always the same.
    std::string rename(std::string_view name) {
        auto [found, is_new] = names_.try_emplace(std::string(name));
        if (!is_new) {
            return found->second;
        }
        std::string wanted = request_.prefix + std::string(name);
        std::string one = wanted;
        for (size_t i = 2; taken_.contains(one) || (one != name && theirs_.contains(one)); ++i) {
            one = fmt::format("{}_{}", wanted, i);
        }
        taken_.insert(one);
        found->second = one;
        if (one != name) {
            result_.renamed.emplace_back(name, one);
        }
        return one;
    }

    Result<void> add_inputs() {
        for (const ir::Value* given : second_.graph->inputs) {
            auto linked = targets_.find(given);
            if (linked != targets_.end()) {
                inputs_.push_back(linked->second);
                continue;
            }
            std::string name = rename(given->name);
            if (name != request_.prefix + std::string(given->name)) {
                return Error{fmt::format(
                    "both models have a value `{}`, which is an input of the second: give a "
                    "`--prefix` for its names, or link it",
                    given->name)};
            }
            ir::Value* input = first_.add_input(first_.graph, name, given->type);
            input->doc = first_.intern(given->doc);
            input->preserved = first_.intern(given->preserved);
            for (const auto& [key, value] : given->metadata) {
                input->metadata.emplace_back(first_.intern(key), first_.intern(value));
            }
            if (given->is_initializer()) {
                given->sparse != nullptr ? ir::add_sparse_default(first_, input, *given->sparse)
                                         : first_.add_default(input, *given->constant);
            }
            inputs_.push_back(input);
            own_inputs_.emplace_back(given, input);
        }
        return {};
    }

    Result<void> set_outputs(const std::vector<ir::Value*>& made) {
        std::vector<ir::Value*> outputs;
        for (ir::Value* output : first_.graph->outputs) {
            if (request_.keeps_linked || !linked_.contains(output)) {
                outputs.push_back(output);
            }
        }
        for (size_t i = 0; i < made.size(); ++i) {
            const ir::Value* given = second_.graph->outputs[i];
            ir::Value* output = made[i];
            if (output->producer() != nullptr && !linked_.contains(output) &&
                output->name != request_.prefix + std::string(given->name)) {
                return Error{fmt::format(
                    "both models have a value `{}`, which is an output of the second: give a "
                    "`--prefix` for its names",
                    given->name)};
            }
            outputs.push_back(output);
        }
        first_.graph->outputs = std::move(outputs);
        for (const ir::Value* output : first_.graph->outputs) {
            result_.outputs.emplace_back(output->name);
        }
        return {};
    }

    // What only the second model says.
    void add_header() {
        for (const auto& [key, value] : second_.metadata) {
            bool is_there = std::any_of(first_.metadata.begin(), first_.metadata.end(),
                                        [&](const auto& one) { return one.first == key; });
            if (!is_there) {
                first_.metadata.emplace_back(first_.intern(key), first_.intern(value));
            }
        }
        first_.ir_version = first_.ir_version != 0 ? std::max(first_.ir_version, second_.ir_version)
                                                   : first_.ir_version;
    }

    ir::Model& first_;
    const ir::Model& second_;
    const MergeRequest& request_;
    std::unordered_map<const ir::Value*, ir::Value*> targets_;  // inputs of the second
    std::vector<ir::Value*> inputs_;                            // what stands for each of them
    std::vector<std::pair<const ir::Value*, ir::Value*>> own_inputs_;
    std::unordered_set<const ir::Value*> linked_;
    std::unordered_set<std::string> taken_, theirs_;
    std::unordered_map<std::string, std::string> names_;
    std::unordered_set<std::string> first_dims_;
    std::unordered_map<std::string, Dim> dims_;
    Merge result_;
};

}  // namespace

Result<Merge> merge(ir::Model& first, const ir::Model& second, const MergeRequest& request) {
    SDX_TRY(main_graph(first));
    if (second.graph == nullptr) {
        return Error{"the second file has only functions, and no graph"};
    }
    return Merger(first, second, request).run();
}

}  // namespace sardonyx::models
