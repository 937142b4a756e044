#include "torch/shapes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

namespace sardonyx::torch {
namespace {

struct Change {
    std::string_view in_place;
    std::string_view view;
};
constexpr Change kChanges[] = {
    {"aten::squeeze_.default", "aten::squeeze.default"},
    {"aten::squeeze_.dim", "aten::squeeze.dim"},
    {"aten::squeeze_.dims", "aten::squeeze.dims"},
    {"aten::swapaxes_.default", "aten::swapaxes.default"},
    {"aten::swapdims_.default", "aten::swapdims.default"},
    {"aten::t_.default", "aten::t.default"},
    {"aten::transpose_.default", "aten::transpose.int"},
    {"aten::unsqueeze_.default", "aten::unsqueeze.default"},
};

const Change* change_of(std::string_view overload) {
    const auto* found = std::find_if(std::begin(kChanges), std::end(kChanges),
                                     [&](const Change& one) { return one.in_place == overload; });
    return found != std::end(kChanges) ? found : nullptr;
}

// Whether the second of two views, each of the one before, gives the first one's argument back.
bool undoes(const Node& first, const Node& second) {
    bool is_same = !first.args.empty() && first.args[0].is_ref() &&
                   first.args.size() == second.args.size() && first.kwargs == second.kwargs &&
                   std::equal(first.args.begin() + 1, first.args.end(), second.args.begin() + 1);
    std::string_view packet = packet_of(first.target);
    bool is_pair =
        first.target == second.target
            ? packet == "t" || packet == "transpose" || packet == "swapaxes" || packet == "swapdims"
            : packet == "unsqueeze" && second.target == "aten::squeeze.dim";
    return is_same && is_pair;
}

class Shapes {
  public:
    explicit Shapes(Program& program) : program_(program) {
        for (const Input& one : program.inputs) {
            given_.push_back(one.name);
        }
        for (const Weight& one : program.weights) {
            given_.push_back(one.name);
        }
    }

    void run(std::vector<Problem>& problems, Changes& changes) {
        auto latest = [this](const std::string& name) { return latest_of(name); };
        for (Node& node : program_.nodes) {
            rename_arguments(node, latest);
            if (node.writes.empty()) {
                continue;
            }
            node.writes = latest_of(node.writes);
            std::string object = object_of(node.writes);
            objects_[node.name] = object;
            const Change* change = change_of(node.target);
            if (change == nullptr) {
                continue;
            }
            bool is_given = std::find(given_.begin(), given_.end(), object) != given_.end();
            if (is_given && !program_.is_model) {
                problems.push_back(
                    {node.place,
                     "a branch, or the body of a loop, changes the shape of its input in place",
                     "write it without `_`"});
            }
            node.target = change->view;
            node.writes.clear();
            std::vector<const Node*>& views = views_[object];
            if (!views.empty() && undoes(*views.back(), node)) {
                latest_[object] = views.back()->args[0].text;
                views.pop_back();
            } else {
                latest_[object] = node.name;
                views.push_back(&node);
            }
        }
        for (Value& one : program_.outputs) {
            rename(one, latest);
        }
        for (const std::string& one : given_) {
            if (latest_of(one) != one) {
                changes.emplace_back(one, latest_of(one));
            }
        }
    }

  private:
    // What names the same tensor of PyTorch, which in-place operators return.
    std::string object_of(const std::string& name) const {
        auto found = objects_.find(name);
        return found != objects_.end() ? found->second : name;
    }

    std::string latest_of(const std::string& name) const {
        auto found = latest_.find(object_of(name));
        return found != latest_.end() ? found->second : name;
    }

    Program& program_;
    std::vector<std::string> given_;
    std::unordered_map<std::string, std::string> objects_;
    std::unordered_map<std::string, std::string> latest_;  // the views of objects
    // Those of each object, of which the last one is the argument of the next.
    std::unordered_map<std::string, std::vector<const Node*>> views_;
};

}  // namespace

bool changes_shape(std::string_view overload) {
    return change_of(overload) != nullptr;
}

std::vector<Problem> replace_shape_changes(Program& program, Changes& changes) {
    std::vector<Problem> problems;
    for (Program& body : program.bodies) {
        Changes of_body;
        add_problems(problems, replace_shape_changes(body, of_body));
    }
    Shapes(program).run(problems, changes);
    return problems;
}

}  // namespace sardonyx::torch
