// FlexAttention (https://onnx.ai/onnx/operators/onnx_aionnxpreview_FlexAttention.html): attention
// whose scores and probabilities pass through subgraphs, so all scores exist at once.
#include <array>

#include <fmt/format.h>

#include "eval/gradient/algebra.h"
#include "eval/kernels/attention.h"
#include "eval/kernels/cast.h"
#include "eval/loops/strided.h"
#include "eval/operators/check_call.h"
#include "eval/operators/kernel.h"
#include "eval/run/runner.h"

namespace sardonyx::eval {
namespace {

// visit(at, source) for each head of each batch: where it is among those of the queries, and where
// its keys and values are among theirs.
template <typename Visit>
void each_head(const AttentionShape& shape, Visit visit) {
    for (int64_t b = 0; b < shape.batch; ++b) {
        for (int64_t h = 0; h < shape.query_heads; ++h) {
            visit(b * shape.query_heads + h, b * shape.key_heads + shape.key_head(h));
        }
    }
}

// All scores, [batch, heads, queries, keys]; S is the type of computation.
template <typename S>
Result<Tensor> all_scores(const KernelContext& c, const Tensor& query, const Tensor& key,
                          const AttentionShape& shape, double scale) {
    SDX_ASSIGN(Tensor scores, c.scratch(kElementTypeOf<S>, {shape.batch, shape.query_heads,
                                                            shape.queries, shape.keys}));
    S* out = scores.mutable_elements<S>().data();
    if (scores.count() == 0) {
        return scores;
    }
    each_head(shape, [&](int64_t at, int64_t source) {
        scaled_scores(query.elements<S>().data() + at * shape.queries * shape.size,
                      key.elements<S>().data() + source * shape.keys * shape.size,
                      out + at * shape.queries * shape.keys, shape.queries, shape,
                      static_cast<S>(scale));
    });
    return scores;
}

template <typename S>
Result<Tensor> softmax_of_keys(const KernelContext& c, const Tensor& scores) {
    SDX_ASSIGN(Tensor result, c.scratch(scores.element_type(), scores.dims()));
    copy_elements(scores, 0, result, 0, scores.count());
    int64_t n = scores.dims()[3];
    if (result.count() > 0) {
        softmax_scores(result.mutable_elements<S>().data(), n, result.count() / n);
    }
    return result;
}

template <typename S>
Result<Tensor> all_values(const KernelContext& c, const Tensor& chances, const Tensor& value,
                          const AttentionShape& shape) {
    SDX_ASSIGN(Tensor result, c.scratch(kElementTypeOf<S>, {shape.batch, shape.query_heads,
                                                            shape.queries, shape.value_size}));
    fill_zero(result);
    S* out = result.mutable_elements<S>().data();
    if (result.count() == 0) {
        return result;
    }
    each_head(shape, [&](int64_t at, int64_t source) {
        multiply_add(chances.elements<S>().data() + at * shape.queries * shape.keys,
                     value.elements<S>().data() + source * shape.keys * shape.value_size,
                     out + at * shape.queries * shape.value_size, shape.queries, shape.keys,
                     shape.value_size);
    });
    return result;
}

// What the subgraph makes of `x`: a tensor of the same type and shape.
Result<RuntimeValue> run_modifier(Runner& runner, const GraphPlan& body, Frame& frame,
                                  const RuntimeValue& x) {
    if (body.inputs.size() != 1 || body.outputs.size() != 1) {
        return Error{"a modifier must have one input and one output"};
    }
    std::array<RuntimeValue, 1> inputs{x};
    SDX_TRY(runner.count_step());
    SDX_ASSIGN(std::vector<RuntimeValue> results, run_body(runner, body, frame, inputs));
    if (!results[0].is_tensor() || results[0].tensor().dims() != x.tensor().dims() ||
        results[0].tensor().element_type() != x.tensor().element_type()) {
        return Error{fmt::format("a modifier makes {} of {}, but must keep type and shape",
                                 results[0].describe(), x.describe())};
    }
    return std::move(results[0]);
}

// What the subgraph makes of `x`, which it sees in the softmax's type; `x` where there is none.
Result<Tensor> modified(Runner& runner, const GraphPlan* body, Frame& frame, const KernelContext& c,
                        const Tensor& x, ElementType seen) {
    if (body == nullptr) {
        return x;
    }
    SDX_ASSIGN(Tensor shown, cast_tensor(c, x, seen));
    SDX_ASSIGN(RuntimeValue result, run_modifier(runner, *body, frame, shown));
    return cast_tensor(c, result.tensor(), x.element_type());
}

template <typename S>
Result<Tensor> run(Runner& runner, const NodePlan& node, Frame& frame, const KernelContext& c,
                   ElementType seen) {
    SDX_ASSIGN(AttentionShape shape, attention_shape(c.dims(0), c.dims(1), c.dims(2)));
    std::array<Tensor, 3> operands;
    for (size_t i = 0; i < 3; ++i) {
        SDX_ASSIGN(operands[i], cast_tensor(c, c.tensor(i), kElementTypeOf<S>));
    }
    double scale = c.has_attribute("scale") ? c.float_attribute("scale")
                                            : 1 / std::sqrt(static_cast<double>(shape.size));
    SDX_ASSIGN(Tensor scores, all_scores<S>(c, operands[0], operands[1], shape, scale));
    SDX_ASSIGN(scores, modified(runner, node.subgraph("score_mod"), frame, c, scores, seen));
    SDX_ASSIGN(Tensor chances, softmax_of_keys<S>(c, scores));
    SDX_ASSIGN(chances, modified(runner, node.subgraph("prob_mod"), frame, c, chances, seen));
    return all_values<S>(c, chances, operands[2], shape);
}

// The same made of operators that the tape knows.
Result<RuntimeValue> run_recorded(Runner& runner, const NodePlan& node, Frame& frame,
                                  const KernelContext& c, ElementType type, ElementType seen) {
    SDX_ASSIGN(AttentionShape shape, attention_shape(c.dims(0), c.dims(1), c.dims(2)));
    Algebra algebra(*runner.tape());
    auto grouped = [&](size_t i, int64_t group) {
        const Dims& dims = c.dims(i);
        return reshape(cast(algebra.value(c.value(i)), type),
                       {shape.batch, shape.key_heads, group, dims[2], dims[3]});
    };
    auto modified = [&](std::string_view name, const Expr& x) -> Result<Expr> {
        const GraphPlan* body = node.subgraph(name);
        if (body == nullptr) {
            return x;
        }
        RuntimeValue shown = cast(x, seen).value();
        SDX_TRY(algebra.status());
        SDX_ASSIGN(RuntimeValue result, run_modifier(runner, *body, frame, shown));
        return cast(algebra.value(std::move(result)), x.type());
    };
    int64_t group = shape.query_heads / shape.key_heads;
    double scale = c.has_attribute("scale") ? c.float_attribute("scale")
                                            : 1 / std::sqrt(static_cast<double>(shape.size));
    Expr products = matmul(grouped(0, group), swap_last_axes(grouped(1, 1))) * scale;
    SDX_ASSIGN(Expr scores, modified("score_mod", reshape(products, {shape.batch, shape.query_heads,
                                                                     shape.queries, shape.keys})));
    SDX_ASSIGN(Expr chances, modified("prob_mod", softmax_of_scores(scores)));
    Expr weights =
        reshape(chances, {shape.batch, shape.key_heads, group, shape.queries, shape.keys});
    Expr result = reshape(matmul(weights, grouped(2, 1)),
                          {shape.batch, shape.query_heads, shape.queries, shape.value_size});
    RuntimeValue value = cast(result, c.type(0)).value();
    SDX_TRY(algebra.status());
    return value;
}

}  // namespace

namespace kernels {

Status flex_attention(Runner& runner, const NodePlan& node, Frame& frame) {
    std::vector<RuntimeValue> values;
    std::vector<const RuntimeValue*> inputs;
    for (Operand operand : node.inputs) {
        values.push_back(frame.get(operand));
    }
    for (const RuntimeValue& value : values) {
        inputs.push_back(&value);
    }
    SDX_TRY(check_call(*node.entry->schema, inputs, node.outputs.size()));
    KernelContext c = context_of(runner, node, frame, inputs);
    SDX_ASSIGN(ElementType precision, softmax_precision(c));
    ElementType type = attention_type(c.type(0), precision);
    ElementType seen = precision == ElementType::kUndefined ? type : precision;
    RuntimeValue out;
    if (runner.tape() != nullptr) {
        SDX_ASSIGN(out, run_recorded(runner, node, frame, c, type, seen));
    } else {
        Result<Tensor> result = type == ElementType::kDouble
                                    ? run<double>(runner, node, frame, c, seen)
                                    : run<float>(runner, node, frame, c, seen);
        SDX_TRY(result);
        SDX_ASSIGN(out, cast_tensor(c, *result, c.type(0)));
    }
    if (!node.outputs.empty() && node.outputs[0] != kNoOperand) {
        frame.slot(node.outputs[0]) = std::move(out);
    }
    return {};
}

}  // namespace kernels
}  // namespace sardonyx::eval
