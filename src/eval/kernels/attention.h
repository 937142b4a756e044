// The parts of scaled dot-product attention that Attention and FlexAttention share.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "eval/kernel.h"
#include "eval/kernels/matmul.h"

namespace sardonyx::eval {

// What queries, keys and values ([batch, heads, length, size]) say in common.
struct AttentionShape {
    int64_t batch = 0;
    int64_t query_heads = 0, key_heads = 0;
    int64_t queries = 0, keys = 0;
    int64_t size = 0, value_size = 0;

    // The head of keys and values that a query's head reads.
    int64_t key_head(int64_t head) const { return head / (query_heads / key_heads); }
};
Result<AttentionShape> attention_shape(const Dims& q, const Dims& k, const Dims& v);

// FLOAT, or DOUBLE where an operand or the softmax asks for it.
ElementType attention_type(ElementType operand, ElementType softmax);
// The `softmax_precision` of a call; kUndefined where it has none.
Result<ElementType> softmax_precision(const KernelContext& c);

// scores[queries, keys] = scale * q[queries, size] * k[size, keys] of one head.
template <typename S>
void scaled_scores(const S* q, const S* k, S* scores, const AttentionShape& shape, S scale) {
    std::fill(scores, scores + shape.queries * shape.keys, S(0));
    multiply_add(q, k, scores, shape.queries, shape.size, shape.keys);
    for (int64_t i = 0; i < shape.queries * shape.keys; ++i) {
        scores[i] *= scale;
    }
}

// In place. A row of nothing but -inf attends nowhere: it becomes zeros.
template <typename S>
void softmax_row(S* row, int64_t n) {
    S greatest = -std::numeric_limits<S>::infinity();
    for (int64_t j = 0; j < n; ++j) {
        greatest = std::max(greatest, row[j]);
    }
    bool is_masked = greatest == -std::numeric_limits<S>::infinity();
    double total = 0;
    for (int64_t j = 0; j < n; ++j) {
        // NaN stays NaN, also in a row that is masked otherwise.
        row[j] = is_masked && !std::isnan(row[j]) ? S(0) : std::exp(row[j] - greatest);
        total += row[j];
    }
    for (int64_t j = 0; j < n && total != 0; ++j) {
        row[j] = static_cast<S>(row[j] / total);
    }
}

}  // namespace sardonyx::eval
