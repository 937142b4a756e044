#include "eval/plan/equal_sizes.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "ir/producer.h"
#include "types/dim_names.h"

namespace sardonyx::eval {

namespace {

// What an optional value is where it is given.
const Type& type_given(const Type& declared) {
    return declared.kind() == TypeKind::kOptional ? declared.element() : declared;
}

bool is_sequence(const ir::Value& input) {
    return type_given(input.type).kind() == TypeKind::kSequence;
}

}  // namespace

std::vector<Plan::EqualSizes> equal_sizes(const ir::Model& model, const ir::Graph& graph) {
    bool names_hold = ir::names_hold_in_items(model);
    std::unordered_map<std::string, size_t> group_of;
    std::vector<Plan::EqualSizes> groups;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
        const Type& given = type_given(graph.inputs[i]->type);
        bool has_items = names_hold && is_sequence(*graph.inputs[i]);
        const Type& type = has_items ? given.element() : given;
        size_t rank = type.is_tensor() && type.has_shape() ? type.shape().size() : 0;
        for (size_t d = 0; d < rank; ++d) {
            if (!type.shape()[d].is_symbolic()) {
                continue;
            }
            std::string name = type.shape()[d].to_string();
            if (!is_placeholder(name)) {
                size_t group = group_of.emplace(name, groups.size()).first->second;
                groups.resize(std::max(groups.size(), group + 1));
                groups[group].name = std::move(name);
                groups[group].places.push_back({i, d});
            }
        }
    }
    auto says_one_size = [&](const Plan::EqualSizes& group) {
        return group.places.size() == 1 && !is_sequence(*graph.inputs[group.places[0].input]);
    };
    groups.erase(std::remove_if(groups.begin(), groups.end(), says_one_size), groups.end());
    return groups;
}

}  // namespace sardonyx::eval
