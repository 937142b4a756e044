#include "eval/run/runner.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/stack.h"
#include "eval/dispatch/invoke.h"
#include "eval/gradient/derivative.h"
#include "eval/loops/channels_last.h"
#include "eval/run/chain.h"

namespace sardonyx::eval {
namespace {

Error at_node(const NodePlan& node, const Frame& frame, const Error& error) {
    std::vector<RuntimeValue> shown;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const RuntimeValue& value = frame.get(node.inputs[i]);
        bool is_last = node.channels_last.inputs.contains(i) && value.is_tensor();
        shown.push_back(is_last ? RuntimeValue(value.tensor().reshaped(
                                      channels_first_dims(value.tensor().dims())))
                                : value);
    }
    std::vector<const RuntimeValue*> inputs;
    for (const RuntimeValue& value : shown) {
        inputs.push_back(&value);
    }
    std::string op = node.domain.empty() ? std::string(node.op_type)
                                         : fmt::format("{}.{}", node.domain, node.op_type);
    std::string place = node.name.empty() ? fmt::format("`{}`", op)
                                          : fmt::format("node `{}` (`{}`)", node.name, op);
    // The innermost node tells its inputs; those around it only where they are.
    bool is_kernel = node.entry != nullptr && node.entry->kernel != nullptr;
    return Error{
        is_kernel ? fmt::format("{}: {}; inputs: {}", place, error.message, describe_inputs(inputs))
                  : fmt::format("{}: {}", place, error.message)};
}

// An attribute parameter of a function stands for the call's attribute, else for its default.
std::vector<Binding> bind(const ir::Function& function, AttributeView attributes) {
    std::vector<Binding> bindings;
    for (const ir::Attribute& attribute : attributes.all()) {
        if (const ir::Attribute* value = attributes.resolve(attribute)) {
            bindings.push_back({attribute.name, value});
        }
    }
    for (const ir::Attribute& parameter : function.attribute_defaults) {
        bool given = std::any_of(bindings.begin(), bindings.end(),
                                 [&](const Binding& b) { return b.name == parameter.name; });
        if (!given && !parameter.is_reference()) {
            bindings.push_back({parameter.name, &parameter});
        }
    }
    return bindings;
}

}  // namespace

Status Runner::count_step() {
    if (steps_ >= options_.max_steps) {
        return Error{fmt::format("the limit of {} steps is reached", options_.max_steps)};
    }
    ++steps_;
    return check_interrupt(options_);
}

Status Runner::run_graph(const GraphPlan& graph, Frame& frame, Draws draws) {
    if (depth_ >= kMaxDepth) {
        return Error{fmt::format("graphs and calls are nested more than {} deep", kMaxDepth)};
    }
    // What is not deep has room everywhere.
    constexpr int kDeep = 8;
    if (depth_ >= kDeep && is_stack_low()) {
        return Error{fmt::format(
            "graphs and calls are nested {} deep, for which this thread's stack is too small",
            depth_)};
    }
    ++depth_;
    if (graph.keeps_draws && draws == Draws::kNew) {
        for (const NodePlan& node : graph.nodes) {
            drawn_.erase(node.node);
        }
    }
    auto chain = graph.chains.begin();
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        if (chain != graph.chains.end() && chain->first == i) {
            const ChainPlan& next = *chain++;
            if (try_chain(graph, next, frame)) {
                i += next.steps.size() - 1;
                continue;
            }
        }
        const NodePlan& node = graph.nodes[i];
        bool is_skipped = node.is_idle && !is_looked_at();
        if (draws == Draws::kRepeated && drawn_.count(node.node) != 0) {
            random_.counter = drawn_[node.node];
        }
        uint64_t counter = random_.counter;
        Status status = is_skipped ? Status() : run_node(node, frame);
        if (graph.keeps_draws && random_.counter != counter) {
            drawn_[node.node] = counter;
        }
        if (!status.ok()) {
            --depth_;
            if (observer_ != nullptr && node.node != nullptr) {
                observer_->node_failed(*node.node);
            }
            return at_node(node, frame, status.error());
        }
        if (observer_ != nullptr && node.node != nullptr) {
            show(node, frame);
        }
        for (Operand slot : node.releases) {
            frame.slot(slot) = RuntimeValue();
        }
    }
    --depth_;
    return {};
}

bool Runner::try_chain(const GraphPlan& graph, const ChainPlan& chain, Frame& frame) {
    auto length = static_cast<int64_t>(chain.steps.size());
    // An error is that of one node.
    if (is_looked_at() || tape_ != nullptr || length > options_.max_steps - steps_ ||
        !run_chain(graph, chain, frame, options_)) {
        return false;
    }
    steps_ += length;
    for (size_t i = chain.first; observer_ != nullptr && i < chain.first + chain.steps.size();
         ++i) {
        if (graph.nodes[i].node != nullptr) {
            observer_->node_done(*graph.nodes[i].node, {}, depth_);
        }
    }
    return true;
}

void Runner::show(const NodePlan& node, const Frame& frame) {
    std::vector<const RuntimeValue*> outputs;
    for (Operand operand : node.outputs) {
        outputs.push_back(&frame.get(operand));
    }
    RuntimeValue first;
    if (node.channels_last.result) {
        first = with_channels_first(outputs[0]->tensor(), workers_of(options_));
        outputs[0] = &first;
    }
    observer_->node_done(*node.node, outputs, depth_);
}

Status Runner::run_node(const NodePlan& node, Frame& frame) {
    SDX_TRY(count_step());
    if (node.entry == nullptr) {
        return run_call(node, frame);
    }
    return node.entry->control != nullptr ? node.entry->control(*this, node, frame)
                                          : run_kernel(node, frame);
}

