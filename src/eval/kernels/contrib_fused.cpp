// Operators of com.microsoft that join standard ones: Gelu and its kin, FusedMatMul, the sums that
// are normalized, MatMulNBits, Attention. Their meaning is that of
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md.
#include <fmt/format.h>

#include <numeric>

#include "eval/kernels/cast.h"
#include "eval/kernels/contrib_call.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/matmul.h"
#include "eval/loops/strided.h"

namespace sardonyx::eval::kernels {

namespace {

Status set_tensor(KernelContext& c, size_t i, Result<Tensor> tensor) {
    SDX_TRY(tensor);
    c.set_output(i, std::move(*tensor));
    return {};
}

Result<Tensor> constant(const KernelContext& c, double value) {
    return tensor_from_doubles(c.type(0), {}, std::span(&value, 1));
}

// a + b, or a where b is left out.
Result<Tensor> sum_with(KernelContext& c, const Tensor& a, const Tensor* b) {
    return b == nullptr ? Result<Tensor>(a) : call_standard(c, "Add", add, {&a, b});
}

}  // namespace

// --- Activations

Status bias_gelu(KernelContext& c) {
    SDX_ASSIGN(Tensor x, sum_with(c, c.tensor(0), &c.tensor(1)));
    return set_tensor(c, 0, call_standard(c, "Gelu", gelu, {&x}));
}

Status fast_gelu(KernelContext& c) {
    SDX_ASSIGN(Tensor x, sum_with(c, c.tensor(0), tensor_or_null(c, 1)));
    return set_tensor(c, 0,
                      call_standard(c, "Gelu", gelu, {&x},
                                    {ir::make_attribute("approximate", std::string("tanh"))}));
}

// x * sigmoid(alpha * x)
Status quick_gelu(KernelContext& c) {
    SDX_ASSIGN(Tensor alpha, constant(c, c.float_attribute("alpha")));
    const Tensor& x = c.tensor(0);
    SDX_ASSIGN(Tensor gate, call_standard(c, "Mul", multiply, {&x, &alpha}));
    SDX_ASSIGN(gate, call_standard(c, "Sigmoid", sigmoid, {&gate}));
    return set_tensor(c, 0, call_standard(c, "Mul", multiply, {&x, &gate}));
}

// --- FusedMatMul

namespace {

// transBatch moves the first axis behind the others but the last one; trans swaps the last two.
Result<Tensor> turned(KernelContext& c, const Tensor& x, bool swaps, bool moves_first) {
    int rank = x.rank();
    if (rank < 2) {
        return x;
    }
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (moves_first) {
        std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    }
    if (swaps) {
        std::swap(order[rank - 1], order[rank - 2]);
    }
    return swaps || moves_first ? transposed(c, x, order) : Result<Tensor>(x);
}

}  // namespace

Status fused_matmul(KernelContext& c) {
    auto is_set = [&c](std::string_view name) { return c.int_attribute(name) != 0; };
    SDX_ASSIGN(Tensor a, turned(c, c.tensor(0), is_set("transA"), is_set("transBatchA")));
    SDX_ASSIGN(Tensor b, turned(c, c.tensor(1), is_set("transB"), is_set("transBatchB")));
    SDX_ASSIGN(Tensor product, eval::matmul(c, a, b));
    if (c.float_attribute("alpha") != 1) {
        SDX_ASSIGN(Tensor alpha, constant(c, c.float_attribute("alpha")));
        SDX_ASSIGN(product, call_standard(c, "Mul", multiply, {&product, &alpha}));
    }
    c.set_output(0, std::move(product));
    return {};
}

// --- Sums that are normalized

namespace {

enum class SumNorm : uint8_t { kLayer, kRms };

// Outputs: what is normalized, its mean (none of RMS), the inverse deviation, and the sum.
Status normalize_sum(KernelContext& c, const Tensor* bias, const Tensor* beta, SumNorm norm) {
    SDX_ASSIGN(Tensor sum, sum_with(c, c.tensor(0), &c.tensor(1)));
    if (sum.dims() != c.dims(0)) {
        return Error{fmt::format("`skip` of shape {} does not broadcast to {}",
                                 to_string(c.dims(1)), to_string(c.dims(0)))};
    }
    SDX_ASSIGN(sum, sum_with(c, sum, bias));
    std::vector<RuntimeValue> inputs{RuntimeValue(sum), RuntimeValue(c.tensor(2))};
    if (beta != nullptr) {
        inputs.emplace_back(*beta);
    }
    std::vector<ir::Attribute> attributes{
        ir::make_attribute("epsilon", c.float_attribute("epsilon"))};
    if (norm == SumNorm::kLayer) {
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   call_standard(c, "LayerNormalization", layer_normalization, std::move(inputs),
                                 std::move(attributes), 3));
        for (size_t i = 0; i < 3; ++i) {
            if (c.wants(i)) {
                c.set_output(i, std::move(results[i]));
            }
        }
    } else {
        if (c.wants(1) || c.wants(2)) {
            // ONNX Runtime has no values for them either.
            for (size_t i = 1; i < 3 && c.wants(i); ++i) {
                c.set_output(i, RuntimeValue());
            }
        }
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   call_standard(c, "RMSNormalization", rms_normalization, std::move(inputs),
                                 std::move(attributes), 1));
        c.set_output(0, std::move(results[0]));
    }
    if (c.wants(3)) {
        c.set_output(3, std::move(sum));
    }
    return {};
}

}  // namespace

