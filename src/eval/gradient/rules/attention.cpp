// Definitions of Attention, LinearAttention, CausalConvWithState and RotaryEmbedding.
#include <cmath>
#include <limits>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

// [batch, length, heads * size] as [batch, heads, length, size].
Expr with_heads(const Expr& x, int64_t heads) {
    if (x.rank() == 4) {
        return x;
    }
    Dims dims = {x.dim(0), x.dim(1), heads, x.dim(2) / heads};
    return transpose(reshape(x, dims), {0, 2, 1, 3});
}

// BOOL [batch, 1, queries, keys]: the keys that causality, window and padding hide from a query.
Expr hidden_keys(Backward& b, int64_t batch, int64_t queries, int64_t keys) {
    const KernelContext& c = b.context();
    bool is_causal = c.int_attribute("is_causal") != 0;
    int64_t left = c.int_attribute("left_window_size", -1);
    int64_t right = c.int_attribute("right_window_size", -1);
    std::vector<int64_t> lengths(batch, keys);
    bool is_padded = b.has_x(6);
    if (is_padded) {
        lengths = b.list("nonpad_kv_seqlen", 6);
    }
    Tensor hidden = Tensor::zeros(ElementType::kBool, {batch, 1, queries, keys});
    bool* flag = hidden.mutable_elements<bool>().data();
    for (int64_t n = 0; n < batch && static_cast<int64_t>(lengths.size()) == batch; ++n) {
        int64_t offset = is_padded ? lengths[n] - queries : b.has_x(4) ? b.x(4).dim(2) : 0;
        for (int64_t i = 0; i < queries; ++i) {
            int64_t at = offset + i;
            for (int64_t k = 0; k < keys; ++k) {
                *flag++ = k >= lengths[n] || (is_causal && k > at) ||
                          (left >= 0 && k < at - left) || (right >= 0 && k > at + right);
            }
        }
    }
    return b.algebra().value(hidden);
}

}  // namespace

std::vector<Expr> attention(Backward& b) {
    const KernelContext& c = b.context();
    Algebra& a = b.algebra();
    Expr q = with_heads(b.x(0), c.int_attribute("q_num_heads"));
    Expr key = with_heads(b.x(1), c.int_attribute("kv_num_heads"));
    Expr value = with_heads(b.x(2), c.int_attribute("kv_num_heads"));
    key = b.has_x(4) ? concat({b.x(4), key}, 2) : key;
    value = b.has_x(5) ? concat({b.x(5), value}, 2) : value;
    bool is_double =
        q.type() == ElementType::kDouble ||
        c.int_attribute("softmax_precision") == static_cast<int64_t>(ElementType::kDouble);
    ElementType type = is_double ? ElementType::kDouble : ElementType::kFloat;
    // A head of keys serves a group of heads of queries.
    int64_t batch = q.dim(0);
    int64_t queries = q.dim(2);
    int64_t keys = key.dim(2);
    int64_t groups = q.dim(1) / std::max<int64_t>(1, key.dim(1));
    auto grouped = [&](const Expr& x, int64_t size) {
        return reshape(cast(x, type), {batch, key.dim(1), size, x.dim(2), x.dim(3)});
    };
    Dims score_dims = {batch, q.dim(1), queries, keys};
    double scale = c.has_attribute("scale") ? double{c.float_attribute("scale")}
                                            : 1 / std::sqrt(static_cast<double>(q.dim(3)));
    Expr product = matmul(grouped(q, groups), swap_last_axes(grouped(key, 1)));
    std::vector<Expr> shown = {reshape(product, score_dims) * scale};
    double cap = c.float_attribute("softcap");
    shown.push_back(cap > 0 ? apply("Tanh", shown[0] / cap) * cap : shown[0]);
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    Expr scores = shown[1];
    if (b.has_x(3)) {
        Expr mask = b.x(3);
        mask = mask.type() == ElementType::kBool
                   ? where(mask, 0, a.full(type, mask.dims(), kHidden))
                   : cast(mask, type);
        int64_t missing = keys - mask.dim(mask.rank() - 1);
        if (missing > 0) {  // keys that the mask lacks are hidden
            Dims rest = mask.dims();
            rest.back() = missing;
            mask = concat({mask, a.full(type, rest, kHidden)}, mask.rank() - 1);
        }
        scores = scores + mask;
    }
    scores = where(hidden_keys(b, batch, queries, keys), kHidden, scores);
    shown.push_back(scores);
    shown.push_back(softmax_of_scores(scores));
    Expr y =
        matmul(reshape(shown[3], {batch, key.dim(1), groups, queries, keys}), grouped(value, 1));
    y = reshape(y, {batch, q.dim(1), queries, value.dim(3)});
    if (b.x().rank() == 3) {
        y = reshape(transpose(y, {0, 2, 1, 3}), b.y().dims());
    }
    Expr extra = shown[static_cast<size_t>(c.int_attribute("qk_matmul_output_mode"))];
    return {cast(y, b.x().type()), key, value, cast(extra, b.x().type())};
}