Status Runner::run_kernel(const NodePlan& node, Frame& frame) {
    const ops::Schema& schema = *node.entry->schema;
    inputs_.clear();
    for (Operand operand : node.inputs) {
        inputs_.push_back(&frame.get(operand));
    }
    AttributeView attributes(node.attributes, frame.bindings);
    // Most nodes have one result, which the kernel puts into its slot.
    bool is_in_place = node.outputs.size() == 1 && node.outputs[0] >= 0 &&
                       schema.minimum_outputs <= 1 && tape_ == nullptr;
    std::span<RuntimeValue> outputs;
    if (is_in_place) {
        outputs = {&frame.slot(node.outputs[0]), 1};
        outputs[0] = RuntimeValue();
    } else {
        outputs_.clear();
        outputs_.resize(std::max<size_t>(node.outputs.size(), schema.minimum_outputs));
        outputs = outputs_;
    }
    // A tensor that the tape shares is not overwritten.
    std::vector<RuntimeValue> recorded;
    if (tape_ != nullptr && Tape::has_variable(inputs_)) {
        for (const RuntimeValue* input : inputs_) {
            recorded.push_back(*input);
        }
        const Derivative* derivative = find_derivative(schema);
        size_t count = derivative != nullptr ? derivative->output_count : 0;
        outputs_.resize(std::max(outputs_.size(), count));
        outputs = outputs_;
    }
    KernelContext context(schema, inputs_, attributes, outputs, options_, random_);
    context.set_dying(node.dying);
    context.set_constants(node.constants, !node.has_references, &node.cache);
    context.set_channels_last(node.channels_last);
    // Attributes without references were checked when the plan was made.
    Status status = invoke(*node.entry, context, node.outputs.size(),
                           node.has_references ? Unchecked::kCallAndAttributes : Unchecked::kCall);
    if (!status.ok() && !node.channels_last.is_empty()) {
        status = run_with_channels_first(node, frame, outputs);
    }
    SDX_TRY(status);
    if (is_in_place) {
        return {};
    }
    if (!recorded.empty()) {
        tape_->record(schema, node.name, context.attributes(), std::move(recorded), outputs_);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] >= 0) {
            frame.slot(node.outputs[i]) = std::move(outputs_[i]);
        }
    }
    return {};
}

// Runs the kernel with its inputs in the order of ONNX.
Status Runner::run_with_channels_first(const NodePlan& node, const Frame& frame,
                                       std::span<RuntimeValue> outputs) {
    Workers threads = workers_of(options_);
    std::vector<RuntimeValue> reordered;
    reordered.reserve(inputs_.size());  // inputs_ points to them
    for (size_t i = 0; i < inputs_.size(); ++i) {
        if (node.channels_last.inputs.contains(i)) {
            reordered.emplace_back(with_channels_first(inputs_[i]->tensor(), threads));
            inputs_[i] = &reordered.back();
        }
    }
    KernelContext context(*node.entry->schema, inputs_,
                          AttributeView(node.attributes, frame.bindings), outputs, options_,
                          random_);
    SDX_TRY(invoke(*node.entry, context, node.outputs.size()));
    if (node.channels_last.result) {
        outputs[0] = with_channels_last(outputs[0].tensor(), threads);
    }
    return {};
}

Status Runner::run_call(const NodePlan& node, Frame& frame) {
    std::vector<RuntimeValue> inputs;
    for (Operand operand : node.inputs) {
        inputs.push_back(frame.get(operand));
    }
    auto results = call_function(*node.function, *node.callee, std::move(inputs),
                                 AttributeView(node.attributes, frame.bindings));
    if (!results.ok()) {
        return results.error();
    }
    if (node.outputs.size() > results->size()) {
        return Error{fmt::format("{} results are requested, but the function has {}",
                                 node.outputs.size(), results->size())};
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] >= 0) {
            frame.slot(node.outputs[i]) = std::move((*results)[i]);
        }
    }
    return {};
}

Result<std::vector<RuntimeValue>> Runner::call_function(const ir::Function& function,
                                                        const FramePlan& plan,
                                                        std::vector<RuntimeValue> inputs,
                                                        AttributeView attributes) {
    if (inputs.size() > function.body->inputs.size()) {
        return Error{fmt::format("{} inputs, but the function takes {}", inputs.size(),
                                 function.body->inputs.size())};
    }
    std::vector<Binding> bindings = bind(function, attributes);
    return call(plan, std::move(inputs), bindings);
}

Result<std::vector<RuntimeValue>> Runner::call(const FramePlan& plan,
                                               std::vector<RuntimeValue> inputs,
                                               std::span<const Binding> bindings) {
    Frame frame(plan, bindings);
    for (size_t i = 0; i < inputs.size(); ++i) {
        frame.slot(plan.graph.inputs[i]) = std::move(inputs[i]);
    }
    SDX_TRY(run_graph(plan.graph, frame));
    return take_outputs(plan.graph, frame);
}

std::vector<RuntimeValue> Runner::take_outputs(const GraphPlan& graph, Frame& frame) {
    std::vector<RuntimeValue> outputs;
    outputs.reserve(graph.outputs.size());
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
        Operand operand = graph.outputs[i];
        if (graph.output_moves[i]) {
            outputs.push_back(std::exchange(frame.slot(operand), RuntimeValue()));
        } else {
            outputs.push_back(frame.get(operand));
        }
    }
    return outputs;
}

}  // namespace sardonyx::eval
