#include "eval/plan/rewrite.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace sardonyx::eval {
namespace {

// Sums of so many products of codes, and a bias, fit INT32.
constexpr int64_t kMostTerms = 1 << 14;

bool is_byte(ElementType type) {
    return type == ElementType::kInt8 || type == ElementType::kUint8;
}

int64_t int_attribute(const NodePlan& node, std::string_view name, int64_t otherwise) {
    const ir::Attribute* attribute = AttributeView(node.attributes, {}).find(name);
    const int64_t* value = attribute != nullptr ? attribute->get<int64_t>() : nullptr;
    return value != nullptr ? *value : otherwise;
}

// 8-bit codes and how they stand for floats.
struct Codes {
    Operand codes;
    Operand scale;
    Operand zero;
};

class QuantizedRewriter {
  public:
    QuantizedRewriter(const FoldedNodes& folded, std::span<const Operand> outside,
                      std::span<NodePlan> nodes, FramePlan* frame)
        : folded_(folded), nodes_(nodes), frame_(frame) {
        for (Operand operand : outside) {
            ++readers_[operand];
        }
        for (NodePlan& node : nodes) {
            for (Operand operand : node.inputs) {
                ++readers_[operand];
            }
            for (Operand operand : node.outputs) {
                makers_[operand] = &node;
            }
        }
    }

    void run() {
        for (NodePlan& node : nodes_) {
            if (is(node, "MatMul")) {
                rewrite_product(&node);
            } else if (is(node, "QuantizeLinear")) {
                rewrite_convolution(&node);
            }
        }
    }

  private:
    static bool is(const NodePlan& node, std::string_view op_type) {
        return node.is_standard(op_type) && !node.has_references;
    }

    const NodePlan* maker(Operand operand) const {
        if (operand < 0) {
            auto found = folded_.find(operand);
            return found != folded_.end() ? &found->second : nullptr;
        }
        auto found = makers_.find(operand);
        return found != makers_.end() ? found->second : nullptr;
    }

    const Tensor* constant(Operand operand) const {
        if (!FramePlan::is_constant(operand)) {
            return nullptr;
        }
        const RuntimeValue& value = std::as_const(*frame_).constant(operand);
        return value.is_tensor() ? &value.tensor() : nullptr;
    }

    // The scale and the zero point of a QuantizeLinear or DequantizeLinear: constants, FLOAT and 8
    // bits, so many of each.
    std::optional<Codes> codes_of(const NodePlan& node, int64_t count) const {
        if (node.inputs.size() != 3) {
            return std::nullopt;  // the zero point alone tells the type
        }
        const Tensor* scale = constant(node.inputs[1]);
        const Tensor* zero = constant(node.inputs[2]);
        bool fits = scale != nullptr && scale->element_type() == ElementType::kFloat &&
                    scale->count() == count && zero != nullptr && is_byte(zero->element_type()) &&
                    zero->count() == count && int_attribute(node, "block_size", 0) == 0 &&
                    int_attribute(node, "output_dtype", 0) == 0 &&
                    int_attribute(node, "precision", 0) == 0;
        return fits ? std::optional(Codes{node.inputs[0], node.inputs[1], node.inputs[2]})
                    : std::nullopt;
    }

    // Where DequantizeLinear makes the value, with one scale.
    std::optional<Codes> dequantized(Operand operand) const {
        const NodePlan* node = maker(operand);
        return node != nullptr && is(*node, "DequantizeLinear") ? codes_of(*node, 1) : std::nullopt;
    }

    // The same for weights that are constants, with a scale for each place of the axis too.
    std::optional<Codes> dequantized_weights(Operand operand, int64_t axis) const {
        const NodePlan* node = operand < 0 ? maker(operand) : nullptr;
        const Tensor* weights =
            node != nullptr && is(*node, "DequantizeLinear") ? constant(node->inputs[0]) : nullptr;
        bool is_usable = weights != nullptr && weights->rank() >= 2 && weights->count() > 0 &&
                         is_byte(weights->element_type()) &&
                         weights->count() / weights->dims()[axis] <= kMostTerms;
        if (!is_usable) {
            return std::nullopt;
        }
        if (auto codes = codes_of(*node, 1)) {
            return codes;
        }
        int64_t own = int_attribute(*node, "axis", 1);
        bool is_axis = (own < 0 ? own + weights->rank() : own) == axis;
        return is_axis ? codes_of(*node, weights->dims()[axis]) : std::nullopt;
    }

