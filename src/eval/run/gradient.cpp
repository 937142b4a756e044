// Gradient: runs the part of the graph that the node names on its inputs, and goes back through it.
#include <utility>

#include <fmt/format.h>

#include "eval/gradient/algebra.h"
#include "eval/gradient/tape.h"
#include "eval/run/runner.h"

namespace sardonyx::eval {
namespace {

Status check_real(const RuntimeValue& value, std::string_view what) {
    bool is_real = value.is_tensor() && is_floating(value.tensor().element_type());
    return is_real ? Status()
                   : Status(Error{
                         fmt::format("{} is {}, but only floating tensors have "
                                     "derivatives: {}",
                                     what, value.describe(),
                                     value.is_tensor() ? "insert a Cast" : "name a tensor in it")});
}

Status differentiate(Runner& runner, Tape& tape, bool is_outermost, const NodePlan& node,
                     const GraphPlan& part, Frame& frame) {
    std::vector<RuntimeValue> xs;
    std::vector<size_t> wanted;
    tape.set_recording(true);
    for (size_t i = 0; i < part.inputs.size(); ++i) {
        RuntimeValue value = frame.get(i < node.inputs.size() ? node.inputs[i] : kNoOperand);
        if (i < node.outputs.size() && node.outputs[i] >= 0) {
            SDX_TRY(check_real(value, fmt::format("input {}", i)));
            value = tape.variable(value);
            xs.push_back(value);
            wanted.push_back(i);
        }
        frame.slot(part.inputs[i]) = std::move(value);
    }
    size_t first = tape.position();
    RandomState random = runner.random();
    SDX_TRY(runner.run_graph(part, frame, Runner::Draws::kRepeated));
    runner.random() = random;
    RuntimeValue y = std::move(runner.take_outputs(part, frame)[0]);
    SDX_TRY(check_real(y, "`y`"));
    tape.set_recording(!is_outermost);
    Algebra algebra(tape);
    RuntimeValue seed = algebra.full(y.tensor().element_type(), y.tensor().dims(), 1).value();
    SDX_TRY(algebra.status());
    SDX_ASSIGN(std::vector<RuntimeValue> by_x, tape.gradients(first, {&y, 1}, {&seed, 1}, xs));
    for (size_t i = 0; i < xs.size(); ++i) {
        if (by_x[i].is_none()) {
            by_x[i] = zeros_like(algebra.value(xs[i])).value();
        }
        if (is_outermost) {
            by_x[i].set_variable(0);
        }
        frame.slot(node.outputs[wanted[i]]) = std::move(by_x[i]);
    }
    return algebra.status();
}

}  // namespace

namespace kernels {

// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Gradient.html
Status gradient(Runner& runner, const NodePlan& node, Frame& frame) {
    const GraphPlan* part = node.subgraph("y");
    if (part == nullptr) {
        return Error{
            "it differentiates the graph that contains it, and there is none: call the result of "
            "the script's `compile()`, or make it a node of a model or function"};
    }
    Tape tape(runner.options(), runner.random());
    Tape* outer = runner.tape();
    if (outer == nullptr) {
        runner.set_tape(&tape);
    }
    Status status = differentiate(runner, *runner.tape(), outer == nullptr, node, *part, frame);
    runner.set_tape(outer);
    return status;
}

}  // namespace kernels
}  // namespace sardonyx::eval
