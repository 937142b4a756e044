#include "torch/copies.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace sardonyx::torch {
namespace {

// What gives its first argument as it is, once nothing is written in place.
constexpr std::string_view kCopies[] = {
    "aten::contiguous.default", "aten::clone.default",      "aten::alias.default",
    "aten::detach.default",     "aten::alias_copy.default", "aten::lift_fresh_copy.default",
    "aten::lift_fresh.default", "aten::lift.default",       "aten::detach_copy.default",
    "aten::pin_memory.default", "aten::positive.default"};
// Where the type stays.
constexpr std::string_view kCasts[] = {"aten::to.dtype",        "aten::to.dtype_layout",
                                       "aten::to.device",       "aten::_to_copy.default",
                                       "aten::type_as.default", "aten::to.other"};
// What gives its second argument, where that has the type of the first.
constexpr std::string_view kWrites[] = {"aten::copy.default", "pairs::copy.default",
                                        "sardonyx::put_back"};
// Where it is off.
constexpr std::string_view kDropouts[] = {"aten::dropout.default", "aten::feature_dropout.default"};

template <size_t kCount>
bool is_in(const std::string_view (&names)[kCount], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// `x[:]`, as each axis before the last one of a subscript has it.
bool is_whole_slice(const Node& node) {
    auto is_one_of = [&node](size_t place, int64_t number) {
        return place >= node.args.size() || node.args[place].is(Value::Kind::kNone) ||
               node.args[place] == Value::number(number);
    };
    return node.target == "aten::slice.Tensor" && node.kwargs.empty() && is_one_of(2, 0) &&
           is_one_of(3, std::numeric_limits<int64_t>::max()) && is_one_of(4, 1);
}

using Types = std::unordered_map<std::string, std::string>;

// The place of the argument that the node gives as it is; none: there is no such argument.
std::optional<size_t> copied_argument(const Node& node, Types& types) {
    auto is_ref = [&node](size_t i) { return i < node.args.size() && node.args[i].is_ref(); };
    if (is_in(kWrites, node.target) && is_ref(0) && is_ref(1)) {
        const std::string &target = node.args[0].text, &source = node.args[1].text;
        bool is_same =
            target == source || (!types[target].empty() && types[target] == types[source]);
        bool has_type = node.into.empty() || node.into == target;
        return is_same && has_type ? std::optional<size_t>(1) : std::nullopt;
    }
    bool is_off = node.args.size() == 3 && node.args[2] == Value::boolean(false);
    bool is_copy = is_in(kCopies, node.target) || is_whole_slice(node) ||
                   (is_in(kDropouts, node.target) && is_off) ||
                   (is_in(kCasts, node.target) && !node.type.empty() && is_ref(0) &&
                    node.type == types[node.args[0].text]);
    return is_copy && is_ref(0) && node.into.empty() ? std::optional<size_t>(0) : std::nullopt;
}

}  // namespace

void remove_copies(Program& program, const IsKnown& is_own) {
    for (Program& body : program.bodies) {
        remove_copies(body, is_own);
    }
    Types types;
    for (const Input& one : program.inputs) {
        types[one.name] = one.type;
    }
    for (const Weight& one : program.weights) {
        types[one.name] = one.type;
    }
    std::unordered_map<std::string, std::string> same;
    auto name_of = [&same](const std::string& name) {
        auto found = same.find(name);
        return found != same.end() ? found->second : name;
    };
    std::vector<Node> kept;
    for (Node& node : program.nodes) {
        rename_arguments(node, name_of);
        node.into = name_of(node.into);
        types[node.name] = node.type;
        std::optional<size_t> copied = copied_argument(node, types);
        if (copied && !is_own(node.target)) {
            same[node.name] = node.args[*copied].text;
        } else {
            kept.push_back(std::move(node));
        }
    }
    program.nodes = std::move(kept);
    for (Value& one : program.outputs) {
        rename(one, name_of);
    }
}

std::unordered_set<std::string> used_names(const Program& program) {
    std::unordered_set<std::string> used;
    auto use = [&used](const std::string& name) { used.insert(name); };
    for (const Value& one : program.outputs) {
        each_ref(one, use);
    }
    for (size_t i = program.nodes.size(); i-- > 0;) {
        const Node& node = program.nodes[i];
        if (used.count(node.name) != 0 || !node.writes.empty()) {
            used.insert({node.name, node.into});
            each_argument_ref(node, use);
        }
    }
    return used;
}

void remove_unused(Program& program) {
    std::unordered_set<std::string> used = used_names(program);
    std::erase_if(program.nodes, [&used](const Node& node) { return used.count(node.name) == 0; });
    std::erase_if(program.bodies, [&](const Program& body) {
        return std::none_of(program.nodes.begin(), program.nodes.end(),
                            [&](const Node& node) { return calls_body(node, body.name); });
    });
    for (Program& body : program.bodies) {
        remove_unused(body);
    }
    std::erase_if(program.weights,
                  [&used](const Weight& one) { return used.count(one.name) == 0; });
}

}  // namespace sardonyx::torch
