#include "eval/plan/layout.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "eval/loops/channels_last.h"

namespace sardonyx::eval {
namespace {

const ir::Attribute* find_attribute(const NodePlan& node, std::string_view name) {
    return AttributeView(node.attributes, {}).find(name);
}

// The axis of the channels, where values have the order of ONNX.
bool is_along_channels(const NodePlan& node) {
    const ir::Attribute* axis = find_attribute(node, "axis");
    const int64_t* value = axis != nullptr ? axis->get<int64_t>() : nullptr;
    return value != nullptr && *value == 1;
}

class LayoutPlanner {
  public:
    LayoutPlanner(std::span<const Operand> outside, std::span<NodePlan> nodes, FramePlan* frame)
        : outside_(outside), nodes_(nodes), frame_(frame) {}

    void run() {
        for (NodePlan& node : nodes_) {
            if (int rank = rank_of_result(node); rank != 0) {
                ranks_.emplace(node.outputs[0], rank);
            }
        }
        if (ranks_.empty()) {
            return;
        }
        for (const NodePlan& node : nodes_) {
            for (const auto* operands : {&node.inputs, &node.outputs}) {
                for (Operand operand : *operands) {
                    if (is_last(operand)) {
                        nodes_of_[operand].push_back(&node);
                    }
                }
            }
        }
        for (Operand operand : outside_) {
            drop(operand);
        }
        for (const NodePlan& node : nodes_) {
            drop_values(node);
        }
        while (!pending_.empty()) {
            const NodePlan* node = pending_.back();
            pending_.pop_back();
            drop_values(*node);
        }
        for (NodePlan& node : nodes_) {
            set_layout(&node);
        }
    }

  private:
    bool is_last(Operand operand) const { return ranks_.count(operand) != 0; }

    const Tensor* constant(Operand operand) const {
        if (!FramePlan::is_constant(operand)) {
            return nullptr;
        }
        const RuntimeValue& value = std::as_const(*frame_).constant(operand);
        return value.is_tensor() ? &value.tensor() : nullptr;
    }

    // Whether the weights are such that the library may prepare them.
    bool are_preparable(const NodePlan& node) const {
        constexpr int64_t kFewChannels = 3;
        const Tensor* weights = node.inputs.size() >= 2 ? constant(node.inputs[1]) : nullptr;
        if (weights == nullptr || weights->element_type() != ElementType::kFloat ||
            weights->rank() < 3 || weights->rank() > 4) {
            return false;
        }
        const Dims& dims = weights->dims();
        int64_t groups = 1;
        if (const ir::Attribute* given = find_attribute(node, "group")) {
            const int64_t* value = given->get<int64_t>();
            groups = value != nullptr ? *value : 0;  // 0: it is the attribute of a function
        }
        bool is_depthwise = groups == dims[0] && dims[1] == 1;
        bool is_dense = groups == 1 && dims[1] >= kFewChannels;
        return dims[0] >= kFewChannels && (is_dense || is_depthwise);
    }

    // What the table says, where the node's attributes and constants do not exclude it.
    AxisOrder order_of(const NodePlan& node) const {
        AxisOrder order = node.entry != nullptr ? node.entry->order : AxisOrder::kOnnx;
        if (order == AxisOrder::kKeptAlongChannels) {
            return is_along_channels(node) ? AxisOrder::kKept : AxisOrder::kOnnx;
        }
        return order != AxisOrder::kEitherByWeights || are_preparable(node) ? order
                                                                            : AxisOrder::kOnnx;
    }

    // The rank of a result that may have its channels innermost; 0: it may not.
    int rank_of_result(const NodePlan& node) const {
        if (node.is_idle || node.outputs.size() != 1 || node.outputs[0] < 0 ||
            node.inputs.empty() || !InputSet::has_room(node.inputs.size())) {
            return 0;
        }
        AxisOrder order = order_of(node);
        if (order == AxisOrder::kEitherByWeights) {
            return constant(node.inputs[1])->rank();
        }
        if (order == AxisOrder::kOnnx) {
            return 0;
        }
        int rank = 0;
        for (Operand operand : operands(node)) {
            auto found = ranks_.find(operand);
            if (operand >= 0 && (found == ranks_.end() || (rank != 0 && rank != found->second))) {
                return 0;
            }
            rank = operand >= 0 ? found->second : rank;
        }
        bool fits = std::all_of(operands(node).begin(), operands(node).end(), [&](Operand operand) {
            return operand >= 0 || operand == kNoOperand || is_usable_constant(operand, rank);
        });
        return fits ? rank : 0;
    }

