// If, Loop, Scan and SequenceMap: the operators that run subgraphs.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "eval/operators/kernel.h"
#include "eval/run/iterations.h"
#include "eval/run/runner.h"
#include "eval/run/scan.h"

namespace sardonyx::eval {

KernelContext context_of(Runner& runner, const NodePlan& node, const Frame& frame,
                         std::span<const RuntimeValue* const> inputs) {
    return {*node.entry->schema, inputs,         AttributeView(node.attributes, frame.bindings), {},
            runner.options(),    runner.random()};
}

Result<std::vector<RuntimeValue>> run_body(Runner& runner, const GraphPlan& body, Frame& frame,
                                           std::span<RuntimeValue> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
        frame.slot(body.inputs[i]) = std::move(inputs[i]);
    }
    SDX_TRY(runner.run_graph(body, frame));
    return runner.take_outputs(body, frame);
}

namespace {

Status store(const NodePlan& node, Frame& frame, size_t output, RuntimeValue value) {
    if (output < node.outputs.size() && node.outputs[output] >= 0) {
        frame.slot(node.outputs[output]) = std::move(value);
    }
    return {};
}

// --- Loop ----------------------------------------------------------------------------------------

struct LoopState {
    std::optional<int64_t> trip_count;
    bool condition = true;
    std::vector<RuntimeValue> carried;
    std::vector<ScanOutput> scans;
};

Result<LoopState> start_loop(const NodePlan& node, Frame& frame, const GraphPlan& body) {
    LoopState state;
    const RuntimeValue* inputs[2] = {&frame.get(kNoOperand), &frame.get(kNoOperand)};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const RuntimeValue& value = frame.get(node.inputs[i]);
        if (i < 2) {
            inputs[i] = &value;
        } else {
            state.carried.push_back(value);
        }
    }
    SDX_ASSIGN(state.trip_count, read_trip_count(*inputs[0]));
    if (!inputs[1]->is_none()) {
        SDX_ASSIGN(state.condition, read_condition(*inputs[1]));
    }
    // Optional trailing state that is left out still has its place.
    size_t expected = body.inputs.size() < 2 ? SIZE_MAX : body.inputs.size() - 2;
    while (state.carried.size() < expected && expected != SIZE_MAX) {
        state.carried.emplace_back();
    }
    if (state.carried.size() != expected || body.outputs.size() < 1 + expected) {
        return Error{
            fmt::format("{} loop-carried values do not fit a body with {} inputs and {} "
                        "outputs",
                        state.carried.size(), body.inputs.size(), body.outputs.size())};
    }
    state.scans.resize(body.outputs.size() - 1 - expected);
    return state;
}

Status run_iteration(Runner& runner, const GraphPlan& body, Frame& frame, int64_t iteration,
                     LoopState* state) {
    SDX_TRY(runner.count_step());
    frame.slot(body.inputs[0]) = Tensor::scalar<int64_t>(iteration);
    frame.slot(body.inputs[1]) = Tensor::scalar<bool>(state->condition);
    for (size_t i = 0; i < state->carried.size(); ++i) {
        frame.slot(body.inputs[i + 2]) = std::move(state->carried[i]);
    }
    SDX_TRY(runner.run_graph(body, frame));
    std::vector<RuntimeValue> results = runner.take_outputs(body, frame);
    SDX_ASSIGN(state->condition, read_condition(results[0]));
    for (size_t i = 0; i < state->carried.size(); ++i) {
        state->carried[i] = std::move(results[i + 1]);
    }
    for (size_t i = 0; i < state->scans.size(); ++i) {
        SDX_TRY(state->scans[i].add(std::move(results[i + 1 + state->carried.size()]),
                                    runner.options()));
    }
    return {};
}

// The graph as the body of a Scan.
ScanBody scan_body(Runner& runner, const GraphPlan& body, Frame& frame) {
    ScanBody scanned;
    scanned.run = [&](std::vector<RuntimeValue> arguments) -> Result<std::vector<RuntimeValue>> {
        SDX_TRY(runner.count_step());
        return run_body(runner, body, frame, arguments);
    };
    scanned.types = [&body](std::vector<RuntimeValue>) -> Result<std::vector<Type>> {
        return body.output_types;
    };
    return scanned;
}

}  // namespace

namespace kernels {

// https://onnx.ai/onnx/operators/onnx__If.html
Status if_else(Runner& runner, const NodePlan& node, Frame& frame) {
    SDX_ASSIGN(bool condition,
               read_condition(frame.get(node.inputs.empty() ? kNoOperand : node.inputs[0])));
    const GraphPlan* branch = node.subgraph(condition ? "then_branch" : "else_branch");
    if (branch == nullptr || !branch->inputs.empty()) {
        return Error{"the branch must be a graph without inputs"};
    }
    if (branch->outputs.size() != node.outputs.size()) {
        return Error{fmt::format("`{}` has {} outputs, but the node has {}",
                                 condition ? "then_branch" : "else_branch", branch->outputs.size(),
                                 node.outputs.size())};
    }
    SDX_TRY(runner.run_graph(*branch, frame));
    std::vector<RuntimeValue> results = runner.take_outputs(*branch, frame);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        SDX_TRY(store(node, frame, i, std::move(results[i])));
    }
    return {};
}

