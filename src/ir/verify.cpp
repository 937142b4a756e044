#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/stop.h"
#include "ir/graph_walk.h"

namespace sardonyx::ir {
namespace {

// Checks a main graph or a function body with the subgraphs in it. Two walks: the first collects
// every definition, so that the second can tell a use before the definition from a use of something
// that is nowhere, and can compare the use lists with the inputs.
class ScopeVerifier {
  public:
    // `function`: whose body it is; null for a main graph.
    ScopeVerifier(std::string where, const Function* function, std::vector<std::string>& problems)
        : where_(std::move(where)), function_(function), problems_(problems) {
        if (function != nullptr) {
            parameters_.insert(function->attributes.begin(), function->attributes.end());
            for (const Attribute& attribute : function->attribute_defaults) {
                parameters_.insert(attribute.name);
            }
        }
    }

    void verify(const Graph& graph) {
        collect(graph, nullptr);
        if (!is_walkable_) {
            return;
        }
        check(graph);
    }

  private:
    template <typename... Args>
    void report(fmt::format_string<Args...> format, Args&&... args) {
        problems_.push_back(where_ + ": " + fmt::format(format, std::forward<Args>(args)...));
    }

    static std::string describe(const Node& node) {
        return node.name.empty() ? fmt::format("node `{}`", node.op_type)
                                 : fmt::format("node `{}` ({})", node.name, node.op_type);
    }

    template <typename Visit>
    static void for_each_subgraph(const Node& node, Visit visit) {
        for (const Attribute& attribute : node.attributes) {
            if (Graph* const* graph = attribute.get<Graph*>()) {
                visit(*graph);
            } else if (const auto* graphs = attribute.get<std::vector<Graph*>>()) {
                std::for_each(graphs->begin(), graphs->end(), visit);
            }
        }
    }

    // --- First walk: definitions, links, names.

    void collect(const Graph& graph, const Graph* parent) {
        if (!graphs_.insert(&graph).second) {
            report("graph `{}` is used in more than one place", graph.name);
            is_walkable_ = false;
            return;
        }
        if (graph.parent() != parent) {
            report("graph `{}` does not know the graph around it", graph.name);
        }
        for (const Value* input : graph.inputs) {
            define(*input, graph, "input");
            if (input->producer() != nullptr || !input->is_graph_input()) {
                report("input `{}` is not marked as one, or a node makes it", input->name);
            }
        }
        for (const Value* value : graph.initializers) {
            collect_initializer(*value, graph);
        }
        const Node* previous = nullptr;
        for (const Node* node = graph.first_node(); node != nullptr; node = node->next()) {
            stop_point();
            if (node->previous() != previous || node->graph() != &graph ||
                !nodes_.insert(node).second) {
                report("{} is not linked properly into graph `{}`", describe(*node), graph.name);
                is_walkable_ = false;
                return;
            }
            collect_node(*node, graph);
            previous = node;
        }
        if (graph.last_node() != previous) {
            report("the last node of graph `{}` is not the end of its list", graph.name);
        }
    }

    void collect_initializer(const Value& value, const Graph& graph) {
        if (!value.is_initializer() || value.producer() != nullptr ||
            !(value.constant.has_value() || value.sparse != nullptr)) {
            report("initializer `{}` is not marked as one, has no tensor, or a node makes it",
                   value.name);
        }
        if (!value.is_graph_input()) {
            define(value, graph, "initializer");
        } else if (value.graph() != &graph || defined_.count(&value) == 0) {
            report("initializer `{}` is marked as an input, but is none of graph `{}`", value.name,
                   graph.name);
        }
    }

    void collect_node(const Node& node, const Graph& graph) {
        for (size_t i = 0; i < node.output_count(); ++i) {
            const Value& output = *node.output(i);
            define(output, graph, "output");
            if (output.producer() != &node || output.output_index() != i ||
                output.is_graph_input() || output.is_initializer()) {
                report("output `{}` of {} belongs to something else as well", output.name,
                       describe(node));
            }
        }
        for_each_subgraph(node, [&](const Graph* subgraph) {
            if (subgraph == nullptr) {
                report("{} has a graph attribute without a graph", describe(node));
                is_walkable_ = false;
            } else {
                collect(*subgraph, &graph);
            }
        });
    }

    void define(const Value& value, const Graph& graph, std::string_view role) {
        if (!defined_.insert(&value).second) {
            report("`{}` is defined more than once", value.name);
            return;
        }
        if (value.graph() != &graph) {
            report("`{}` does not know that it is in graph `{}`", value.name, graph.name);
        }
        if (value.name.empty() && (role != "output" || value.has_uses())) {
            report("an {} of graph `{}` has no name", role, graph.name);
        }
        collect_uses(value);
    }

    void collect_uses(const Value& value) {
        const Use* previous = nullptr;
        for (const Use* use = value.first_use(); use != nullptr; use = use->next) {
            if (use->value != &value || use->previous != previous || !uses_.insert(use).second) {
                report("the list of uses of `{}` is broken", value.name);
                return;
            }
            previous = use;
        }
    }

    // --- Second walk: what is in sight where.

