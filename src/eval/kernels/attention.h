// The parts of scaled dot-product attention that Attention and FlexAttention share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "eval/loops/matmul.h"
#include "eval/operators/kernel.h"

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

// scores[queries, keys] = scale * q[queries, size] * k[keys, size]^T for some queries of one head.
template <typename S>
void scaled_scores(const S* q, const S* k, S* scores, int64_t queries, const AttentionShape& shape,
                   S scale) {
    std::fill(scores, scores + queries * shape.keys, S(0));
    multiply_add(MatrixProduct<S>{queries, shape.size, shape.keys, q, shape.size, false, k,
                                  shape.size, true, scores, shape.keys},
                 Workers());
    for (int64_t i = 0; i < queries * shape.keys; ++i) {
        scores[i] *= scale;
    }
}

// The softmax of `count` rows of n scores each, in place. A row of nothing but -inf attends
// nowhere: it becomes zeros.
void softmax_scores(float* rows, int64_t n, int64_t count);
void softmax_scores(double* rows, int64_t n, int64_t count);

}  // namespace sardonyx::eval
