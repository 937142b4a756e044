// The runner: executes plans. Control flow (control_flow.cpp) works through it.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "eval/gradient/tape.h"
#include "eval/plan/plan.h"
#include "eval/run/observer.h"

namespace sardonyx::eval {

// The values of one main graph or function call.
class Frame {
  public:
    Frame(const FramePlan& plan, std::span<const Binding> bindings)
        : bindings(bindings), plan_(plan), slots_(plan.slot_count) {}

    RuntimeValue& slot(Operand operand) { return slots_[operand]; }
    // What a node reads: a slot, a constant, or nothing.
    const RuntimeValue& get(Operand operand) const {
        if (operand >= 0) {
            return slots_[operand];
        }
        return operand == kNoOperand ? none_ : plan_.constant(operand);
    }

    std::span<const Binding> bindings;

  private:
    const FramePlan& plan_;
    std::vector<RuntimeValue> slots_;
    RuntimeValue none_;
};

class Runner {
  public:
    explicit Runner(const RunOptions& options, RunObserver* observer = nullptr)
        : options_(options), random_{options.seed}, observer_(observer) {}

    const RunOptions& options() const { return options_; }
    RandomState& random() { return random_; }

    // Of the Gradient node that is running; null: none is.
    Tape* tape() const { return tape_; }
    void set_tape(Tape* tape) { tape_ = tape; }

    // Runs the nodes; the slots of the graph's inputs are set. kRepeated: what Gradient runs a
    // second time, where random nodes draw the numbers that they have drawn before.
    enum class Draws : uint8_t { kNew, kRepeated };
    Status run_graph(const GraphPlan& graph, Frame& frame, Draws draws = Draws::kNew);
    // The outputs of a graph that has run, moved out of the frame where they are its own.
    std::vector<RuntimeValue> take_outputs(const GraphPlan& graph, Frame& frame);
    Status run_node(const NodePlan& node, Frame& frame);

    Result<std::vector<RuntimeValue>> call(const FramePlan& plan, std::vector<RuntimeValue> inputs,
                                           std::span<const Binding> bindings);
    // `plan` is the function's.
    Result<std::vector<RuntimeValue>> call_function(const ir::Function& function,
                                                    const FramePlan& plan,
                                                    std::vector<RuntimeValue> inputs,
                                                    AttributeView attributes);
    // One more step; an error when that is too many.
    Status count_step();

  private:
    // Whether somebody sees the values of single nodes.
    bool is_looked_at() const { return observer_ != nullptr && observer_->wants_values(); }
    // Runs a chain as one; false: its nodes must run one by one.
    bool try_chain(const GraphPlan& graph, const ChainPlan& chain, Frame& frame);
    Status run_kernel(const NodePlan& node, Frame& frame);
    Status run_with_channels_first(const NodePlan& node, const Frame& frame,
                                   std::span<RuntimeValue> outputs);
    Status run_call(const NodePlan& node, Frame& frame);
    void show(const NodePlan& node, const Frame& frame);

    RunOptions options_;
    RandomState random_;
    RunObserver* observer_;
    Tape* tape_ = nullptr;
    // Of the nodes that have drawn random numbers while their graph runs: the counter at their
    // begin.
    std::unordered_map<const ir::Node*, uint64_t> drawn_;
    int64_t steps_ = 0;
    int depth_ = 0;
    // Scratch of run_kernel, which does not call itself.
    std::vector<const RuntimeValue*> inputs_;
    std::vector<RuntimeValue> outputs_;
};

// The attributes and inputs of a control operator's call; it has no outputs.
KernelContext context_of(Runner& runner, const NodePlan& node, const Frame& frame,
                         std::span<const RuntimeValue* const> inputs);
// Runs a body with these inputs.
Result<std::vector<RuntimeValue>> run_body(Runner& runner, const GraphPlan& body, Frame& frame,
                                           std::span<RuntimeValue> inputs);

}  // namespace sardonyx::eval
