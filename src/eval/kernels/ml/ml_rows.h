// Rows of features, several beside each other in lanes.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "eval/kernels/ml/ml.h"
#include "eval/loops/clones.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

// Eight rows side by side, [item, lane], so that loops run over the lanes and each sum keeps the
// order of its items. The lanes behind the last row are zero.
inline constexpr int kLanes = 8;
using Lanes = std::array<double, kLanes>;

// All lanes at once, item by item.
template <typename T>
SDX_CLONES void load_full_rows(const T* rows, int64_t columns, Lanes* block) {
    for (int64_t i = 0; i < columns; ++i) {
        for (int lane = 0; lane < kLanes; ++lane) {
            block[i][lane] = static_cast<double>(rows[lane * columns + i]);
        }
    }
}

template <typename T>
void load_rows(const T* rows, int64_t count, int64_t columns, std::vector<Lanes>& block) {
    if (count == kLanes) {
        block.resize(columns);
        load_full_rows(rows, columns, block.data());
        return;
    }
    block.assign(columns, Lanes{});
    for (int64_t lane = 0; lane < count; ++lane) {
        for (int64_t i = 0; i < columns; ++i) {
            block[i][lane] = static_cast<double>(rows[lane * columns + i]);
        }
    }
}

void load_rows(const FeatureRows& x, int64_t first, std::vector<Lanes>& block);

// Rows of FLOAT as they are, all others as DOUBLE.
Result<FeatureRows> real_rows(const KernelContext& c);

// So many sums at once, whose additions need not wait for each other.
inline constexpr int kFewSums = 4;

inline constexpr int kManySums = 8;

// By vectors, as a compiler left to itself may choose the wrong one of the three loops.
// Weights are floats, or the same numbers as double where so many rows follow that it pays.
template <int kSums, typename W>
[[gnu::always_inline]] inline void add_products(const Lanes* items, int64_t count,
                                                const W* const* weights, Lanes* sums) {
    typedef double Vector
        __attribute__((vector_size(sizeof(Lanes))));  // NOLINT(modernize-use-using)
    // One by one: an array that is cleared or copied whole does not stay in registers.
    Vector total[kSums];
    for (Vector& one : total) {
        one = Vector{};
    }
    for (int64_t i = 0; i < count; ++i) {
        Vector item;
        std::memcpy(&item, items + i, sizeof item);
        for (int s = 0; s < kSums; ++s) {
            total[s] += item * static_cast<double>(weights[s][i]);
        }
    }
    for (int s = 0; s < kSums; ++s) {
        std::memcpy(sums + s, total + s, sizeof(Vector));
    }
}

// The product of two floats is exact as a double, so that a fused multiplication and addition gives
// the same number; for items that are no floats it would not.
template <int kSums, typename W>
SDX_CLONES void add_exact_products(const Lanes* items, int64_t count, const W* const* weights,
                                   Lanes* sums) {
    add_products<kSums>(items, count, weights, sums);
}

template <int kSums, typename W>
void add_other_products(const Lanes* items, int64_t count, const W* const* weights, Lanes* sums) {
    add_products<kSums>(items, count, weights, sums);
}

template <int kSums, typename W>
void multiply_some_rows(std::span<const Lanes> items, bool are_floats, const W* rows, int64_t count,
                        Lanes* out) {
    auto width = static_cast<int64_t>(items.size());
    for (int64_t j = 0; j < count; j += kSums) {
        const W* weights[kSums];
        Lanes sums[kSums];
        int64_t wanted = std::min<int64_t>(kSums, count - j);
        for (int64_t s = 0; s < kSums; ++s) {
            weights[s] = rows + (j + std::min(s, wanted - 1)) * width;
        }
        (are_floats ? add_exact_products<kSums, W>
                    : add_other_products<kSums, W>)(items.data(), width, weights, sums);
        std::copy(sums, sums + wanted, out + j);
    }
}

// out[j] is the sum of items[i] * rows[j * items.size() + i].
template <typename W>
void multiply_rows(std::span<const Lanes> items, bool are_floats, std::span<const W> rows,
                   int64_t count, Lanes* out) {
    (count > kFewSums
         ? multiply_some_rows<kManySums, W>
         : multiply_some_rows<kFewSums, W>)(items, are_floats, rows.data(), count, out);
}

// The sum of items[i] * weights[i], as four sums of every fourth, whose additions need not wait for
// each other.
Lanes dot(std::span<const Lanes> items, std::span<const float> weights);
Lanes dot(std::span<const Lanes> items, std::span<const double> weights);

void squared_distances(std::span<const Lanes> items, std::span<const float> points, int64_t count,
                       Lanes* out);

// Calls body(begin, end) with pieces of whole blocks of kLanes rows, on several threads.
template <typename Body>
void for_row_pieces(const KernelContext& c, int64_t rows, int64_t operations, Body body) {
    int64_t piece = (items_per_task(operations) + kLanes - 1) / kLanes * kLanes;
    parallel_for(c.threads(), rows, piece, body);
}

// What stands in column `lane`.
void take_lane(std::span<const Lanes> values, int64_t lane, std::vector<double>& row);

size_t greatest_of(std::span<const double> scores);

// From so many rows on it pays to widen the weights once.
inline constexpr int64_t kManyRows = 64;

}  // namespace sardonyx::eval::kernels
