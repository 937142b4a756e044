#include "torch/foreach.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sardonyx::torch {
namespace {

constexpr std::string_view kPrefix = "_foreach_";

// The operator of one tensor: what its overload is called for the arguments that the list has, and
// the name of the argument that comes by name there.
struct OneForm {
    std::string_view packet, overload, one;
    std::string_view by_name = {};
};
// Of all others, `_foreach_sin` and `_foreach_add.Scalar`, it is the one of the same name.
constexpr OneForm kOneForms[] = {
    {"add", "List", "add.Tensor"},
    {"add", "ScalarList", "add.Scalar"},
    {"addcdiv", "Scalar", "addcdiv.default", "value"},
    {"addcdiv", "ScalarList", "addcdiv.default", "value"},
    {"addcdiv", "Tensor", ""},
    {"addcmul", "Scalar", "addcmul.default", "value"},
    {"addcmul", "ScalarList", "addcmul.default", "value"},
    {"addcmul", "Tensor", ""},
    {"clamp_max", "List", "clamp_max.Tensor"},
    {"clamp_max", "Scalar", "clamp_max.default"},
    {"clamp_max", "ScalarList", "clamp_max.default"},
    {"clamp_min", "List", "clamp_min.Tensor"},
    {"clamp_min", "Scalar", "clamp_min.default"},
    {"clamp_min", "ScalarList", "clamp_min.default"},
    {"div", "List", "div.Tensor"},
    {"div", "ScalarList", "div.Scalar"},
    {"lerp", "List", "lerp.Tensor"},
    {"lerp", "ScalarList", "lerp.Scalar"},
    {"maximum", "List", "clamp_min.Tensor"},
    {"maximum", "Scalar", "clamp_min.default"},
    {"maximum", "ScalarList", "clamp_min.default"},
    {"minimum", "List", "clamp_max.Tensor"},
    {"minimum", "Scalar", "clamp_max.default"},
    {"minimum", "ScalarList", "clamp_max.default"},
    {"mul", "List", "mul.Tensor"},
    {"mul", "ScalarList", "mul.Scalar"},
    {"norm", "Scalar", "linalg_vector_norm.default"},
    {"pow", "List", "pow.Tensor_Tensor"},
    {"pow", "Scalar", "pow.Tensor_Scalar"},
    {"pow", "ScalarAndTensor", ""},
    {"pow", "ScalarList", "pow.Tensor_Scalar"},
    {"powsum", "Scalar", ""},
    {"sub", "List", "sub.Tensor"},
    {"sub", "ScalarList", "sub.Scalar"},
};

bool is_split(std::string_view overload) {
    return space_of(overload) == "aten" && is_of_lists(packet_of(overload));
}

bool writes_lists(std::string_view overload) {
    return packet_of(overload).ends_with('_');
}

// `aten::add_.Tensor` of `aten::_foreach_add_.List`. An empty target: there is none.
std::pair<std::string, std::string_view> one_of(std::string_view overload) {
    std::string_view packet = packet_of(overload).substr(kPrefix.size());
    std::string_view suffix = overload.substr(overload.find('.') + 1);
    bool is_write = writes_lists(overload);
    packet.remove_suffix(is_write ? 1 : 0);
    std::string one = fmt::format("{}.{}", packet, suffix);
    std::string_view by_name;
    for (const OneForm& form : kOneForms) {
        if (form.packet == packet && form.overload == suffix) {
            one = form.one;
            by_name = form.by_name;
        }
    }
    if (one.empty() || suffix.ends_with("out")) {
        return {};
    }
    size_t dot = one.find('.');
    return {fmt::format("aten::{}{}{}", one.substr(0, dot), is_write ? "_" : "", one.substr(dot)),
            by_name};
}

class ListSplitter {
  public:
    explicit ListSplitter(Program& program) : program_(program) {
        for (const Node& node : program.nodes) {
            taken_.insert(node.name);
            if (node.target == "py::getitem" && node.args.size() == 2 && node.args[0].is_ref()) {
                parts_.try_emplace({node.args[0].text, node.args[1].integer}, &node);
            }
        }
    }

