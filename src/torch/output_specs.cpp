#include "torch/output_specs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/check.h"

namespace sardonyx::torch {
namespace {

// The input or weight that an output is the new value of; empty: none.
std::string changed_by(const Program& program, const OutputSpec& spec) {
    if (spec.kind == "user_input_mutation") {
        bool is_input = std::any_of(program.inputs.begin(), program.inputs.end(),
                                    [&](const Input& one) { return one.name == spec.target; });
        return is_input ? spec.target : std::string();
    }
    if (spec.kind != "buffer_mutation" && spec.kind != "parameter_mutation") {
        return {};
    }
    auto found = std::find_if(program.weights.begin(), program.weights.end(),
                              [&](const Weight& one) { return one.key == spec.target; });
    return found != program.weights.end() ? found->name : std::string();
}

Node write_of(Program& program, const std::string& written, Value value,
              std::unordered_set<std::string>& taken) {
    Node node;
    node.name = written + "_changed";
    while (!taken.insert(node.name).second) {
        node.name += '_';
    }
    node.target = "aten::copy_.default";
    node.args = {Value::ref(written), std::move(value)};
    node.writes = written;
    node.takes_pairs = program.pairs.count(written) != 0;
    if (node.takes_pairs) {
        program.pairs.insert(node.name);
    }
    return node;
}

}  // namespace

void apply_output_specs(Program& program) {
    std::vector<OutputSpec> specs = std::exchange(program.output_specs, {});
    if (specs.empty()) {
        return;
    }
    std::vector<Value> outputs = std::exchange(program.outputs, {});
    std::vector<std::string> names = std::exchange(program.output_names, {});
    SDX_CHECK(specs.size() == outputs.size());
    names.resize(std::max(names.size(), outputs.size()));
    std::unordered_set<std::string> taken;
    for (const Node& node : program.nodes) {
        taken.insert(node.name);
    }
    auto name = names.begin();
    for (size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].kind == "user_output" || specs[i].kind == "loss_output") {
            if (!outputs[i].is(Value::Kind::kNone)) {
                program.outputs.push_back(std::move(outputs[i]));
                program.output_names.push_back(std::move(*name));
            }
            ++name;
            continue;
        }
        std::string written = changed_by(program, specs[i]);
        if (!written.empty() && outputs[i].is_ref()) {
            program.nodes.push_back(write_of(program, written, std::move(outputs[i]), taken));
        }
    }
}

}  // namespace sardonyx::torch
