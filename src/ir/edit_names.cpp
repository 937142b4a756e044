// The names of values that are edited: which are taken where, and which value a name means.
//
// By the standard, a name may come again in graphs that do not see each other, as in the two
// branches of an `If`; and an input or initializer of a subgraph may have the name of a value of a
// graph around, which it hides. A new name is one that neither the graphs around nor those inside
// have, so that edits add no names that hide others.
#include <fmt/format.h>

#include <algorithm>

#include "ir/describe.h"
#include "ir/edit.h"
#include "ir/graph_walk.h"
#include "ir/walk.h"

namespace sardonyx::ir {
namespace {

bool has_name(std::span<Value* const> values, std::string_view name) {
    return std::any_of(values.begin(), values.end(),
                       [&](const Value* value) { return value->name == name; });
}

}  // namespace

void Editor::see(Value* value, const Graph* root) {
    if (!value->name.empty()) {
        names_[root].emplace(value->name, value);
    }
}

// The value that has the name in the graph, in one around it or in one inside it.
const Value* Editor::named(const Graph& graph, std::string_view name) const {
    auto [begin, end] = names_.at(root_of(graph)).equal_range(name);
    auto found = std::find_if(begin, end, [&](const auto& entry) {
        const Graph* other = entry.second->graph();
        return encloses(graph, other) || encloses(*other, &graph);
    });
    return found != end ? found->second : nullptr;
}

Result<void> Editor::check_name(const Graph& graph, std::string_view name) const {
    if (name.empty()) {
        return Error{"a value needs a name"};
    }
    if (named(graph, name) != nullptr) {
        return Error{fmt::format("another value is named `{}`", name)};
    }
    return {};
}

// Whether `later` may come after `earlier`, as its names go: the graphs in it then see the outputs
// of the other, so that none of their nodes may give one of these names again.
Result<void> Editor::check_order(const Node& earlier, const Node& later) const {
    const Names& names = names_.at(root_of(*earlier.graph()));
    for (const Value* output : earlier.outputs()) {
        auto [begin, end] = names.equal_range(output->name);
        for (auto entry = begin; entry != end && !output->name.empty(); ++entry) {
            const Value& other = *entry->second;
            bool is_inside = false;
            for_each_subgraph(later, [&](const Graph& subgraph) {
                is_inside = is_inside || encloses(subgraph, other.graph());
            });
            if (is_inside && other.producer() != nullptr) {
                return Error{
                    fmt::format("{} cannot come after {}: a graph in it has another value "
                                "named `{}`",
                                describe(later), describe(earlier), output->name)};
            }
        }
    }
    return {};
}

std::string Editor::fresh_name(const Graph& graph, std::string_view hint) {
    const Names& names = names_.at(root_of(graph));
    std::string name(hint);
    while (name.empty() || names.contains(name)) {
        name = fmt::format("{}_{}", hint.empty() ? "value" : hint, next_name_++);
    }
    return name;
}

void Editor::name_value(Value& value, const Graph& graph, std::string_view name) {
    value.name = model_.intern(name);
    if (!value.name.empty()) {
        names_.at(root_of(graph)).emplace(value.name, &value);
    }
}

void Editor::name_read(Value* value) {
    if (value != nullptr && value->name.empty()) {
        name_value(*value, *value->graph(), fresh_name(*value->graph(), ""));
    }
}

void Editor::name_read(std::span<Value* const> values) {
    for (Value* value : values) {
        name_read(value);
    }
}

void Editor::forget_name(const Value& value, const Graph& graph) {
    Names& names = names_.at(root_of(graph));
    auto [begin, end] = names.equal_range(value.name);
    auto found =
        std::find_if(begin, end, [&](const auto& entry) { return entry.second == &value; });
    if (found != end) {
        names.erase(found);
    }
    self_named_.erase(&value);
}

// A generated name of an output can be given to another value: the output then gets a new one.
void Editor::make_way(const Graph& graph, std::string_view name) {
    const Value* holder = named(graph, name);
    if (holder == nullptr || !self_named_.contains(holder)) {
        return;
    }
    Value& output = *holder->producer()->output(holder->output_index());
    std::string other = fresh_name(graph, name);
    forget_name(output, *output.graph());
    name_value(output, *output.graph(), other);
    self_named_.insert(&output);
}

// The graph, of `graph` and those around it up to the value's, that has an input or initializer of
// the value's name; null if none.
const Graph* Editor::hiding_graph(const Value& value, const Graph& graph) const {
    if (value.name.empty() || names_.at(root_of(graph)).count(value.name) < 2) {
        return nullptr;
    }
    for (const Graph* at = &graph; at != value.graph(); at = at->parent()) {
        if (has_name(at->inputs, value.name) || has_name(at->initializers, value.name)) {
            return at;
        }
    }
    return nullptr;
}

// Whether a node before `position` (null: at the end) of `graph` may read the value.
Result<void> Editor::check_in_sight(const Value* value, const Graph& graph,
                                    const Node* position) const {
    if (value == nullptr) {
        return {};
    }
    SDX_TRY(check_alive(*value));
    const Graph* around = &graph;
    while (around != nullptr && around != value->graph()) {
        around = around->parent();
    }
    if (around == nullptr) {
        return Error{fmt::format("value `{}` is not visible in graph `{}`: it is in graph `{}`",
                                 value->name, graph.name, value->graph()->name)};
    }
    if (const Graph* hiding = hiding_graph(*value, graph)) {
        return Error{
            fmt::format("value `{0}` is not visible there: another `{0}`, of graph `{1}`, "
                        "hides it",
                        value->name, hiding->name)};
    }
    const Node* producer = value->producer();
    const Node* before = anchor(*around, graph, position);
    if (producer == nullptr || before == nullptr || producer->is_before(*before)) {
        return {};
    }
    return Error{fmt::format("value `{}` is not available there: {} computes it {}", value->name,
                             describe(*producer),
                             producer == before ? "itself, from what would read it" : "later")};
}

}  // namespace sardonyx::ir