    std::vector<Problem> run() {
        std::vector<Node> nodes;
        std::vector<Problem> problems;
        for (const Node& node : program_.nodes) {
            if (is_split(node.target) && split(node, nodes)) {
                continue;
            }
            if (is_split(node.target) && writes_lists(node.target)) {
                problems.push_back({node.place,
                                    fmt::format("`{}` has no form for one tensor", node.target),
                                    "write it as a loop over the tensors"});
            } else if (!is_part(node)) {
                nodes.push_back(node);
                for (Value& one : nodes.back().args) {
                    put_lists(one);
                }
            }
        }
        for (Value& one : program_.outputs) {
            put_lists(one);
        }
        program_.nodes = std::move(nodes);
        return problems;
    }

  private:
    // The argument of the tensor that stands at this place of the list.
    static Value argument_at(const Value& value, size_t place) {
        return value.is_sequence() && place < value.items.size() ? value.items[place] : value;
    }

    bool split(const Node& node, std::vector<Node>& nodes) {
        auto [target, by_name] = one_of(node.target);
        bool is_list = !node.args.empty() && node.args[0].is_sequence();
        if (target.empty() || !is_list) {
            return false;
        }
        std::vector<Value>& made = lists_[node.name];
        for (size_t i = 0; i < node.args[0].items.size(); ++i) {
            auto found = parts_.find({node.name, static_cast<int64_t>(i)});
            Node one = found != parts_.end() ? *found->second : Node();
            if (one.name.empty()) {
                one.name = fresh_name(taken_, fmt::format("{}_{}", node.name, i));
            }
            one.target = target;
            one.place = node.place;
            one.takes_pairs = node.takes_pairs;
            one.is_twice = false;
            one.args.clear();
            one.kwargs = node.kwargs;
            for (const Value& value : node.args) {
                one.args.push_back(argument_at(value, i));
            }
            if (!by_name.empty() && one.args.size() > 3) {
                one.kwargs.emplace_back(by_name, one.args.back());
                one.args.pop_back();
            }
            if (writes_lists(node.target)) {
                one.writes = one.args[0].text;
            }
            made.push_back(Value::ref(one.name));
            nodes.push_back(std::move(one));
        }
        return true;
    }

    // Whether it is the first node that takes a tensor of a list, which has been written; others
    // are its aliases.
    bool is_part(const Node& node) const {
        if (node.target != "py::getitem" || node.args.size() != 2 || !node.args[0].is_ref()) {
            return false;
        }
        auto list = lists_.find(node.args[0].text);
        auto at = static_cast<size_t>(node.args[1].integer);
        return list != lists_.end() && at < list->second.size() &&
               list->second[at].text == node.name;
    }

    void put_lists(Value& value) const {
        if (value.is_ref()) {
            if (auto list = lists_.find(value.text); list != lists_.end()) {
                value = Value::list(list->second);
            }
            return;
        }
        for (Value& item : value.items) {
            put_lists(item);
        }
    }

    Program& program_;
    std::unordered_set<std::string> taken_;
    // The first nodes that take the tensors of lists, by the list and the place.
    std::map<std::pair<std::string, int64_t>, const Node*> parts_;
    std::unordered_map<std::string, std::vector<Value>> lists_;  // the tensors of each list
};

}  // namespace

bool is_of_lists(std::string_view packet) {
    return packet.starts_with(kPrefix);
}

std::vector<Problem> split_lists(Program& program) {
    bool has_some = std::any_of(program.nodes.begin(), program.nodes.end(),
                                [](const Node& node) { return is_split(node.target); });
    return has_some ? ListSplitter(program).run() : std::vector<Problem>();
}

}  // namespace sardonyx::torch