Status skip_layer_normalization(KernelContext& c) {
    return normalize_sum(c, tensor_or_null(c, 4), tensor_or_null(c, 3), SumNorm::kLayer);
}

Status skip_simplified_layer_normalization(KernelContext& c) {
    return normalize_sum(c, tensor_or_null(c, 3), nullptr, SumNorm::kRms);
}

// --- MatMulNBits

namespace {

struct BlockedWeights {
    int64_t rows = 0, columns = 0;  // of the weights as they are stored: N and K
    int64_t bits = 0, block = 0, blocks = 0;
};

Result<BlockedWeights> blocked_weights(const KernelContext& c) {
    BlockedWeights w{c.int_attribute("N"), c.int_attribute("K"), c.int_attribute("bits"),
                     c.int_attribute("block_size"), 0};
    constexpr int64_t kMost = int64_t{1} << 40;
    bool is_whole = w.rows > 0 && w.columns > 0 && w.block > 0 && w.rows < kMost &&
                    w.columns < kMost && w.block < kMost && w.block % 8 == 0;
    if (!is_whole || (w.bits != 2 && w.bits != 4 && w.bits != 8)) {
        return Error{
            "`N`, `K` and `block_size` must be positive, `block_size` a multiple of 8, "
            "and `bits` 2, 4 or 8"};
    }
    if (c.has_input(4) || c.int_attribute("weight_prepacked") != 0) {
        return Error{"`g_idx` and prepacked weights are not implemented"};
    }
    w.blocks = (w.columns + w.block - 1) / w.block;
    int64_t zeros = !c.has_input(3)                    ? 0
                    : c.type(3) == ElementType::kUint8 ? w.rows * ((w.blocks * w.bits + 7) / 8)
                                                       : w.rows * w.blocks;
    bool fits = c.tensor(1).count() == w.rows * w.blocks * (w.block * w.bits / 8) &&
                c.tensor(2).count() == w.rows * w.blocks &&
                (!c.has_input(3) || c.tensor(3).count() == zeros);
    if (!fits) {
        return Error{fmt::format(
            "weights {}, scales {} or zero points do not fit N={}, K={}, "
            "bits={}, block_size={}",
            to_string(c.dims(1)), to_string(c.dims(2)), w.rows, w.columns, w.bits, w.block)};
    }
    return w;
}

int64_t code_at(std::span<const uint8_t> bytes, int64_t start, int64_t i, int64_t bits) {
    int64_t shift = i * bits;
    return (bytes[static_cast<size_t>(start + shift / 8)] >> (shift % 8)) & ((1 << bits) - 1);
}

// [K, N], as the product wants it.
Result<Tensor> unpacked_weights(const KernelContext& c, const BlockedWeights& w) {
    SDX_TRY(check_size(ElementType::kDouble, std::array{w.columns, w.rows}, c.options()));
    SDX_ASSIGN(Tensor scales, cast_tensor(c, c.tensor(2), ElementType::kDouble));
    bool has_codes = c.has_input(3) && c.type(3) == ElementType::kUint8;
    Tensor zeros;
    if (c.has_input(3) && !has_codes) {
        SDX_ASSIGN(zeros, cast_tensor(c, c.tensor(3), ElementType::kDouble));
    }
    std::span<const uint8_t> codes = c.tensor(1).elements<uint8_t>();
    std::vector<double> values(static_cast<size_t>(w.columns * w.rows));
    int64_t block_bytes = w.block * w.bits / 8, zero_bytes = (w.blocks * w.bits + 7) / 8;
    parallel_for(c.threads(), w.rows, items_per_task(w.columns), [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
            for (int64_t k = 0; k < w.columns; ++k) {
                int64_t block = n * w.blocks + k / w.block;
                double zero = 1 << (w.bits - 1);
                if (has_codes) {
                    zero = static_cast<double>(code_at(c.tensor(3).elements<uint8_t>(),
                                                       n * zero_bytes, k / w.block, w.bits));
                } else if (c.has_input(3)) {
                    zero = zeros.elements<double>()[block];
                }
                auto code =
                    static_cast<double>(code_at(codes, block * block_bytes, k % w.block, w.bits));
                values[k * w.rows + n] = (code - zero) * scales.elements<double>()[block];
            }
        }
    });
    return tensor_from_doubles(c.type(0), {w.columns, w.rows}, values);
}

}  // namespace

