#include "eval/plan/fold.h"

#include <algorithm>

#include "base/stop.h"
#include "eval/dispatch/invoke.h"
#include "eval/runtime/interrupt.h"

namespace sardonyx::eval {

std::optional<std::vector<RuntimeValue>> fold(const ir::Node& node, const NodePlan& plan,
                                              const FramePlan& frame, int64_t max_bytes) {
    stop_point();
    bool is_pure = plan.entry != nullptr && plan.entry->kernel != nullptr &&
                   plan.entry->schema->is_deterministic &&
                   std::all_of(plan.inputs.begin(), plan.inputs.end(),
                               [](Operand operand) { return operand < 0; }) &&
                   !plan.has_references;
    if (!is_pure) {
        return std::nullopt;
    }
    RuntimeValue none;
    std::vector<const RuntimeValue*> inputs;
    for (Operand operand : plan.inputs) {
        inputs.push_back(operand == kNoOperand ? &none : &frame.constant(operand));
    }
    std::vector<RuntimeValue> outputs(
        std::max<size_t>(node.output_count(), plan.entry->schema->minimum_outputs));
    Interrupt interrupt;
    interrupt.set_check([](void*) { return should_stop(); }, nullptr);
    RunOptions options;
    options.max_bytes = max_bytes;
    options.interrupt = &interrupt;
    RandomState random;
    KernelContext context(*plan.entry->schema, inputs, AttributeView(node.attributes, {}), outputs,
                          options, random);
    bool is_done = invoke(*plan.entry, context, node.output_count()).ok();
    if (interrupt.is_stopped()) {
        stop_point();  // what the kernel has left is no value
    }
    if (!is_done || interrupt.is_stopped() || random.counter != 0) {
        return std::nullopt;
    }
    return outputs;
}

}  // namespace sardonyx::eval
