#include "eval/plan/equal_sizes.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "types/dim_names.h"

namespace sardonyx::eval {

std::vector<std::vector<Plan::Place>> equal_sizes(const ir::Graph& graph) {
    std::unordered_map<std::string, size_t> group_of;
    std::vector<std::vector<Plan::Place>> groups;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
        const Type& type = graph.inputs[i]->type;
        size_t rank = type.is_tensor() && type.has_shape() ? type.shape().size() : 0;
        for (size_t d = 0; d < rank; ++d) {
            if (!type.shape()[d].is_symbolic()) {
                continue;
            }
            std::string name = type.shape()[d].to_string();
            if (!is_placeholder(name)) {
                size_t group = group_of.emplace(std::move(name), groups.size()).first->second;
                groups.resize(std::max(groups.size(), group + 1));
                groups[group].push_back({i, d});
            }
        }
    }
    groups.erase(std::remove_if(groups.begin(), groups.end(),
                                [](const auto& places) { return places.size() < 2; }),
                 groups.end());
    return groups;
}

}  // namespace sardonyx::eval
