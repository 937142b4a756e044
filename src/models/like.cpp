#include "models/like.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/copy.h"
#include "ir/walk.h"
#include "models/matching.h"
#include "models/values.h"

namespace sardonyx::models {
namespace {

class Likener {
  public:
    Likener(ir::Model& model, const ir::Model& like) : model_(model), like_(like) {}

    size_t run() {
        bind_inputs();
        match(*like_.graph, *model_.graph);
        name_values();
        for (const auto& [theirs, ours] : pairs_) {
            ours->name = model_.intern(theirs->name);
            ours->doc = model_.intern(theirs->doc);
            ours->metadata = metadata(theirs->metadata);
        }
        model_.producer_name = model_.intern(like_.producer_name);
        model_.producer_version = model_.intern(like_.producer_version);
        model_.domain = model_.intern(like_.domain);
        model_.model_version = like_.model_version;
        model_.doc = model_.intern(like_.doc);
        model_.metadata = metadata(like_.metadata);
        size_t count = 0;
        for (const ir::Node& node : *model_.graph) {
            count += matching_.back_of(node) != nullptr ? 1 : 0;
        }
        return count;
    }

  private:
    // Scripts call inputs otherwise, and one as another one is called: where not all have their
    // names, they go by their places, if the types agree.
    void bind_inputs() {
        const std::vector<ir::Value*>&theirs = like_.graph->inputs, &ours = model_.graph->inputs;
        std::unordered_set<std::string_view> names;
        for (const ir::Value* input : theirs) {
            names.insert(input->name);
        }
        bool is_named = true, is_alike = theirs.size() == ours.size();
        for (size_t i = 0; i < ours.size() && is_alike; ++i) {
            is_named = is_named && names.contains(ours[i]->name);
            is_alike = theirs[i]->type == ours[i]->type;
        }
        for (size_t i = 0; i < ours.size() && is_alike && !is_named; ++i) {
            matching_.bind(*theirs[i], *ours[i]);
        }
    }

    void match(const ir::Graph& theirs, ir::Graph& ours) {
        match_graphs(theirs, ours, matching_);
        ours.name = model_.intern(theirs.name);
        ours.doc = model_.intern(theirs.doc);
        ours.metadata = metadata(theirs.metadata);
        for (ir::Node& node : ours) {
            const ir::Node* other = matching_.back_of(node);
            std::vector<const ir::Graph*> inner_theirs;
            std::vector<ir::Graph*> inner;
            if (other != nullptr) {
                pairs_.emplace_back(other, &node);
                ir::for_each_subgraph(
                    *other, [&](const ir::Graph& graph) { inner_theirs.push_back(&graph); });
                ir::for_each_subgraph(node, [&](ir::Graph& graph) { inner.push_back(&graph); });
            }
            for (size_t i = 0; i < inner.size() && inner.size() == inner_theirs.size(); ++i) {
                match(*inner_theirs[i], *inner[i]);
            }
        }
    }

    // Stored tensors have no counterpart of their own: what reads them tells.
    void match_stored() {
        for (const auto& [theirs, ours] : pairs_) {
            for (size_t i = 0; i < theirs->input_count() && i < ours->input_count(); ++i) {
                const ir::Value *x = theirs->input(i), *y = ours->input(i);
                if (x != nullptr && y != nullptr && is_stored(*x) && is_stored(*y)) {
                    matching_.bind(*x, *y);
                }
            }
        }
    }

    void name_values() {
        match_stored();
        std::unordered_set<std::string> taken;
        for (const auto& [theirs, ours] : matching_.values) {
            taken.emplace(theirs->name);
        }
        for_each_value(*model_.graph, [&](ir::Value& value) {
            auto found = matching_.values_back.find(&value);
            if (found != matching_.values_back.end() && !found->second->name.empty()) {
                value.name = model_.intern(found->second->name);
                value.doc = model_.intern(found->second->doc);
                value.metadata = metadata(found->second->metadata);
            } else if (!value.name.empty()) {
                value.name = model_.intern(free_name(value.name, taken));
            }
        });
    }

    static std::string free_name(std::string_view wanted, std::unordered_set<std::string>& taken) {
        std::string name(wanted);
        for (size_t i = 1; !taken.insert(name).second; ++i) {
            name = fmt::format("{}_{}", wanted, i);
        }
        return name;
    }

    ir::Metadata metadata(const ir::Metadata& entries) {
        ir::Metadata result;
        for (const auto& [key, value] : entries) {
            result.emplace_back(model_.intern(key), model_.intern(value));
        }
        return result;
    }

    ir::Model& model_;
    const ir::Model& like_;
    Matching matching_;
    std::vector<std::pair<const ir::Node*, ir::Node*>> pairs_;  // in the order of the model
};

}  // namespace

Likeness make_like(std::unique_ptr<ir::Model>& model, const ir::Model& like,
                   FirstDifference difference) {
    if (model->graph == nullptr || like.graph == nullptr) {
        return {};
    }
    if (difference(like, *model).empty()) {
        model = ir::copy(like);
        size_t count = 0;
        for ([[maybe_unused]] const ir::Node& node : *model->graph) {
            ++count;
        }
        return {true, count};
    }
    return {false, Likener(*model, like).run()};
}

}  // namespace sardonyx::models