// https://onnx.ai/onnx/operators/onnx__Loop.html
Status loop(Runner& runner, const NodePlan& node, Frame& frame) {
    const GraphPlan* body = node.subgraph("body");
    if (body == nullptr) {
        return Error{"attribute `body` is missing"};
    }
    SDX_ASSIGN(LoopState state, start_loop(node, frame, *body));
    for (int64_t i = 0; state.condition && (!state.trip_count || i < *state.trip_count); ++i) {
        SDX_TRY(run_iteration(runner, *body, frame, i, &state));
    }
    for (size_t i = 0; i < state.carried.size(); ++i) {
        SDX_TRY(store(node, frame, i, std::move(state.carried[i])));
    }
    for (size_t i = 0; i < state.scans.size(); ++i) {
        size_t output = state.carried.size() + i;
        if (output >= node.outputs.size() || node.outputs[output] < 0) {
            continue;
        }
        SDX_ASSIGN(RuntimeValue stacked,
                   state.scans[i].stacked(runner.tape(), body->output_types[output + 1], 0,
                                          RowOrder::kForward));
        SDX_TRY(store(node, frame, output, std::move(stacked)));
    }
    return {};
}

// https://onnx.ai/onnx/operators/onnx__Scan.html
Status scan(Runner& runner, const NodePlan& node, Frame& frame) {
    const GraphPlan* body = node.subgraph("body");
    if (body == nullptr) {
        return Error{"attribute `body` is missing"};
    }
    std::vector<RuntimeValue> inputs;
    for (Operand operand : node.inputs) {
        inputs.push_back(frame.get(operand));
    }
    KernelContext c = context_of(runner, node, frame, {});
    size_t given = inputs.size() - (has_lengths(c) && !inputs.empty() ? 1 : 0);
    SDX_ASSIGN(ScanShape shape, read_scan_inputs(c, given));
    if (body->inputs.size() != given || body->outputs.size() < shape.state_count) {
        return Error{fmt::format(
            "{} inputs, of which {} are scanned, do not fit a body with {} inputs and {} outputs",
            given, shape.scan_count, body->inputs.size(), body->outputs.size())};
    }
    SDX_ASSIGN(std::vector<RuntimeValue> results,
               run_scan(c, runner.tape(), shape, scan_body(runner, *body, frame), inputs));
    for (size_t i = 0; i < results.size(); ++i) {
        SDX_TRY(store(node, frame, i, std::move(results[i])));
    }
    return {};
}

// https://onnx.ai/onnx/operators/onnx__SequenceMap.html
Status sequence_map(Runner& runner, const NodePlan& node, Frame& frame) {
    const GraphPlan* body = node.subgraph("body");
    if (body == nullptr || body->inputs.size() != node.inputs.size() || node.inputs.empty() ||
        body->outputs.size() < node.outputs.size()) {
        return Error{"the body's inputs and outputs do not fit those of the node"};
    }
    std::vector<RuntimeValue> inputs;
    for (Operand operand : node.inputs) {
        inputs.push_back(frame.get(operand));
    }
    if (!inputs[0].is_sequence()) {
        return Error{
            fmt::format("the first input is {}, but must be a sequence", inputs[0].describe())};
    }
    size_t length = inputs[0].sequence().items.size();
    std::vector<std::shared_ptr<Sequence>> outputs;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        outputs.push_back(std::make_shared<Sequence>());
        outputs.back()->element_type = body->output_types[i].element_type();
    }
    for (size_t step = 0; step < length; ++step) {
        SDX_TRY(runner.count_step());
        std::vector<RuntimeValue> arguments;
        for (const RuntimeValue& input : inputs) {
            if (input.is_sequence() && input.sequence().items.size() != length) {
                return Error{"the sequences have different lengths"};
            }
            arguments.push_back(input.is_sequence() ? input.sequence().items[step] : input);
        }
        SDX_ASSIGN(std::vector<RuntimeValue> results, run_body(runner, *body, frame, arguments));
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (results[i].is_tensor()) {
                outputs[i]->element_type = results[i].tensor().element_type();
            }
            outputs[i]->items.push_back(std::move(results[i]));
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        SDX_TRY(store(node, frame, i, std::shared_ptr<const Sequence>(std::move(outputs[i]))));
    }
    return {};
}

}  // namespace kernels
}  // namespace sardonyx::eval