    void check(const Graph& graph) {
        std::vector<Seen> seen_here;
        auto see = [&](const Value* value) { this->see(value, &seen_here); };
        std::for_each(graph.inputs.begin(), graph.inputs.end(), see);
        std::for_each(graph.initializers.begin(), graph.initializers.end(), see);
        for (const Node& node : graph) {
            stop_point();
            for (size_t i = 0; i < node.input_count(); ++i) {
                check_input(node, i, graph);
            }
            check_attributes(node);
            for_each_subgraph(node, [&](const Graph* subgraph) { check(*subgraph); });
            for (const Value* output : node.outputs()) {
                see(output);
            }
        }
        for (const Value* output : graph.outputs) {
            if (in_sight_.count(output) == 0) {
                report("output `{}` of graph `{}` is not visible", output->name, graph.name);
            } else if (output->name.empty()) {
                report("an output of graph `{}` has no name", graph.name);
            } else if (is_hidden(*output)) {
                report("output `{0}` of graph `{1}` is hidden there by another `{0}`", output->name,
                       graph.name);
            }
        }
        while (!seen_here.empty()) {  // the last one first
            in_sight_.erase(seen_here.back().value);
            names_[seen_here.back().value->name] = seen_here.back().hidden;
            seen_here.pop_back();
        }
    }

    // A value of the graph that is being checked, and the one of a graph around whose name it has.
    struct Seen {
        const Value* value;
        const Value* hidden;
    };

    // By the standard, the names of node outputs differ from all names in sight. An input or
    // initializer of a subgraph may have the name of a value of a graph around, which it hides.
    void see(const Value* value, std::vector<Seen>* seen_here) {
        if (!in_sight_.insert(value).second) {
            return;  // an input with a default is in both lists
        }
        if (value->name.empty()) {
            seen_here->push_back({value, nullptr});
            return;
        }
        const Value*& named = names_[value->name];
        if (named != nullptr &&
            (value->producer() != nullptr || named->graph() == value->graph())) {
            report("two values are named `{}`", value->name);
        }
        seen_here->push_back({value, named});
        named = value;
    }

    // Whether the value's name means another one here.
    bool is_hidden(const Value& value) const {
        auto named = names_.find(value.name);
        return named != names_.end() && named->second != &value;
    }

    void check_input(const Node& node, size_t index, const Graph& graph) {
        const Use& use = node.inputs()[index];
        if (use.user != &node || use.index != index) {
            report("input {} of {} does not know its node", index, describe(node));
        }
        if (use.value == nullptr) {
            return;
        }
        if (in_sight_.count(use.value) == 0) {
            bool comes_later =
                defined_.count(use.value) != 0 && encloses(*use.value->graph(), &graph);
            report("{} uses `{}`, which is {}", describe(node), use.value->name,
                   comes_later ? "defined later" : "not visible");
        } else if (uses_.count(&use) == 0) {
            report("`{}` does not know that {} uses it", use.value->name, describe(node));
        } else if (!use.value->name.empty() && is_hidden(*use.value)) {
            report("{0} uses `{1}`, which another `{1}` hides there", describe(node),
                   use.value->name);
        }
    }

    void check_attributes(const Node& node) {
        for (const Attribute& attribute : node.attributes) {
            if (!attribute.is_reference()) {
                continue;
            }
            if (function_ == nullptr) {
                report("attribute `{}` of {} refers to the parameter `{}` outside of a function",
                       attribute.name, describe(node), attribute.reference);
            } else if (parameters_.count(attribute.reference) == 0) {
                report(
                    "attribute `{}` of {} refers to `{}`, which is not a parameter of the function",
                    attribute.name, describe(node), attribute.reference);
            }
        }
    }

    std::string where_;
    const Function* function_;
    std::unordered_set<std::string_view> parameters_;  // of the function
    std::vector<std::string>& problems_;
    bool is_walkable_ = true;  // false: the second walk could loop or meet a null graph
    std::unordered_set<const Graph*> graphs_;
    std::unordered_set<const Node*> nodes_;
    std::unordered_set<const Value*> defined_;
    std::unordered_set<const Value*> in_sight_;
    std::unordered_set<const Use*> uses_;
    std::unordered_map<std::string_view, const Value*> names_;  // of what is in sight; null: none
};

void verify_function(const Function& function, std::vector<std::string>& problems) {
    std::string where = fmt::format("function `{}::{}`", function.domain, function.name);
    auto report = [&](std::string words) { problems.push_back(where + ": " + std::move(words)); };
    if (function.body == nullptr) {
        report("it has no body");
        return;
    }
    std::set<std::string_view> parameters(function.attributes.begin(), function.attributes.end());
    for (const Attribute& attribute : function.attribute_defaults) {
        parameters.insert(attribute.name);
    }
    if (parameters.size() != function.attributes.size() + function.attribute_defaults.size()) {
        report("two attribute parameters have the same name");
    }
    if (!function.body->initializers.empty()) {
        report("a function cannot hold initializers");
    }
    for (const Value* output : function.body->outputs) {
        if (output->producer() == nullptr || output->graph() != function.body) {
            report(fmt::format("output `{}` is not made in the body", output->name));
        }
    }
    ScopeVerifier(where, &function, problems).verify(*function.body);
}

}  // namespace

std::vector<std::string> verify(const Model& model) {
    std::vector<std::string> problems;
    if (model.graph != nullptr) {
        ScopeVerifier("main graph", nullptr, problems).verify(*model.graph);
    }
    std::set<std::tuple<std::string_view, std::string_view, std::string_view>> identities;
    for (const Function* function : model.functions) {
        if (!identities.emplace(function->domain, function->name, function->overload).second) {
            problems.push_back(fmt::format("function `{}::{}` is defined twice", function->domain,
                                           function->name));
        }
        verify_function(*function, problems);
    }
    return problems;
}

}  // namespace sardonyx::ir
