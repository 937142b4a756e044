// If, Loop, Scan and SequenceMap: the operators that run subgraphs.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "eval/gradient/algebra.h"
#include "eval/kernels/cast.h"
#include "eval/loops/strided.h"
#include "eval/operators/kernel.h"
#include "eval/run/iterations.h"
#include "eval/run/runner.h"

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

const Type& output_type(const GraphPlan& body, size_t output) {
    return body.graph->outputs[output]->type;
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

// --- Scan ----------------------------------------------------------------------------------------

// All elements along `axis`, without it, made of operators that the tape knows.
Result<std::vector<RuntimeValue>> recorded_slices(Tape& tape, const RuntimeValue& source,
                                                  int axis) {
    Algebra algebra(tape);
    Expr whole = algebra.value(source);
    std::vector<int64_t> sizes(whole.dim(axis), 1);
    Dims dims = whole.dims();
    dims.erase(dims.begin() + axis);
    std::vector<RuntimeValue> items;
    for (const Expr& part :
         algebra.call("Split", {whole, algebra.ints(sizes)},
                      {ir::make_attribute("axis", int64_t{axis})}, sizes.size())) {
        items.push_back(reshape(part, dims).value());
    }
    SDX_TRY(algebra.status());
    return items;
}

// The attributes of a Scan whose body fits them.
Result<ScanShape> scan_shape(KernelContext& c, const GraphPlan& body, size_t input_count) {
    ScanShape shape;
    Status read = read_scan_inputs(c, input_count, &shape);
    if (!read.ok() || body.inputs.size() != input_count ||
        body.outputs.size() < shape.state_count) {
        return read.ok() ? Error{fmt::format("{} inputs, of which {} are scanned, do not fit a "
                                             "body with {} inputs and {} outputs",
                                             input_count, shape.scan_count, body.inputs.size(),
                                             body.outputs.size())}
                         : read.error();
    }
    SDX_TRY(read_scan_outputs(c, body.outputs.size() - shape.state_count, &shape));
    return shape;
}

// One scan over `inputs` (state, then scanned tensors). `length` limits it, where given.
Result<std::vector<RuntimeValue>> run_scan(Runner& runner, KernelContext& c, const ScanShape& shape,
                                           const GraphPlan& body, Frame& frame,
                                           std::vector<RuntimeValue> inputs,
                                           std::optional<int64_t> length) {
    std::vector<int> axes;
    int64_t full = 0;
    for (size_t i = 0; i < shape.scan_count; ++i) {
        const RuntimeValue& value = inputs[shape.state_count + i];
        if (!value.is_tensor()) {
            return Error{
                fmt::format("scan input {} is {}, but must be a tensor", i, value.describe())};
        }
        SDX_ASSIGN(int axis, c.axis(shape.input_axes[i], value.tensor().rank()));
        axes.push_back(axis);
        int64_t n = value.tensor().dims()[axis];
        full = i == 0 ? n : full;
        if (n != full) {
            return Error{fmt::format("scan inputs have lengths {} and {}", full, n)};
        }
    }
    int64_t steps = length.value_or(full);
    if (steps < 0 || steps > full) {
        return Error{fmt::format("length {} is not within the scan inputs' {}", steps, full)};
    }
    std::vector<std::vector<RuntimeValue>> slices(shape.scan_count);
    for (size_t i = 0; i < shape.scan_count && full > 0; ++i) {
        if (inputs[shape.state_count + i].variable() != 0) {
            SDX_ASSIGN(slices[i],
                       recorded_slices(*runner.tape(), inputs[shape.state_count + i], axes[i]));
        }
    }
    std::vector<RuntimeValue> state(std::make_move_iterator(inputs.begin()),
                                    std::make_move_iterator(inputs.begin() + shape.state_count));
    std::vector<ScanOutput> outputs(body.outputs.size() - shape.state_count);
    for (int64_t step = 0; step < steps; ++step) {
        SDX_TRY(runner.count_step());
        std::vector<RuntimeValue> arguments = std::move(state);
        for (size_t i = 0; i < shape.scan_count; ++i) {
            int64_t index = shape.input_reversed[i] ? steps - 1 - step : step;
            if (!slices[i].empty()) {
                arguments.push_back(slices[i][index]);
                continue;
            }
            SDX_ASSIGN(Tensor item,
                       slice_at(c, inputs[shape.state_count + i].tensor(), axes[i], index));
            arguments.emplace_back(std::move(item));
        }
        SDX_ASSIGN(std::vector<RuntimeValue> results, run_body(runner, body, frame, arguments));
        for (size_t i = 0; i < outputs.size(); ++i) {
            SDX_TRY(outputs[i].add(std::move(results[shape.state_count + i]), runner.options()));
        }
        results.resize(shape.state_count);
        state = std::move(results);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        SDX_ASSIGN(RuntimeValue stacked,
                   outputs[i].stacked(runner.tape(), output_type(body, shape.state_count + i),
                                      shape.output_axes[i], shape.output_reversed[i]));
        state.emplace_back(std::move(stacked));
    }
    return state;
}

// With zeros at its end, so that axis 0 has `length` elements.
Result<RuntimeValue> filled_up(Runner& runner, const RuntimeValue& value, int64_t length) {
    const Tensor& part = value.tensor();
    Dims dims = part.dims();
    dims[0] = length;
    SDX_TRY(check_size(part.element_type(), dims, runner.options()));
    if (value.variable() != 0) {
        Algebra algebra(*runner.tape());
        std::vector<int64_t> none(dims.size());
        std::vector<int64_t> end = none;
        end[0] = length - part.dims()[0];
        RuntimeValue whole = pad(algebra.value(value), none, end).value();
        SDX_TRY(algebra.status());
        return whole;
    }
    Tensor whole = Tensor::zeros(part.element_type(), std::move(dims));
    copy_elements(part, 0, whole, 0, part.count());
    return RuntimeValue(std::move(whole));
}

// Version 8 scans each element of a batch (axis 0) on its own, to its own length; what is beyond
// that in an output is zero.
Result<std::vector<RuntimeValue>> run_batched_scan(Runner& runner, KernelContext& c,
                                                   const ScanShape& shape, const GraphPlan& body,
                                                   Frame& frame,
                                                   std::span<const RuntimeValue> inputs,
                                                   const RuntimeValue& lengths) {
    if (!inputs[0].is_tensor() || inputs[0].tensor().rank() == 0) {
        return Error{"the first input must be a tensor with a batch axis"};
    }
    int64_t batch = inputs[0].tensor().dims()[0];
    std::optional<std::vector<int64_t>> counts;
    if (lengths.is_tensor()) {
        counts = to_int64s(lengths.tensor());
        if (!counts.has_value() || static_cast<int64_t>(counts->size()) != batch) {
            return Error{"`sequence_lens` must have one length for each element of the batch"};
        }
    }
    std::vector<ScanOutput> stacks(body.outputs.size());
    std::vector<std::vector<RuntimeValue>> slices(inputs.size());  // of variables
    for (int64_t b = 0; b < batch; ++b) {
        std::vector<RuntimeValue> items;
        for (size_t i = 0; i < inputs.size(); ++i) {
            const RuntimeValue& input = inputs[i];
            if (!input.is_tensor() || input.tensor().rank() == 0 ||
                input.tensor().dims()[0] != batch) {
                return Error{"all inputs must have the same batch axis"};
            }
            if (input.variable() != 0) {
                if (b == 0) {
                    SDX_ASSIGN(slices[i], recorded_slices(*runner.tape(), input, 0));
                }
                items.push_back(slices[i][b]);
                continue;
            }
            SDX_ASSIGN(Tensor item, slice_at(c, input.tensor(), 0, b));
            items.emplace_back(std::move(item));
        }
        std::optional<int64_t> length;
        if (counts.has_value()) {
            length = (*counts)[b];
        }
        int64_t full = items[shape.state_count].tensor().rank() > 0
                           ? items[shape.state_count].tensor().dims()[0]
                           : 0;
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   run_scan(runner, c, shape, body, frame, std::move(items), length));
        for (size_t i = 0; i < results.size(); ++i) {
            if (i >= shape.state_count && results[i].tensor().dims()[0] < full) {
                SDX_ASSIGN(results[i], filled_up(runner, results[i], full));
            }
            SDX_TRY(stacks[i].add(std::move(results[i]), runner.options()));
        }
    }
    std::vector<RuntimeValue> outputs;
    for (size_t i = 0; i < stacks.size(); ++i) {
        SDX_ASSIGN(RuntimeValue stacked,
                   stacks[i].stacked(runner.tape(), output_type(body, i), 0, false));
        outputs.emplace_back(std::move(stacked));
    }
    return outputs;
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
                   state.scans[i].stacked(runner.tape(), output_type(*body, output + 1), 0, false));
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
    bool is_batched = c.version() < 9;
    RuntimeValue lengths;
    if (is_batched && !inputs.empty()) {
        lengths = std::move(inputs.front());
        inputs.erase(inputs.begin());
    }
    SDX_ASSIGN(ScanShape shape, scan_shape(c, *body, inputs.size()));
    auto results = is_batched
                       ? run_batched_scan(runner, c, shape, *body, frame, inputs, lengths)
                       : run_scan(runner, c, shape, *body, frame, std::move(inputs), std::nullopt);
    if (!results.ok()) {
        return results.error();
    }
    for (size_t i = 0; i < results->size(); ++i) {
        SDX_TRY(store(node, frame, i, std::move((*results)[i])));
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
        outputs.back()->element_type = output_type(*body, i).element_type();
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