    // Gives the node other inputs; what only it has read becomes idle.
    void replace(NodePlan* node, std::string_view domain, std::string_view op_type,
                 int64_t opset_version, std::vector<Operand> inputs) {
        node->entry = find_operator(domain, op_type, opset_version);
        for (Operand operand : inputs) {
            ++readers_[operand];
        }
        std::swap(node->inputs, inputs);
        drop(inputs);
    }

    void drop(std::span<const Operand> operands) {
        for (Operand operand : operands) {
            auto made = makers_.find(operand);
            if (--readers_[operand] == 0 && made != makers_.end()) {
                made->second->is_idle = true;
                drop(made->second->inputs);
            }
        }
    }

    void rewrite_product(NodePlan* node) {
        if (node->inputs.size() != 2) {
            return;
        }
        auto a = dequantized(node->inputs[0]);
        auto b = dequantized_weights(node->inputs[1], 1);
        if (a && b && constant(b->codes)->rank() == 2) {
            node->attributes = {};
            replace(node, "com.microsoft", "MatMulIntegerToFloat", 1,
                    {a->codes, b->codes, a->scale, b->scale, a->zero, b->zero});
        }
    }

    void rewrite_convolution(NodePlan* node) {
        auto y = codes_of(*node, 1);
        const NodePlan* conv = y ? maker(node->inputs[0]) : nullptr;
        if (conv == nullptr || !is(*conv, "Conv") || conv->inputs.size() < 2 ||
            readers_[node->inputs[0]] != 1) {
            return;
        }
        auto x = dequantized(conv->inputs[0]);
        auto w = dequantized_weights(conv->inputs[1], 0);
        if (!x || !w) {
            return;
        }
        std::vector<Operand> inputs{x->codes, x->scale, x->zero,  w->codes,
                                    w->scale, w->zero,  y->scale, y->zero};
        if (conv->inputs.size() > 2) {
            std::optional<Tensor> bias = bias_codes(conv->inputs[2], *x, *w);
            if (!bias) {
                return;
            }
            inputs.push_back(frame_->add_constant(*std::move(bias)));
        }
        node->attributes = conv->attributes;
        replace(node, "", "QLinearConv", 10, std::move(inputs));
    }

    // A constant bias as INT32 in units of the products of the scales; nothing where it is no
    // multiple of them.
    std::optional<Tensor> bias_codes(Operand operand, const Codes& x, const Codes& w) const {
        constexpr double kRelativeError = 1e-6;
        const Tensor* bias = constant(operand);
        int64_t channels = constant(w.codes)->dims()[0];
        if (bias == nullptr || bias->element_type() != ElementType::kFloat ||
            bias->count() != channels) {
            return std::nullopt;
        }
        const Tensor* scale = constant(w.scale);
        double x_scale = constant(x.scale)->elements<float>()[0];
        Tensor codes = Tensor::uninitialized(ElementType::kInt32, {channels});
        for (int64_t i = 0; i < channels; ++i) {
            double unit = x_scale * scale->elements<float>()[scale->count() == 1 ? 0 : i];
            double value = bias->elements<float>()[i];
            double code = std::nearbyint(value / unit);
            bool fits = std::fabs(code) <= (1 << 30) &&
                        std::fabs(code * unit - value) <= kRelativeError * std::fabs(value);
            if (!fits) {
                return std::nullopt;
            }
            codes.mutable_elements<int32_t>()[i] = static_cast<int32_t>(code);
        }
        return codes;
    }

    const FoldedNodes& folded_;
    std::span<NodePlan> nodes_;
    FramePlan* frame_;
    std::unordered_map<Operand, int> readers_;
    std::unordered_map<Operand, NodePlan*> makers_;
};

}  // namespace

void rewrite_quantized(const FoldedNodes& folded, std::span<const Operand> outside,
                       std::span<NodePlan> nodes, FramePlan* frame) {
    if (!folded.empty()) {  // all that is rewritten has weights that DequantizeLinear makes
        QuantizedRewriter(folded, outside, nodes, frame).run();
    }
}

}  // namespace sardonyx::eval