Status matmul_nbits(KernelContext& c) {
    SDX_ASSIGN(BlockedWeights shape, blocked_weights(c));
    if (c.rank(0) < 1 || c.dims(0).back() != shape.columns) {
        return Error{fmt::format("`A` of shape {} does not end in K={}", to_string(c.dims(0)),
                                 shape.columns)};
    }
    bool is_kept = c.is_constant(1) && c.is_constant(2) && c.has_constant_attributes() &&
                   (!c.has_input(3) || c.is_constant(3));
    std::shared_ptr<const Tensor> weights = is_kept ? c.kept<Tensor>() : nullptr;
    if (weights == nullptr || weights->element_type() != c.type(0)) {
        SDX_ASSIGN(Tensor made, unpacked_weights(c, shape));
        weights = std::make_shared<const Tensor>(std::move(made));
        if (is_kept) {
            c.keep(weights);
        }
    }
    SDX_ASSIGN(Tensor product, eval::matmul(c, c.tensor(0), *weights));
    return set_tensor(c, 0, sum_with(c, product, tensor_or_null(c, 5)));
}

// --- Attention

namespace {

// The columns [begin, begin + size) of the last axis.
Result<Tensor> column_block(const KernelContext& c, const Tensor& x, int64_t begin, int64_t size) {
    Dims dims = x.dims();
    int64_t all = dims.back(), rows = all == 0 ? 0 : x.count() / all;
    dims.back() = size;
    SDX_ASSIGN(Tensor out, c.scratch(x.element_type(), dims));
    size_t bytes = info(x.element_type()).bits / 8;
    for (int64_t i = 0; i < rows; ++i) {
        std::copy_n(x.bytes().data() + (i * all + begin) * bytes, size * bytes,
                    out.mutable_bytes().data() + i * size * bytes);
    }
    return out;
}

// What `mask_index` adds to the scores: [batch, 1, queries, keys]. It is one length for each batch,
// or also where each begins, or tells for each key whether it counts, for all queries or each.
Result<Tensor> mask_of(const KernelContext& c, int64_t batch, int64_t length) {
    const Tensor& mask = c.tensor(3);
    std::span<const int32_t> given = mask.elements<int32_t>();
    bool is_length = mask.rank() == 1 && (mask.count() == batch || mask.count() == 2 * batch);
    bool is_of_keys = mask.dims() == Dims{batch, length};
    bool is_full = mask.dims() == Dims{batch, length, length};
    if (!is_length && !is_of_keys && !is_full) {
        return Error{
            fmt::format("`mask_index` of shape {} is not implemented for {} sequences of "
                        "{}",
                        to_string(mask.dims()), batch, length)};
    }
    double filter = c.float_attribute("mask_filter_value", -10000.0F);
    std::vector<double> values(static_cast<size_t>(batch * length * length));
    for (int64_t at = 0; at < batch * length * length; ++at) {
        int64_t key = at % length, query = at / length % length, b = at / length / length;
        bool counts = true;
        if (is_length) {
            counts = key < given[b] &&
                     (given.size() == static_cast<size_t>(batch) || key >= given[batch + b]);
        } else {
            counts =
                given[is_of_keys ? b * length + key : (b * length + query) * length + key] != 0;
        }
        values[at] = counts ? 0 : filter;
    }
    return tensor_from_doubles(c.type(0), {batch, 1, length, length}, values);
}

// The sizes of queries, keys and values.
Result<std::array<int64_t, 3>> head_sizes(const KernelContext& c, int64_t heads) {
    std::span<const int64_t> given = c.ints_attribute("qkv_hidden_sizes");
    int64_t all = c.dims(1)[1];
    std::array<int64_t, 3> sizes{all / 3, all / 3, all / 3};
    if (given.size() == 3) {
        std::copy(given.begin(), given.end(), sizes.begin());
    }
    bool fits = (given.empty() || given.size() == 3) && heads > 0 && sizes[0] == sizes[1];
    for (int64_t size : sizes) {
        fits = fits && size > 0 && size <= all && size % std::max<int64_t>(heads, 1) == 0;
    }
    if (!fits || sizes[0] + sizes[1] + sizes[2] != all) {
        return Error{
            fmt::format("{} columns of `weights` are not queries, keys and values of {} "
                        "heads",
                        all, heads)};
    }
    return sizes;
}

}  // namespace

