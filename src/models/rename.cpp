#include "models/rename.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "models/dims.h"
#include "models/values.h"
#include "types/domain.h"

namespace sardonyx::models {
namespace {

using NameTable = std::map<std::string_view, std::string_view>;

NameTable table_of(const NamePairs& pairs) {
    NameTable names;
    for (const auto& [before, after] : pairs) {
        names.emplace(before, after);
    }
    return names;
}

// Each old name is somebody's, and each new one nobody's who keeps it.
Result<void> check_names(std::string_view what, const NamePairs& pairs,
                         const std::vector<std::string_view>& present) {
    std::set<std::string_view> taken(present.begin(), present.end());
    for (const auto& [before, after] : pairs) {
        if (!taken.contains(before)) {
            return Error{
                fmt::format("there is no {} `{}`{}", what, before, did_you_mean(before, present))};
        }
        if (after.empty()) {
            return Error{fmt::format("`{}={}`: a {} has a name", before, after, what)};
        }
    }
    for (const auto& [before, after] : pairs) {
        taken.erase(before);
    }
    for (const auto& [before, after] : pairs) {
        if (!taken.insert(after).second) {
            return Error{fmt::format("`{}` cannot be called `{}`: there is a {} of that name",
                                     before, after, what)};
        }
    }
    return {};
}

Result<void> rename_values(ir::Model& model, const NamePairs& pairs) {
    std::vector<std::string_view> present;
    for_each_value(*model.graph, [&](const ir::Value& value) {
        if (!value.name.empty()) {
            present.push_back(value.name);
        }
    });
    SDX_TRY(check_names("value", pairs, present));
    if (!pairs.empty()) {
        SDX_TRY(check_notes(model, "the model", "cannot follow a new name"));
    }
    NameTable names = table_of(pairs);
    for_each_value(*model.graph, [&](ir::Value& value) {
        auto found = names.find(value.name);
        if (found != names.end()) {
            value.name = model.intern(found->second);
        }
    });
    return {};
}

Result<void> rename_nodes(ir::Model& model, const NamePairs& pairs) {
    std::vector<ir::Node*> nodes;
    std::vector<std::string_view> present;
    for_each_graph(*model.graph, [&](ir::Graph& graph) {
        for (ir::Node& node : graph) {
            nodes.push_back(&node);
            if (!node.name.empty()) {
                present.push_back(node.name);
            }
        }
    });
    SDX_TRY(check_names("node", pairs, present));
    NameTable names = table_of(pairs);
    for (ir::Node* node : nodes) {
        auto found = names.find(node->name);
        if (found != names.end()) {
            node->name = model.intern(found->second);
        }
    }
    return {};
}

Result<void> rename_dims(ir::Model& model, const NamePairs& pairs) {
    std::vector<std::string> known = dims_of(model);
    SDX_TRY(check_names("dimension", pairs, {known.begin(), known.end()}));
    NameTable names = table_of(pairs);
    if (!names.empty()) {
        replace_dims(model, [&](std::string_view name) {
            auto found = names.find(name);
            return Dim::symbol(found != names.end() ? found->second : name);
        });
    }
    return {};
}

// --- Functions -----------------------------------------------------------------------------------

struct FunctionName {
    std::string_view domain, name;
};

FunctionName split_function(std::string_view text, std::string_view domain) {
    size_t colon = text.rfind(':');
    return colon == std::string_view::npos
               ? FunctionName{domain, text}
               : FunctionName{normal_domain(text.substr(0, colon)), text.substr(colon + 1)};
}

Result<void> rename_function(ir::Model& model, const std::string& before,
                             const std::string& after) {
    std::vector<std::string> known;
    ir::Function* found = nullptr;
    for (ir::Function* one : model.functions) {
        known.push_back(fmt::format("{}:{}", shown_domain(one->domain), one->name));
        bool is_it = known.back() == before || one->name == before;
        if (is_it && found != nullptr) {
            return Error{
                fmt::format("there are several functions `{}`: write `domain:name` of "
                            "one that has no overloads",
                            before)};
        }
        found = is_it ? one : found;
    }
    if (found == nullptr) {
        std::vector<std::string_view> names(known.begin(), known.end());
        return Error{
            fmt::format("there is no function `{}`{}", before, did_you_mean(before, names))};
    }
    FunctionName wanted = split_function(after, found->domain);
    if (wanted.name.empty()) {
        return Error{fmt::format("`{}={}`: a function has a name", before, after)};
    }
    if (model.find_function(wanted.domain, wanted.name, found->overload) != nullptr) {
        return Error{
            fmt::format("`{}` cannot be called `{}`: there is such a function", before, after)};
    }
    FunctionName old{found->domain, found->name};
    auto follow = [&](ir::Graph& graph) {
        bool changes = false;
        for_each_graph(graph, [&](ir::Graph& each) {
            for (ir::Node& node : each) {
                if (node.domain == old.domain && node.op_type == old.name &&
                    node.overload == found->overload) {
                    node.domain = model.intern(wanted.domain);
                    node.op_type = model.intern(wanted.name);
                    changes = true;
                }
            }
        });
        return changes;
    };
    auto import = [&](std::vector<ir::OpsetImport>& imports) {
        if (ir::opset_version(imports, wanted.domain) == 0) {
            int64_t version = ir::opset_version(imports, old.domain);
            imports.push_back({model.intern(wanted.domain), version != 0 ? version : 1});
        }
    };
    follow(*model.graph);
    import(model.opset_imports);
    for (ir::Function* one : model.functions) {
        if (follow(*one->body)) {
            import(one->opset_imports);
        }
    }
    model.name_function(found, wanted.domain, wanted.name, found->overload);
    return {};
}

}  // namespace

Result<void> rename(ir::Model& model, const Renaming& renaming) {
    SDX_TRY(main_graph(model));
    SDX_TRY(rename_values(model, renaming.values));
    SDX_TRY(rename_nodes(model, renaming.nodes));
    SDX_TRY(rename_dims(model, renaming.dims));
    for (const auto& [before, after] : renaming.functions) {
        SDX_TRY(rename_function(model, before, after));
    }
    if (!renaming.graph.empty()) {
        model.graph->name = model.intern(renaming.graph);
    }
    return {};
}

}  // namespace sardonyx::models
