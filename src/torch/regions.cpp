#include "torch/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sardonyx::torch {
namespace {

const Program* region_of(const Program& program, const Node& node) {
    if (node.target != "hop::call") {
        return nullptr;
    }
    auto found =
        std::find_if(program.bodies.begin(), program.bodies.end(),
                     [&node](const Program& body) { return body.name == node.args[0].text; });
    return found != program.bodies.end() ? &*found : nullptr;
}

class Opener {
  public:
    Opener(Program& program, const SeeOpened& see) : program_(program), see_(see) {
        auto take = [this](const auto& one) { taken_.insert(one.name); };
        std::for_each(program.inputs.begin(), program.inputs.end(), take);
        std::for_each(program.weights.begin(), program.weights.end(), take);
        std::for_each(program.nodes.begin(), program.nodes.end(), take);
        std::for_each(program.bodies.begin(), program.bodies.end(), take);
    }

    void run() {
        std::deque<Node> left(std::make_move_iterator(program_.nodes.begin()),
                              std::make_move_iterator(program_.nodes.end()));
        program_.nodes.clear();
        while (!left.empty()) {
            Node node = std::move(left.front());
            left.pop_front();
            replace_arguments(node, results_);
            if (const Program* region = region_of(program_, node)) {
                std::vector<Node> opened = open(node, *region);
                left.insert(left.begin(), std::make_move_iterator(opened.begin()),
                            std::make_move_iterator(opened.end()));
            } else if (std::optional<Value> part = part_of(node)) {
                results_[node.name] = *part;
            } else {
                program_.nodes.push_back(std::move(node));
            }
        }
        for (Value& one : program_.outputs) {
            replace(one, results_);
        }
        std::erase_if(program_.bodies,
                      [this](const Program& one) { return opened_.count(one.name) != 0; });
    }

  private:
    using Values = std::unordered_map<std::string, Value>;

    static void replace(Value& value, const Values& now) {
        if (value.is_ref() || value.is(Value::Kind::kBody)) {
            auto found = now.find(value.text);
            value = found != now.end() ? found->second : value;
            return;
        }
        for (Value& item : value.items) {
            replace(item, now);
        }
    }
    static void replace_arguments(Node& node, const Values& now) {
        for (Value& one : node.args) {
            replace(one, now);
        }
        for (auto& [name, one] : node.kwargs) {
            replace(one, now);
        }
        if (auto found = now.find(node.writes); found != now.end()) {
            node.writes = found->second.text;
        }
    }

    // What a node takes from the results of a region that has been opened.
    static std::optional<Value> part_of(const Node& node) {
        bool is_part = node.target == "py::getitem" && node.args.size() == 2 &&
                       node.args[0].is_sequence() && node.args[1].is(Value::Kind::kInt);
        auto at = is_part ? static_cast<size_t>(node.args[1].integer) : 0;
        return is_part && at < node.args[0].items.size() ? std::optional(node.args[0].items[at])
                                                         : std::nullopt;
    }

    std::string fresh_name(const std::string& name) {
        std::string fresh = name;
        for (int i = 1; !taken_.insert(fresh).second; ++i) {
            fresh = fmt::format("{}_{}", name, i);
        }
        return fresh;
    }

    // The nodes of a region, with the names that they have in the program.
    std::vector<Node> open(const Node& node, const Program& region) {
        opened_.insert(region.name);
        Program body = region;
        Values now;
        for (size_t i = 0; i < body.inputs.size() && i + 1 < node.args.size(); ++i) {
            now[body.inputs[i].name] = node.args[i + 1];
        }
        auto name_now = [&](std::string& name) {
            std::string fresh = fresh_name(name);
            now[name] = Value::ref(fresh);
            see_(region.name, name, fresh);
            if (body.pairs.count(name) != 0) {
                program_.pairs.insert(fresh);
            }
            name = fresh;
        };
        for (Weight& one : body.weights) {
            name_now(one.name);
            program_.weights.push_back(one);
        }
        for (Program& one : body.bodies) {
            std::string fresh = fresh_name(one.name);
            now[one.name] = Value::of(Value::Kind::kBody, fresh);
            one.name = fresh;
            program_.bodies.push_back(one);
        }
        for (Node& one : body.nodes) {
            replace_arguments(one, now);
            name_now(one.name);
        }
        for (Value& one : body.outputs) {
            replace(one, now);
        }
        Value all = Value::of(Value::Kind::kTuple);
        all.items = body.outputs;
        results_[node.name] = body.is_tuple || all.items.size() != 1 ? all : all.items[0];
        return body.nodes;
    }

    Program& program_;
    const SeeOpened& see_;
    std::unordered_set<std::string> taken_;
    std::unordered_set<std::string> opened_;
    Values results_;  // of regions, and what takes a part of these
};

}  // namespace

bool has_writes(const Program& program) {
    return std::any_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
        const Program* region = region_of(program, node);
        return !node.writes.empty() || (region != nullptr && has_writes(*region));
    });
}

void open_regions(Program& program, const SeeOpened& see) {
    bool has_regions =
        std::any_of(program.nodes.begin(), program.nodes.end(),
                    [&](const Node& node) { return region_of(program, node) != nullptr; });
    if (has_regions && has_writes(program)) {
        Opener(program, see).run();
    }
}

}  // namespace sardonyx::torch
