// Attention (https://onnx.ai/onnx/operators/onnx__Attention.html) and RotaryEmbedding.
//
// All is computed in float, or double: for some queries of a head at a time, so that their scores
// stay in the cache.
#include "eval/kernels/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/movement.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/clones.h"
#include "eval/loops/scratch.h"
#include "eval/loops/softmax.h"
#include "eval/loops/strided.h"
#include "eval/loops/vector_math.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

Result<AttentionShape> attention_shape(const Dims& q, const Dims& k, const Dims& v) {
    if (q.size() != 4 || k.size() != 4 || v.size() != 4) {
        return Error{fmt::format("query {}, key {} and value {} must all have rank 4 (or 3)",
                                 to_string(q), to_string(k), to_string(v))};
    }
    AttentionShape shape{q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
    if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] || k[3] != q[3]) {
        return Error{fmt::format("query {}, key {} and value {} do not go together", to_string(q),
                                 to_string(k), to_string(v))};
    }
    if (shape.key_heads == 0 ? shape.query_heads != 0 : shape.query_heads % shape.key_heads != 0) {
        return Error{fmt::format("{} heads of the query are not a multiple of {} heads of the key",
                                 shape.query_heads, shape.key_heads)};
    }
    return shape;
}

ElementType attention_type(ElementType operand, ElementType softmax) {
    bool is_double = operand == ElementType::kDouble || softmax == ElementType::kDouble;
    return is_double ? ElementType::kDouble : ElementType::kFloat;
}

Result<ElementType> softmax_precision(const KernelContext& c) {
    if (!c.has_attribute("softmax_precision")) {
        return ElementType::kUndefined;
    }
    int64_t number = c.int_attribute("softmax_precision");
    ElementType type = element_type_from_number(number);
    if (type != ElementType::kFloat && type != ElementType::kFloat16 &&
        type != ElementType::kDouble && type != ElementType::kBfloat16) {
        return Error{
            fmt::format("softmax_precision {} is not that of a floating-point type from "
                        "16 bits on",
                        number)};
    }
    return type;
}

namespace {

// [batch, length, heads * size] as [batch, heads, length, size].
Result<Tensor> split_heads(const KernelContext& c, const Tensor& x, int64_t heads) {
    const Dims& dims = x.dims();
    if (heads <= 0 || dims[2] % heads != 0) {
        return Error{fmt::format("{} does not divide into {} heads", to_string(dims), heads)};
    }
    Tensor split = x.reshaped({dims[0], dims[1], heads, dims[2] / heads});
    return transposed(c, split, std::array<int, 4>{0, 2, 1, 3});
}

// What a call computes with: operands in the type of computation.
struct AttentionCall {
    AttentionShape shape;
    Tensor query, key, value;
    Tensor mask;        // added to the scores; not valid: none
    Dims mask_strides;  // over batch, heads and queries
    double scale = 1;
    double softcap = 0;
    int64_t score_mode = 0;  // what output 3 shows
    bool is_causal = false;
    int64_t left = -1, right = -1;    // bounds of the window; -1: none
    std::vector<int64_t> offsets;     // per batch: the position of query 0 among the keys
    std::vector<int64_t> key_counts;  // per batch: how many keys are no padding