// The recurrence, position by position: a state [batch, heads, size, value size] forgets, and takes
// up the product of key and value.
std::vector<Expr> linear_attention(Backward& b) {
    const KernelContext& c = b.context();
    Algebra& a = b.algebra();
    std::string_view rule = c.string_attribute("update_rule");
    bool has_decay = rule == "gated" || rule == "gated_delta";
    bool corrects = rule == "delta" || rule == "gated_delta";
    int64_t heads = c.int_attribute("kv_num_heads");
    int64_t batch = b.x().dim(0);
    int64_t length = b.x().dim(1);
    int64_t size = b.x().dim(2) / c.int_attribute("q_num_heads");
    int64_t value_size = b.x(2).dim(2) / heads;
    double scale = c.float_attribute("scale");
    scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : scale;
    Expr state =
        b.has_x(3) ? wide(b.x(3)) : a.full(wide(b.x()).type(), {batch, heads, size, value_size}, 0);
    std::vector<Expr> ys;
    for (int64_t t = 0; t < length; ++t) {
        // Of one position, as [batch, heads of keys, rows, columns].
        auto at = [&](size_t i, int64_t rows, int64_t columns) {
            return reshape(cast(slice(b.x(i), 1, t, t + 1), state.type()),
                           {batch, b.x(i).dim(2) / (rows * columns), rows, columns});
        };
        if (has_decay) {
            bool is_scalar = b.x(4).dim(2) == heads;
            state = state * apply("Exp", at(4, is_scalar ? 1 : size, 1));
        }
        Expr written = at(2, 1, value_size);
        if (corrects) {
            written = (written - matmul(at(1, 1, size), state)) * at(5, 1, 1);
        }
        state = state + matmul(at(1, size, 1), written);
        Expr y = matmul(at(0, b.x().dim(2) / (heads * size), size), state) * scale;
        ys.push_back(reshape(y, {batch, 1, b.y().dim(2)}));
    }
    return {ys.empty() ? b.y() : cast(concat(ys, 1), b.y().type()),
            cast(state, b.has_x(3) ? b.x(3).type() : b.x().type())};
}

std::vector<Expr> causal_conv_with_state(Backward& b) {
    Expr x = b.x(0);
    Expr weight = b.x(1);
    int64_t before = weight.dim(2) - 1;
    Expr padded = b.has_x(3) ? concat({b.x(3), x}, 2) : pad(x, {0, 0, before}, {0, 0, 0});
    Expr present = slice(padded, 2, x.dim(2), x.dim(2) + before);
    if (x.count() == 0) {
        return {b.y(), present};
    }
    std::vector<Expr> inputs = {wide(padded), wide(weight)};
    if (b.has_x(2)) {
        inputs.push_back(wide(b.x(2)));
    }
    Expr y = b.algebra().call("Conv", inputs, {ir::make_attribute("group", x.dim(1))});
    bool is_silu = b.context().string_attribute("activation") != "none";
    y = is_silu ? y * apply("Sigmoid", y) : y;
    return {cast(y, x.type()), present};
}

// Pairs of elements of a head are turned by an angle.
std::vector<Expr> rotary_embedding(Backward& b) {
    const KernelContext& c = b.context();
    int64_t heads = c.int_attribute("num_heads");
    bool is_flat = b.x().rank() == 3;
    Expr x = with_heads(b.x(), std::max<int64_t>(1, heads));  // [batch, heads, length, size]
    int64_t turned = c.int_attribute("rotary_embedding_dim");
    turned = turned == 0 ? x.dim(3) : turned;
    auto cache = [&](size_t i) {
        Expr rows = b.has_x(3) ? take(b.x(i), b.x(3), 0) : b.x(i);
        return reshape(rows, {x.dim(0), 1, x.dim(2), turned / 2});
    };
    Expr cosine = cache(1);
    Expr sine = cache(2);
    bool is_interleaved = c.int_attribute("interleaved") != 0;
    // The pairs: [..., half, 2] or [..., 2, half].
    Dims paired = {x.dim(0), x.dim(1), x.dim(2), turned / 2, turned / 2};
    paired[is_interleaved ? 4 : 3] = 2;
    int axis = is_interleaved ? 4 : 3;
    Expr pairs = reshape(slice(x, 3, 0, turned), paired);
    Dims half = {x.dim(0), x.dim(1), x.dim(2), turned / 2};
    Expr first = reshape(slice(pairs, axis, 0, 1), half);
    Expr second = reshape(slice(pairs, axis, 1, 2), half);
    Dims single = paired;
    single[axis] = 1;
    Expr result = concat({reshape(first * cosine - second * sine, single),
                          reshape(first * sine + second * cosine, single)},
                         axis);
    Dims flat = half;
    flat[3] = turned;
    result = concat({reshape(result, flat), slice(x, 3, turned, x.dim(3))}, 3);
    return {is_flat ? reshape(transpose(result, {0, 2, 1, 3}), b.x().dims()) : result};
}

}  // namespace sardonyx::eval::derivatives
