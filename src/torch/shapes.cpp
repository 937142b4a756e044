#include "torch/shapes.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <unordered_map>

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

class Shapes {
  public:
    explicit Shapes(Program& program) : program_(program) {
        for (const Input& one : program.inputs) {
            given_.insert(one.name);
        }
        for (const Weight& one : program.weights) {
            given_.insert(one.name);
        }
    }

    void run(std::vector<Problem>& problems) {
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
            if (given_.count(object) != 0) {
                problems.push_back({node.place,
                                    "it changes the shape of an input or a weight in place",
                                    "write it without `_`"});
            }
            node.target = change->view;
            node.writes.clear();
            latest_[object] = node.name;
        }
        for (Value& one : program_.outputs) {
            rename(one, latest);
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
    std::set<std::string> given_;
    std::unordered_map<std::string, std::string> objects_;
    std::unordered_map<std::string, std::string> latest_;  // the views of objects
};

}  // namespace

bool changes_shape(std::string_view overload) {
    return change_of(overload) != nullptr;
}

std::vector<Problem> replace_shape_changes(Program& program) {
    std::vector<Problem> problems;
    for (Program& body : program.bodies) {
        add_problems(problems, replace_shape_changes(body));
    }
    Shapes(program).run(problems);
    return problems;
}

}  // namespace sardonyx::torch
