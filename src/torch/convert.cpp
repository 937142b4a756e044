#include "torch/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "torch/copies.h"
#include "torch/pairs.h"
#include "torch/shapes.h"
#include "torch/vmap.h"

namespace sardonyx::torch {
namespace {

// The operators that the library does not have, and that something depends on.
void find_unknown(const Program& program, const IsKnown& is_known, std::vector<Problem>& problems) {
    std::unordered_set<std::string> used = used_names(program);
    for (const Node& node : program.nodes) {
        std::string_view space = space_of(node.target);
        bool is_built_in = space == "py" || space == "hop" || node.target.empty();
        if (is_built_in || used.count(node.name) == 0) {
            continue;
        }
        std::string target =
            node.writes.empty() ? node.target : functional_overload(node.target, is_known);
        if (!is_known(target)) {
            problems.push_back(
                {node.place, fmt::format("`{}` is not in the library", node.target),
                 fmt::format("write it as a function below `@sardonyx.torch.operator(\"{}\")`, and "
                             "give its file as `library`",
                             node.target)});
        }
    }
    for (const Program& body : program.bodies) {
        bool is_called =
            std::any_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
                return used.count(node.name) != 0 && calls_body(node, body.name);
            });
        if (is_called) {
            find_unknown(body, is_known, problems);
        }
    }
}

// The outputs from `first` on are these inputs and weights in their new shapes: they are changes.
void take_shapes(Program& program, const Changes& shapes, size_t first, Changes& changes) {
    std::map<std::string, std::string> values(changes.begin(), changes.end());
    for (size_t i = 0; i < shapes.size(); ++i) {
        values[shapes[i].first] = program.outputs[first + i].text;
    }
    program.outputs.resize(first);
    changes.clear();
    auto add = [&](const auto& one) {
        auto found = values.find(one.name);
        if (found != values.end()) {
            changes.emplace_back(*found);
        }
    };
    std::for_each(program.inputs.begin(), program.inputs.end(), add);
    std::for_each(program.weights.begin(), program.weights.end(), add);
}

// What the program changes from outside of it, as further outputs.
void add_changes(Program& program, const Changes& changes) {
    program.output_names.resize(std::max(program.output_names.size(), program.outputs.size()));
    for (const auto& [name, value] : changes) {
        auto weight = std::find_if(program.weights.begin(), program.weights.end(),
                                   [&](const Weight& one) { return one.name == name; });
        program.outputs.push_back(Value::ref(value));
        program.output_names.push_back(weight != program.weights.end() ? weight->key : name);
    }
}

// Of those, which stand from `first` on, the ones that have another value than before.
Result<void> choose_changes(Program& program, const Changes& changes, size_t first, State state) {
    std::vector<std::string> labels;
    size_t end = first;
    for (size_t i = 0; i < changes.size(); ++i) {
        if (state != State::kDrop && program.outputs[first + i] != Value::ref(changes[i].first)) {
            labels.push_back(program.output_names[first + i]);
            program.outputs[end] = program.outputs[first + i];
            program.output_names[end++] = labels.back() + "_next";
        }
    }
    program.outputs.resize(end);
    program.output_names.resize(end);
    if (state == State::kError && !labels.empty()) {
        return Error{
            fmt::format("the module changes `{}`: return the new values with `state=\"outputs\"`, "
                        "or discard them with `state=\"drop\"`",
                        fmt::join(labels, "`, `"))};
    }
    return {};
}

// One text for all problems.
Error report(const std::vector<Problem>& problems) {
    std::vector<std::string> texts;
    std::set<std::string> seen;
    for (const Problem& one : problems) {
        std::string text = words_of(one);
        if (seen.insert(text).second) {
            texts.push_back(std::move(text));
        }
    }
    return Error{fmt::format("cannot convert the program: {} problem{}\n\n{}", texts.size(),
                             texts.size() == 1 ? "" : "s", fmt::join(texts, "\n\n"))};
}

}  // namespace

Result<State> state_of(std::string_view word) {
    if (word.empty() || word == "outputs") {
        return State::kOutputs;
    }
    if (word == "drop" || word == "error") {
        return word == "drop" ? State::kDrop : State::kError;
    }
    return Error{fmt::format(R"(`state` is "outputs", "drop" or "error", not "{}")", word)};
}

Result<void> finish(Program& program, std::vector<Problem> problems, State state,
                    const OwnOperators& own) {
    auto is_own = [&own](std::string_view overload) { return own.find(overload) != own.end(); };
    auto is_known = [&is_own](std::string_view overload) {
        return is_own(overload) || !overload_name(overload).empty();
    };
    add_problems(problems, replace_vmap(program));
    Changes shapes;
    add_problems(problems, replace_shape_changes(program, shapes));
    size_t first = program.outputs.size();
    for (const auto& [name, view] : shapes) {
        program.outputs.push_back(Value::ref(view));
    }
    add_problems(problems, choose_pairs(program, is_known));
    find_unknown(program, is_known, problems);
    if (!problems.empty()) {
        return report(problems);
    }
    Changes changes;
    Problem unsolved;
    if (!remove_mutation(program, is_known, changes, unsolved)) {
        return report({unsolved});
    }
    take_shapes(program, shapes, first, changes);
    add_changes(program, changes);
    remove_copies(program, is_own);
    SDX_TRY(choose_changes(program, changes, first, state));
    make_ends_real(program);
    remove_unused(program);
    return {};
}

}  // namespace sardonyx::torch