    // The keys [first, last) that causality, window and padding leave to a query.
    std::pair<int64_t, int64_t> visible(int64_t batch, int64_t query) const {
        int64_t position = offsets[batch] + query;
        int64_t first = left >= 0 && position > left ? position - left : 0;
        int64_t last = key_counts[batch];
        if (is_causal) {
            last = std::min(last, position + 1);
        }
        if (right >= 0 && right < last) {
            last = std::min(last, position + right + 1);
        }
        return {first, last};
    }
};

// BOOL: what is true takes part.
Result<Tensor> additive_mask(const KernelContext& c, const Tensor& mask, ElementType type) {
    if (mask.element_type() != ElementType::kBool) {
        return cast_tensor(c, mask, type);
    }
    SDX_ASSIGN(Tensor result, c.scratch(type, mask.dims()));
    SDX_TRY(visit(Floats{}, type, [&]<typename S>() -> Status {
        std::span<const bool> flags = mask.elements<bool>();
        std::span<S> out = result.mutable_elements<S>();
        for (size_t i = 0; i < flags.size(); ++i) {
            out[i] = static_cast<S>(flags[i] ? 0.0F : -std::numeric_limits<float>::infinity());
        }
        return {};
    }));
    return result;
}

// The mask may have fewer keys than there are: those it lacks are masked.
Status place_mask(const KernelContext& c, ElementType type, AttentionCall* call) {
    const AttentionShape& shape = call->shape;
    const Dims& dims = c.dims(3);
    if (dims.empty() || dims.size() > 4 || dims.back() > shape.keys) {
        return Error{fmt::format("the mask {} does not fit {} keys", to_string(dims), shape.keys)};
    }
    Dims target{shape.batch, shape.query_heads, shape.queries, dims.back()};
    SDX_ASSIGN(Dims together, broadcast_dims(dims, target));
    if (together != target) {
        return Error{fmt::format("the mask {} does not broadcast to the scores {}", to_string(dims),
                                 to_string(target))};
    }
    SDX_ASSIGN(call->mask, additive_mask(c, c.tensor(3), type));
    call->mask_strides = broadcast_strides(dims, target);
    for (int64_t& count : call->key_counts) {
        count = std::min(count, dims.back());
    }
    return {};
}

Status place_lengths(const KernelContext& c, int64_t past_length, AttentionCall* call) {
    const AttentionShape& shape = call->shape;
    call->offsets.assign(shape.batch, past_length);
    call->key_counts.assign(shape.batch, shape.keys);
    if (!c.has_input(6)) {
        return {};
    }
    if (c.has_input(4)) {
        return Error{"nonpad_kv_seqlen and past_key exclude each other"};
    }
    std::span<const int64_t> lengths = c.tensor(6).elements<int64_t>();
    if (c.rank(6) != 1 || c.dims(6)[0] != shape.batch) {
        return Error{fmt::format("nonpad_kv_seqlen has shape {}, but the batch is {}",
                                 to_string(c.dims(6)), shape.batch)};
    }
    for (int64_t b = 0; b < shape.batch; ++b) {
        if (lengths[b] < 0 || lengths[b] > shape.keys) {
            return Error{
                fmt::format("nonpad_kv_seqlen names {} of {} keys", lengths[b], shape.keys)};
        }
        call->key_counts[b] = lengths[b];
        call->offsets[b] = lengths[b] - shape.queries;
    }
    return {};
}

Result<Tensor> with_past(const KernelContext& c, size_t past, const Tensor& now) {
    if (!c.has_input(past)) {
        return now;
    }
    return concat(c, std::array{c.tensor(past), now}, 2);
}

Status read_options(const KernelContext& c, AttentionCall* call) {
    call->scale = c.has_attribute("scale") ? c.float_attribute("scale")
                                           : 1 / std::sqrt(static_cast<double>(call->shape.size));
    call->softcap = c.float_attribute("softcap");
    call->score_mode = c.int_attribute("qk_matmul_output_mode");
    call->is_causal = c.int_attribute("is_causal") != 0;
    call->left = c.int_attribute("left_window_size", -1);
    call->right = c.int_attribute("right_window_size", -1);
    if (call->left < -1 || call->right < -1 || call->score_mode < 0 || call->score_mode > 3) {
        return Error{fmt::format("windows of {} and {} or output mode {} are not possible",
                                 call->left, call->right, call->score_mode)};
    }
    return {};
}

// Reads inputs and attributes; sets the outputs present_key and present_value.
Result<AttentionCall> read_call(KernelContext& c) {
    std::array<Tensor, 3> operands{c.tensor(0), c.tensor(1), c.tensor(2)};
    bool is_packed = operands[0].rank() == 3;
    for (size_t i = 0; i < 3; ++i) {
        if (operands[i].rank() != (is_packed ? 3 : 4)) {
            return Error{"query, key and value must all have rank 3 or all have rank 4"};
        }
        if (is_packed) {
            int64_t heads = c.int_attribute(i == 0 ? "q_num_heads" : "kv_num_heads");
            SDX_ASSIGN(operands[i], split_heads(c, operands[i], heads));
        }
    }
    if (c.has_input(4) != c.has_input(5)) {
        return Error{"past_key and past_value must be given together"};
    }
    SDX_ASSIGN(operands[1], with_past(c, 4, operands[1]));
    SDX_ASSIGN(operands[2], with_past(c, 5, operands[2]));
    for (size_t i = 1; i < 3; ++i) {
        if (c.wants(i)) {
            c.set_output(i, operands[i]);
        }
    }
    AttentionCall call;
    SDX_ASSIGN(call.shape,
               attention_shape(operands[0].dims(), operands[1].dims(), operands[2].dims()));
    SDX_ASSIGN(ElementType precision, softmax_precision(c));
    ElementType type = attention_type(c.type(0), precision);
    SDX_ASSIGN(call.query, cast_tensor(c, operands[0], type));
    SDX_ASSIGN(call.key, cast_tensor(c, operands[1], type));
    SDX_ASSIGN(call.value, cast_tensor(c, operands[2], type));
    SDX_TRY(read_options(c, &call));
    SDX_TRY(place_lengths(c, c.has_input(4) ? c.dims(4)[2] : 0, &call));
    if (c.has_input(3)) {
        SDX_TRY(place_mask(c, type, &call));
    }
    return call;
}

template <typename S>
SDX_CLONES void cap_scores(S* row, int64_t n, S cap) {
    for (int64_t j = 0; j < n; ++j) {
        row[j] = cap * vector_tanh(row[j] / cap);
    }
}

// Adds the mask, if there is one, to the keys [first, last) and -inf to all others. Whether a key
// takes part.
template <typename S>
SDX_CLONES bool mask_scores(S* row, int64_t n, int64_t first, int64_t last, const S* mask) {
    constexpr S kMasked = -std::numeric_limits<S>::infinity();
    int visible = mask == nullptr && first < last ? 1 : 0;
    for (int64_t j = 0; j < first; ++j) {
        row[j] += kMasked;
    }
    for (int64_t j = first; mask != nullptr && j < last; ++j) {
        visible |= static_cast<int>(mask[j] != kMasked);
        row[j] += mask[j];
    }
    for (int64_t j = last; j < n; ++j) {
        row[j] += kMasked;
    }
    return visible != 0;
}

// Queries [begin, end) of a head.
struct HeadPart {
    int64_t batch, head;
    int64_t begin, end;
};

// Scores become probabilities: cap, mask and softmax; `shown` gets what output 3 shows of them.
template <typename S>
void finish_scores(const AttentionCall& call, const HeadPart& part, S* scores, S* shown) {
    int64_t n = call.shape.keys;
    int64_t count = (part.end - part.begin) * n;
    auto show = [&](int64_t mode) {
        if (shown != nullptr && mode == call.score_mode) {
            std::copy(scores, scores + count, shown);
        }
    };
    show(0);
    if (call.softcap > 0) {
        cap_scores(scores, count, static_cast<S>(call.softcap));
    }
    show(1);
    std::vector<int64_t> masked;
    for (int64_t i = part.begin; i < part.end; ++i) {
        auto [first, last] = call.visible(part.batch, i);
        first = std::min(first, n);
        last = std::clamp(last, first, n);
        const S* mask = nullptr;
        if (call.mask.is_valid()) {
            mask = call.mask.elements<S>().data() + part.batch * call.mask_strides[0] +
                   part.head * call.mask_strides[1] + i * call.mask_strides[2];
        }
        if (!mask_scores(scores + (i - part.begin) * n, n, first, last, mask)) {
            masked.push_back(i - part.begin);
        }
    }
    show(2);
    for (int64_t i : masked) {
        std::fill_n(scores + i * n, n, -std::numeric_limits<S>::infinity());
    }
    softmax_scores(scores, n, part.end - part.begin);
    show(3);
}

// So many queries make a product that is worth it.
constexpr int64_t kQueries = 128;

template <typename S>
Status attend(const KernelContext& c, const AttentionCall& call, Tensor* out, Tensor* shown) {
    const AttentionShape& shape = call.shape;
    if (out->count() == 0 && (shown == nullptr || shown->count() == 0)) {
        return {};  // also: dims beside a 0 may be too large to walk
    }
    int64_t most = std::min(kQueries, shape.queries);
    SDX_TRY(check_size(kElementTypeOf<S>, Dims{most, shape.keys}, c.options()));
    S* result = out->mutable_elements<S>().data();
    S* rows = shown != nullptr ? shown->mutable_elements<S>().data() : nullptr;
    const S* q = call.query.elements<S>().data();
    const S* k = call.key.elements<S>().data();
    const S* v = call.value.elements<S>().data();
    int64_t parts = (shape.queries + kQueries - 1) / kQueries;  // of a head
    auto run_part = [&](int64_t i, S* scores) {
        int64_t at = i / parts;
        int64_t begin = i % parts * kQueries;
        HeadPart part{at / shape.query_heads, at % shape.query_heads, begin,
                      std::min(begin + kQueries, shape.queries)};
        int64_t count = part.end - part.begin;
        int64_t first = at * shape.queries + begin;  // among the queries of all heads
        int64_t source = part.batch * shape.key_heads + shape.key_head(part.head);
        scaled_scores(q + first * shape.size, k + source * shape.keys * shape.size, scores, count,
                      shape, static_cast<S>(call.scale));
        finish_scores(call, part, scores, rows != nullptr ? rows + first * shape.keys : nullptr);
        S* target = result + first * shape.value_size;
        std::fill_n(target, count * shape.value_size, S(0));
        multiply_add(scores, v + source * shape.keys * shape.value_size, target, count, shape.keys,
                     shape.value_size);
    };
    parallel_for(c.threads(), shape.batch * shape.query_heads * parts,
                 items_per_task(most * shape.keys * (shape.size + shape.value_size)),
                 [&](int64_t begin, int64_t end) {
                     Scratch<S> scores(most * shape.keys);
                     for (int64_t i = begin; i < end; ++i) {
                         run_part(i, scores.data());
                     }
                 });
    return {};
}

template <typename S>
SDX_CLONES bool has_more_than_masked(const S* row, int64_t n) {
    int found = 0;
    for (int64_t j = 0; j < n; ++j) {
        found |= static_cast<int>(row[j] != -std::numeric_limits<S>::infinity());
    }
    return found != 0;
}

void softmax_of_numbers(const float* rows, int64_t n, int64_t count, float* out) {
    softmax_rows(Workers(), rows, n, count, out);
}
void softmax_of_numbers(const double* rows, int64_t n, int64_t count, double* out) {
    for (int64_t r = 0; r < count * n; r += n) {
        double greatest = *std::max_element(rows + r, rows + r + n);
        double total = 0;
        for (int64_t j = r; j < r + n; ++j) {
            out[j] = std::exp(rows[j] - greatest);
            total += out[j];
        }
        for (int64_t j = r; j < r + n; ++j) {
            out[j] /= total;
        }
    }
}

// Runs of rows that have something, and rows that have not.
template <typename S>
void softmax_with_masked(S* rows, int64_t n, int64_t count) {
    for (int64_t r = 0; r < count;) {
        int64_t end = r;
        while (end < count && has_more_than_masked(rows + end * n, n)) {
            ++end;
        }
        if (end > r) {
            softmax_of_numbers(rows + r * n, n, end - r, rows + r * n);
        }
        if (end < count) {
            std::fill_n(rows + end * n, n, S(0));
            ++end;
        }
        r = end;
    }
}

}  // namespace

