#include "models/costs.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/stop.h"
#include "ir/standard.h"
#include "ir/walk.h"
#include "models/values.h"

namespace sardonyx::models {
namespace {

Dim product(const Shape& shape, size_t first = 0) {
    Dim result = 1;
    for (size_t i = first; i < shape.size(); ++i) {
        result = result * shape[i];
    }
    return result;
}

Dim count_of(const ir::Value* value) {
    return value != nullptr && value->type.is_tensor() && value->type.has_shape()
               ? product(value->type.shape())
               : Dim();
}

const Shape* shape_of(const ir::Node& node, size_t input) {
    const ir::Value* value = node.input(input);
    return value != nullptr && value->type.is_tensor() && value->type.has_shape()
               ? &value->type.shape()
               : nullptr;
}

Dim result_count(const ir::Node& node) {
    return count_of(node.output(0));
}

int64_t integer_of(const ir::Node& node, std::string_view name, int64_t otherwise) {
    const ir::Attribute* attribute = node.find_attribute(name);
    const auto* value = attribute != nullptr ? attribute->get<int64_t>() : nullptr;
    return value != nullptr ? *value : otherwise;
}

// --- Rules ---------------------------------------------------------------------------------------

Dim nothing(const ir::Node&) {
    return 0;
}

Dim each_result(const ir::Node& node) {
    return result_count(node);
}

// A sum, product or mean of many: one for each, less those that begin.
Dim fold_inputs(const ir::Node& node) {
    Dim all = 0;
    for (const ir::Use& use : node.inputs()) {
        all = all + count_of(use.value);
    }
    return all - result_count(node);
}

Dim each_element(const ir::Node& node) {
    return count_of(node.input(0));
}

template <int kTimes>
Dim times_element(const ir::Node& node) {
    return Dim(kTimes) * count_of(node.input(0));
}

Dim matmul(const ir::Node& node) {
    const Shape* a = shape_of(node, 0);
    return a != nullptr && !a->empty() ? Dim(2) * a->back() * result_count(node) : Dim();
}

Dim gemm(const ir::Node& node) {
    const Shape* a = shape_of(node, 0);
    if (a == nullptr || a->size() != 2) {
        return {};
    }
    Dim inner = (*a)[integer_of(node, "transA", 0) != 0 ? 0 : 1];
    Dim added = node.input(2) != nullptr ? result_count(node) : Dim(0);
    return Dim(2) * inner * result_count(node) + added;
}

// `weight`: the input with the weights, [channels, channels / group, kernel...].
Dim convolution(const ir::Node& node, size_t weight, size_t bias) {
    const Shape* w = shape_of(node, weight);
    if (w == nullptr || w->empty()) {
        return {};
    }
    Dim added = node.input(bias) != nullptr ? result_count(node) : Dim(0);
    return Dim(2) * product(*w, 1) * result_count(node) + added;
}

Dim conv(const ir::Node& node) {
    return convolution(node, 1, 2);
}

Dim conv_integer(const ir::Node& node) {
    return convolution(node, 1, SIZE_MAX);
}

Dim qlinear_conv(const ir::Node& node) {
    return convolution(node, 3, 8);
}

Dim conv_transpose(const ir::Node& node) {
    const Shape* w = shape_of(node, 1);
    if (w == nullptr || w->empty()) {
        return {};
    }
    Dim added = node.input(2) != nullptr ? result_count(node) : Dim(0);
    return Dim(2) * product(*w, 1) * count_of(node.input(0)) + added;
}

Dim pool(const ir::Node& node) {
    const ir::Attribute* attribute = node.find_attribute("kernel_shape");
    const auto* kernel = attribute != nullptr ? attribute->get<std::vector<int64_t>>() : nullptr;
    if (kernel == nullptr) {
        return {};
    }
    Dim result = result_count(node);
    for (int64_t size : *kernel) {
        result = result * Dim(size);
    }
    return result;
}

// Of RNN, GRU and LSTM: X is [steps, batch, features], W [directions, gates * hidden, features] and
// R [directions, gates * hidden, hidden].
Dim recurrence(const ir::Node& node) {
    const Shape *x = shape_of(node, 0), *w = shape_of(node, 1), *r = shape_of(node, 2);
    if (x == nullptr || w == nullptr || r == nullptr || x->size() != 3) {
        return {};
    }
    return Dim(2) * (*x)[0] * (*x)[1] * (product(*w) + product(*r));
}

// Softmax(Q K^T) V with heads in their own dimension (4) or side by side (3).
Dim attention(const ir::Node& node) {
    const Shape *q = shape_of(node, 0), *k = shape_of(node, 1), *v = shape_of(node, 2);
    if (q == nullptr || k == nullptr || v == nullptr || q->size() != k->size() || q->size() < 3) {
        return {};
    }
    Dim keys = (*k)[k->size() - 2];
    Dim products = Dim(2) * keys * (product(*q) + result_count(node));
    Dim heads = q->size() == 4 ? (*q)[1] : Dim(integer_of(node, "q_num_heads", 1));
    return products + Dim(5) * (*q)[0] * heads * (*q)[q->size() - 2] * keys;
}

// The sizes of all letters, for each further factor and for the sum.
Dim einsum(const ir::Node& node) {
    const ir::Attribute* attribute = node.find_attribute("equation");
    const auto* equation = attribute != nullptr ? attribute->get<std::string>() : nullptr;
    if (equation == nullptr || equation->find('.') != std::string::npos) {
        return {};
    }
    std::unordered_map<char, Dim> sizes;
    Dim all = 1;
    size_t input = 0, axis = 0;
    for (char c : equation->substr(0, equation->find("->"))) {
        if (c == ',') {
            ++input;
            axis = 0;
        } else if (c != ' ') {
            const Shape* shape = shape_of(node, input);
            if (shape == nullptr || axis >= shape->size()) {
                return {};
            }
            if (sizes.emplace(c, (*shape)[axis]).second) {
                all = all * (*shape)[axis];
            }
            ++axis;
        }
    }
    return Dim(static_cast<int64_t>(input) + 1) * all;
}

struct Rule {
    Dim (*operations)(const ir::Node& node);
    std::vector<std::string_view> names;
};

const std::vector<Rule>& rules() {
    static const std::vector<Rule> kRules = {
        {matmul, {"MatMul", "MatMulInteger", "QLinearMatMul"}},
        {gemm, {"Gemm"}},
        {conv, {"Conv"}},
        {conv_integer, {"ConvInteger"}},
        {qlinear_conv, {"QLinearConv"}},
        {conv_transpose, {"ConvTranspose"}},
        {recurrence, {"RNN", "GRU", "LSTM"}},
        {attention, {"Attention"}},
        {einsum, {"Einsum"}},
        {pool, {"AveragePool", "MaxPool", "LpPool"}},
        {each_element,
         {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "ReduceMax", "ReduceMean",
          "ReduceMin", "ReduceProd", "ReduceSum", "ArgMax", "ArgMin", "CumSum", "CumProd"}},
        {times_element<2>,
         {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare", "QuantizeLinear",
          "DequantizeLinear", "LpNormalization"}},
        {times_element<3>, {"ReduceLogSumExp"}},
        {times_element<4>, {"BatchNormalization", "RMSNormalization", "RotaryEmbedding"}},
        {times_element<5>, {"Softmax", "LogSoftmax", "Hardmax"}},
        {times_element<7>,
         {"LayerNormalization", "InstanceNormalization", "GroupNormalization",
          "MeanVarianceNormalization", "LRN"}},
        {fold_inputs, {"Sum", "Mean", "Max", "Min"}},
        {each_result,
         {"Abs",
          "Acos",
          "Acosh",
          "Add",
          "And",
          "Asin",
          "Asinh",
          "Atan",
          "Atanh",
          "BitShift",
          "BitwiseAnd",
          "BitwiseNot",
          "BitwiseOr",
          "BitwiseXor",
          "Ceil",
          "Celu",
          "Clip",
          "Cos",
          "Cosh",
          "Div",
          "Elu",
          "Equal",
          "Erf",
          "Exp",
          "Floor",
          "Gelu",
          "Greater",
          "GreaterOrEqual",
          "HardSigmoid",
          "HardSwish",
          "IsInf",
          "IsNaN",
          "LeakyRelu",
          "Less",
          "LessOrEqual",
          "Log",
          "Mish",
          "Mod",
          "Mul",
          "Neg",
          "Not",
          "Or",
          "PRelu",
          "Pow",
          "Reciprocal",
          "Relu",
          "Round",
          "Selu",
          "Shrink",
          "Sigmoid",
          "Sign",
          "Sin",
          "Sinh",
          "Softplus",
          "Softsign",
          "Sqrt",
          "Sub",
          "Swish",
          "Tan",
          "Tanh",
          "ThresholdedRelu",
          "Where",
          "Xor"}},
        {nothing,
         {"Cast",
          "CastLike",
          "Concat",
          "ConcatFromSequence",
          "Constant",
          "ConstantOfShape",
          "DepthToSpace",
          "Dropout",
          "Expand",
          "EyeLike",
          "Flatten",
          "Gather",
          "GatherElements",
          "GatherND",
          "Identity",
          "NonZero",
          "OneHot",
          "Optional",
          "OptionalGetElement",
          "OptionalHasElement",
          "Pad",
          "Range",
          "Reshape",
          "ReverseSequence",
          "ScatterElements",
          "ScatterND",
          "SequenceAt",
          "SequenceConstruct",
          "SequenceEmpty",
          "SequenceErase",
          "SequenceInsert",
          "SequenceLength",
          "Shape",
          "Size",
          "Slice",
          "SpaceToDepth",
          "Split",
          "SplitToSequence",
          "Squeeze",
          "TensorScatter",
          "Tile",
          "Transpose",
          "Trilu",
          "Unsqueeze"}},
    };
    return kRules;
}

using RuleTable = std::unordered_map<std::string_view, Dim (*)(const ir::Node&)>;

const RuleTable& rule_table() {
    static const RuleTable kTable = [] {
        RuleTable table;
        for (const Rule& rule : rules()) {
            for (std::string_view name : rule.names) {
                table.emplace(name, rule.operations);
            }
        }
        return table;
    }();
    return kTable;
}

// --- Subgraphs -----------------------------------------------------------------------------------

Dim graph_operations(const ir::Model& model, const ir::Graph& graph) {
    Dim sum = 0;
    for (const ir::Node& node : graph) {
        stop_point();
        sum = sum + cost_of(model, node).operations;
    }
    return sum;
}

// How often the body of a Loop or Scan runs.
Dim iterations(const ir::Node& node, const ir::Graph& body) {
    if (ir::is_standard(node, "Loop")) {
        const ir::Value* limit = node.input(0);
        bool is_fixed = limit != nullptr && limit->constant && !limit->is_graph_input();
        const Tensor* count = is_fixed ? &*limit->constant : nullptr;
        std::optional<std::vector<int64_t>> number =
            count != nullptr && count->count() == 1 ? to_int64s(*count) : std::nullopt;
        return number ? Dim((*number)[0]) : Dim();
    }
    const ir::Attribute* directions = node.find_attribute("scan_input_axes");
    size_t scanned = static_cast<size_t>(integer_of(node, "num_scan_inputs", 0));
    bool is_known = ir::is_standard(node, "Scan") && directions == nullptr && scanned > 0 &&
                    scanned <= node.input_count() && body.inputs.size() == node.input_count();
    const Shape* shape = is_known ? shape_of(node, node.input_count() - scanned) : nullptr;
    return shape != nullptr && !shape->empty() ? (*shape)[0] : Dim();
}

Dim subgraph_operations(const ir::Model& model, const ir::Node& node) {
    std::vector<Dim> each;
    const ir::Graph* first = nullptr;
    ir::for_each_subgraph(node, [&](const ir::Graph& graph) {
        first = first == nullptr ? &graph : first;
        each.push_back(graph_operations(model, graph));
    });
    if (ir::is_standard(node, "If") && each.size() == 2) {
        return max(each[0], each[1]);
    }
    return each.size() == 1 ? each[0] * iterations(node, *first) : Dim();
}

// Bytes of a value; unknown where its type does not say.
Dim byte_count(const Type& type) {
    if (!type.is_tensor() || !type.has_shape() || type.element_type() == ElementType::kString) {
        return {};
    }
    size_t bits = info(type.element_type()).bits;
    Dim count = product(type.shape());
    return bits == 0       ? Dim()
           : bits % 8 == 0 ? count * Dim(static_cast<int64_t>(bits / 8))
                           : ceil_div(count * Dim(static_cast<int64_t>(bits)), 8);
}

Dim bytes_of(const ir::Value* value) {
    return value == nullptr || (value->producer() != nullptr && value->name.empty())
               ? Dim(0)
               : byte_count(value->type);
}

// --- Memory --------------------------------------------------------------------------------------

// Values of one graph and of those in its nodes, from the node that makes them to the last that
// reads them.
class PeakFinder {
  public:
    explicit PeakFinder(const ir::Graph& graph) {
        for (const ir::Value* input : graph.inputs) {
            add(*input);
        }
        for (const ir::Value* output : graph.outputs) {
            kept_.insert(output);
        }
        for (const ir::Value* input : graph.inputs) {
            kept_.insert(input);
        }
        for (const ir::Node& node : graph) {
            stop_point();
            ir::for_each_read(node, [&](const ir::Value& value) { last_[&value] = &node; });
        }
        for (const ir::Node& node : graph) {
            stop_point();
            run(node);
        }
    }