    bool is_usable_constant(Operand operand, int rank) const {
        const Tensor* tensor = constant(operand);
        return tensor != nullptr && tensor->rank() <= rank &&
               tensor->element_type() != ElementType::kString &&
               info(tensor->element_type()).bits >= 8;
    }

    // Data, in whose order the result is.
    std::span<const Operand> operands(const NodePlan& node) const {
        AxisOrder order = order_of(node);
        bool has_parameters = order == AxisOrder::kEitherByWeights ||
                              order == AxisOrder::kKeptOfFirst ||
                              order == AxisOrder::kEitherOfFirst;
        std::span<const Operand> all = node.inputs;
        return has_parameters ? all.first(std::min<size_t>(all.size(), 1)) : all;
    }

    // What the node shows to be read, or made, in the order of ONNX.
    void drop_values(const NodePlan& node) {
        std::span<const Operand> all = node.inputs;
        std::span<const Operand> data = operands(node);
        std::for_each(all.begin() + data.size(), all.end(), [&](Operand i) { drop(i); });
        // Without places, both orders are one.
        AxisOrder order = order_of(node);
        bool takes_both =
            order == AxisOrder::kEitherByWeights || order == AxisOrder::kEitherOfFirst;
        if (takes_both && !node.is_idle) {
            return;
        }
        bool are_last =
            node.outputs.size() == 1 && is_last(node.outputs[0]) &&
            std::all_of(data.begin(), data.end(), [&](Operand i) { return i < 0 || is_last(i); });
        if (!are_last) {
            std::for_each(data.begin(), data.end(), [&](Operand i) { drop(i); });
            std::for_each(node.outputs.begin(), node.outputs.end(), [&](Operand i) { drop(i); });
        }
    }

    void drop(Operand operand) {
        if (ranks_.erase(operand) != 0) {
            const auto& nodes = nodes_of_[operand];
            pending_.insert(pending_.end(), nodes.begin(), nodes.end());
        }
    }

    void set_layout(NodePlan* node) {
        size_t count = operands(*node).size();
        for (size_t i = 0; i < count; ++i) {
            if (is_last(node->inputs[i])) {
                node->channels_last.inputs.add(i);
            }
        }
        if (node->outputs.size() != 1 || !is_last(node->outputs[0])) {
            return;
        }
        node->channels_last.result = true;
        for (size_t i = 0; i < count; ++i) {
            const Tensor* tensor = constant(node->inputs[i]);
            if (tensor != nullptr && tensor->count() != 1) {
                node->inputs[i] = transposed_constant(node->inputs[i], ranks_[node->outputs[0]]);
                node->channels_last.inputs.add(i);
            }
        }
    }

    // The constant, which broadcasts to values of this rank, in the other order.
    Operand transposed_constant(Operand operand, int rank) {
        auto [found, is_new] = transposed_.try_emplace({operand, rank}, kNoOperand);
        if (is_new) {
            const Tensor& tensor = *constant(operand);
            Dims dims(rank - tensor.rank(), 1);
            dims.insert(dims.end(), tensor.dims().begin(), tensor.dims().end());
            found->second = frame_->add_constant(
                with_channels_last(tensor.reshaped(std::move(dims)), Workers()));
        }
        return found->second;
    }

    std::span<const Operand> outside_;
    std::span<NodePlan> nodes_;
    FramePlan* frame_;
    std::unordered_map<Operand, int> ranks_;  // of the values that have their channels innermost
    std::unordered_map<Operand, std::vector<const NodePlan*>> nodes_of_;  // that make or read one
    std::vector<const NodePlan*> pending_;
    std::map<std::pair<Operand, int>, Operand> transposed_;
};

}  // namespace

void plan_layouts(std::span<const Operand> outside, std::span<NodePlan> nodes, FramePlan* frame) {
    LayoutPlanner(outside, nodes, frame).run();
}

}  // namespace sardonyx::eval
