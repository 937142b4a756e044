// Rows of features, several beside each other in lanes.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "eval/kernels/ml/ml.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

// Rows side by side, [item, lane], as many as a vector of 64 bytes holds, so that loops run over
// the lanes and each sum keeps the order of its items. The lanes behind the last row are zero.
template <typename S>
inline constexpr int kLanes = 64 / sizeof(S);
template <typename S>
using Lanes = std::array<S, kLanes<S>>;
template <typename S>
using Vector __attribute__((vector_size(64))) = S;

// As many rows as there are lanes, from `first` on; floats only of FLOAT.
void load_rows(const FeatureRows& x, int64_t first, std::vector<Lanes<float>>& block);
void load_rows(const FeatureRows& x, int64_t first, std::vector<Lanes<double>>& block);

// Rows of FLOAT as they are, all others as DOUBLE.
Result<FeatureRows> real_rows(const KernelContext& c);

// Calls body(S()) with the type of the rows: sums of products of FLOAT are floats, as in ONNX
// Runtime.
template <typename Body>
void in_type_of(const FeatureRows& x, const Body& body) {
    if (x.are_floats()) {
        body(0.0f);
    } else {
        body(0.0);
    }
}

// From so many rows on it pays to widen the weights once.
inline constexpr int64_t kManyRows = 64;

// out[j] is the sum of items[i] * rows[j * items.size() + i]. Weights are floats, or the same
// numbers as double where so many rows follow that it pays. The product of two floats is exact as a
// double, so that a fused multiplication and addition gives the same number on all processors; with
// items that are no floats it `may_fuse` none.
template <typename S, typename W>
void multiply_rows(std::span<const Lanes<S>> items, bool may_fuse, std::span<const W> rows,
                   int64_t count, Lanes<S>* out);

// The sum of items[i] * weights[i], as four sums of every fourth, whose additions need not wait for
// each other.
template <typename S, typename W>
Lanes<S> dot(std::span<const Lanes<S>> items, std::span<const W> weights);

void squared_distances(std::span<const Lanes<double>> items, std::span<const float> points,
                       int64_t count, Lanes<double>* out);

// Calls body(begin, end) with pieces of whole blocks of lanes, on several threads.
template <typename Body>
void for_row_pieces(const KernelContext& c, int64_t rows, int64_t operations, Body body) {
    constexpr int64_t kMost = kLanes<float>;
    int64_t piece = (items_per_task(operations) + kMost - 1) / kMost * kMost;
    parallel_for(c.threads(), rows, piece, body);
}

// What stands in column `lane`.
template <typename S>
void take_lane(const std::vector<Lanes<S>>& values, int64_t lane, std::vector<double>& row) {
    row.resize(values.size());
    std::transform(values.begin(), values.end(), row.begin(),
                   [&](const Lanes<S>& value) { return value[lane]; });
}

size_t greatest_of(std::span<const double> scores);

}  // namespace sardonyx::eval::kernels