Status contrib_attention(KernelContext& c) {
    for (size_t i : {4, 6}) {
        if (c.has_input(i)) {
            return Error{"`past` and `past_sequence_length` are not implemented"};
        }
    }
    if (c.wants(1) || c.int_attribute("do_rotary") != 0) {
        return Error{"`present` and `do_rotary` are not implemented"};
    }
    if (c.rank(0) != 3 || c.rank(1) != 2 || c.dims(1)[0] != c.dims(0)[2]) {
        return Error{"`input` must be [batch, length, size], and `weights` [size, columns]"};
    }
    int64_t batch = c.dims(0)[0], length = c.dims(0)[1], heads = c.int_attribute("num_heads");
    SDX_ASSIGN(auto sizes, head_sizes(c, heads));
    SDX_TRY(check_size(ElementType::kDouble, std::array{batch, length, length}, c.options()));
    SDX_ASSIGN(Tensor all, eval::matmul(c, c.tensor(0), c.tensor(1)));
    SDX_ASSIGN(all, sum_with(c, all, tensor_or_null(c, 2)));
    SDX_ASSIGN(Tensor q, column_block(c, all, 0, sizes[0]));
    SDX_ASSIGN(Tensor k, column_block(c, all, sizes[0], sizes[1]));
    SDX_ASSIGN(Tensor v, column_block(c, all, sizes[0] + sizes[1], sizes[2]));
    std::vector<RuntimeValue> inputs{RuntimeValue(q), RuntimeValue(k), RuntimeValue(v)};
    if (c.has_input(3) || c.has_input(5)) {
        Tensor mask;
        if (c.has_input(3)) {
            SDX_ASSIGN(mask, mask_of(c, batch, length));
        }
        const Tensor* bias = tensor_or_null(c, 5);
        SDX_ASSIGN(mask, c.has_input(3) ? sum_with(c, mask, bias) : Result<Tensor>(*bias));
        inputs.emplace_back(std::move(mask));
    }
    std::vector<ir::Attribute> attributes{
        ir::make_attribute("q_num_heads", heads), ir::make_attribute("kv_num_heads", heads),
        ir::make_attribute("is_causal", c.int_attribute("unidirectional"))};
    if (c.float_attribute("scale") != 0) {
        attributes.push_back(ir::make_attribute("scale", c.float_attribute("scale")));
    }
    SDX_ASSIGN(
        std::vector<RuntimeValue> results,
        call_standard(c, "Attention", attention, std::move(inputs), std::move(attributes), 1));
    c.set_output(0, std::move(results[0]));
    return {};
}

}  // namespace sardonyx::eval::kernels