    Peak take() {
        return unknown_.empty() ? Peak{peak_, {}} : Peak{std::nullopt, std::move(unknown_)};
    }

  private:
    void add(const ir::Value& value) {
        Dim bytes = bytes_of(&value);
        if (is_stored(value)) {
            return;
        }
        if (!bytes.is_static()) {
            unknown_ = unknown_.empty() ? std::string(value.name) + ": " + value.type.to_string()
                                        : unknown_;
            return;
        }
        sizes_[&value] = bytes.value();
        if (__builtin_add_overflow(now_, bytes.value(), &now_)) {
            unknown_ = "more than there can be";
            now_ = 0;
        }
        peak_ = std::max(peak_, now_);
    }

    void run(const ir::Node& node) {
        for (const ir::Value* output : node.outputs()) {
            add(*output);
        }
        ir::for_each_subgraph(node, [&](const ir::Graph& graph) {
            Peak inner = peak_of(graph);
            if (!inner.bytes) {
                unknown_ = unknown_.empty() ? inner.unknown : unknown_;
            } else {
                peak_ = std::max(peak_, now_ + *inner.bytes);
            }
        });
        std::set<const ir::Value*> gone;
        auto leave = [&](const ir::Value& value) {
            auto found = last_.find(&value);
            bool is_last = found == last_.end() || found->second == &node;
            if (is_last && !kept_.contains(&value)) {
                gone.insert(&value);
            }
        };
        ir::for_each_read(node, leave);
        for (const ir::Value* output : node.outputs()) {
            leave(*output);
        }
        for (const ir::Value* value : gone) {
            auto size = sizes_.find(value);
            now_ -= size != sizes_.end() ? size->second : 0;
        }
    }

    std::unordered_map<const ir::Value*, const ir::Node*> last_;
    std::unordered_map<const ir::Value*, int64_t> sizes_;
    std::set<const ir::Value*> kept_;
    int64_t now_ = 0, peak_ = 0;
    std::string unknown_;
};

}  // namespace

Cost cost_of(const ir::Model& model, const ir::Node& node) {
    Cost cost;
    cost.bytes_read = 0;
    cost.bytes_written = 0;
    for (const ir::Use& use : node.inputs()) {
        cost.bytes_read = cost.bytes_read + bytes_of(use.value);
    }
    for (const ir::Value* output : node.outputs()) {
        cost.bytes_written = cost.bytes_written + bytes_of(output);
    }
    bool has_subgraphs = false;
    ir::for_each_subgraph(node, [&](const ir::Graph&) { has_subgraphs = true; });
    if (has_subgraphs) {
        cost.operations = subgraph_operations(model, node);
    } else if (node.domain.empty()) {
        auto found = rule_table().find(node.op_type);
        cost.operations = found != rule_table().end() ? found->second(node) : Dim();
    }
    return cost;
}

Peak peak_of(const ir::Graph& graph) {
    return PeakFinder(graph).take();
}

}  // namespace sardonyx::models