void softmax_scores(float* rows, int64_t n, int64_t count) {
    softmax_with_masked(rows, n, count);
}
void softmax_scores(double* rows, int64_t n, int64_t count) {
    softmax_with_masked(rows, n, count);
}

namespace kernels {

Status attention(KernelContext& c) {
    SDX_ASSIGN(AttentionCall call, read_call(c));
    const AttentionShape& shape = call.shape;
    ElementType type = call.query.element_type();
    SDX_ASSIGN(Tensor out,
               c.scratch(type, {shape.batch, shape.query_heads, shape.queries, shape.value_size}));
    Tensor shown;
    if (c.wants(3)) {
        SDX_ASSIGN(shown,
                   c.scratch(type, {shape.batch, shape.query_heads, shape.queries, shape.keys}));
    }
    Tensor* shown_or_null = c.wants(3) ? &shown : nullptr;
    SDX_TRY(type == ElementType::kDouble ? attend<double>(c, call, &out, shown_or_null)
                                         : attend<float>(c, call, &out, shown_or_null));
    if (c.rank(0) == 3) {
        SDX_TRY(check_size(type, std::array{shape.query_heads, shape.value_size}, c.options()));
        SDX_ASSIGN(out, transposed(c, out, std::array<int, 4>{0, 2, 1, 3}));
        out = out.reshaped({shape.batch, shape.queries, shape.query_heads * shape.value_size});
    }
    SDX_ASSIGN(Tensor result, cast_tensor(c, out, c.type(0)));
    c.set_output(0, std::move(result));
    if (c.wants(3)) {
        SDX_ASSIGN(Tensor scores, cast_tensor(c, shown, c.type(0)));
        c.set_output(3, std::move(scores));
    }
    return {};
}

}  // namespace kernels
}  // namespace sardonyx::eval
