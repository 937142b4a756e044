// Rows of features, several beside each other in lanes: products with coefficients, and distances.

#include "eval/kernels/ml/ml_rows.h"

#include <array>
#include <cstring>

#include "eval/kernels/cast.h"
#include "eval/kernels/ml/ml.h"
#include "eval/loops/clones.h"
#include "eval/loops/transpose.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// All lanes at once.
template <typename S, typename T>
SDX_CLONES void load_full_rows(const T* rows, int64_t columns, Lanes<S>* block) {
    transpose<kLanes<S>>(rows, columns, kLanes<S>, columns, block->data(), kLanes<S>);
}

template <typename S, typename T>
void load_lanes(const T* rows, int64_t count, int64_t columns, std::vector<Lanes<S>>& block) {
    if (count == kLanes<S>) {
        block.resize(columns);
        load_full_rows(rows, columns, block.data());
        return;
    }
    block.assign(columns, Lanes<S>{});
    for (int64_t lane = 0; lane < count; ++lane) {
        for (int64_t i = 0; i < columns; ++i) {
            block[i][lane] = rows[lane * columns + i];
        }
    }
}

}  // namespace

void load_rows(const FeatureRows& x, int64_t first, std::vector<Lanes<float>>& block) {
    const float* rows = x.data.elements<float>().data() + first * x.columns;
    load_lanes(rows, std::min<int64_t>(kLanes<float>, x.rows - first), x.columns, block);
}

void load_rows(const FeatureRows& x, int64_t first, std::vector<Lanes<double>>& block) {
    int64_t count = std::min<int64_t>(kLanes<double>, x.rows - first);
    if (x.data.element_type() == ElementType::kFloat) {
        load_lanes(x.data.elements<float>().data() + first * x.columns, count, x.columns, block);
    } else {
        load_lanes(x.data.elements<double>().data() + first * x.columns, count, x.columns, block);
    }
}

namespace {

// So many sums at once, whose additions need not wait for each other.
constexpr int kFewSums = 4;
constexpr int kManySums = 8;

// Sums of floats are added up in blocks of so many items, so that their errors stay small.
constexpr int64_t kRowBlock = 128;

// By vectors, as a compiler left to itself may choose the wrong one of the three loops.
template <int kSums, typename S, typename W>
[[gnu::always_inline]] inline void add_products(const Lanes<S>* items, int64_t count,
                                                const W* const* weights, Lanes<S>* sums) {
    for (int64_t begin = 0; begin == 0 || begin < count; begin += kRowBlock) {
        // One by one: an array that is cleared or copied whole does not stay in registers.
        Vector<S> part[kSums];
        for (Vector<S>& one : part) {
            one = Vector<S>{};
        }
        for (int64_t i = begin; i < std::min(count, begin + kRowBlock); ++i) {
            Vector<S> item;
            std::memcpy(&item, items + i, sizeof item);
            for (int s = 0; s < kSums; ++s) {
                part[s] += item * static_cast<S>(weights[s][i]);
            }
        }
        for (int s = 0; s < kSums; ++s) {
            Vector<S> before{};
            if (begin != 0) {
                std::memcpy(&before, sums + s, sizeof before);
            }
            before += part[s];
            std::memcpy(sums + s, &before, sizeof before);
        }
    }
}

// The clones fuse multiplications and additions.
template <int kSums, typename S, typename W>
SDX_CLONES void add_fused_products(const Lanes<S>* items, int64_t count, const W* const* weights,
                                   Lanes<S>* sums) {
    add_products<kSums>(items, count, weights, sums);
}
template <int kSums, typename S, typename W>
void add_rounded_products(const Lanes<S>* items, int64_t count, const W* const* weights,
                          Lanes<S>* sums) {
    add_products<kSums>(items, count, weights, sums);
}

template <int kSums, typename S, typename W>
void multiply_some_rows(std::span<const Lanes<S>> items, bool may_fuse, const W* rows,
                        int64_t count, Lanes<S>* out) {
    auto add = may_fuse ? add_fused_products<kSums, S, W> : add_rounded_products<kSums, S, W>;
    auto width = static_cast<int64_t>(items.size());
    for (int64_t j = 0; j < count; j += kSums) {
        const W* weights[kSums];
        int64_t wanted = std::min<int64_t>(kSums, count - j);
        for (int64_t s = 0; s < kSums; ++s) {
            weights[s] = rows + (j + std::min(s, wanted - 1)) * width;
        }
        if (wanted == kSums) {
            add(items.data(), width, weights, out + j);
            continue;
        }
        Lanes<S> sums[kSums];
        add(items.data(), width, weights, sums);
        std::copy(sums, sums + wanted, out + j);
    }
}

template <typename S, typename W>
SDX_CLONES Lanes<S> four_sums(const Lanes<S>* items, const W* weights, int64_t count) {
    Vector<S> total[kFewSums] = {};
    for (int64_t i = 0; i < count; i += kFewSums) {
        for (int64_t s = 0; s < std::min<int64_t>(kFewSums, count - i); ++s) {
            Vector<S> item;
            std::memcpy(&item, items + i + s, sizeof item);
            total[s] += item * static_cast<S>(weights[i + s]);
        }
    }
    Vector<S> all = (total[0] + total[1]) + (total[2] + total[3]);
    Lanes<S> sum;
    std::memcpy(&sum, &all, sizeof all);
    return sum;
}

}  // namespace

template <typename S, typename W>
void multiply_rows(std::span<const Lanes<S>> items, bool may_fuse, std::span<const W> rows,
                   int64_t count, Lanes<S>* out) {
    if (count > kFewSums) {
        multiply_some_rows<kManySums>(items, may_fuse, rows.data(), count, out);
    } else {
        multiply_some_rows<kFewSums>(items, may_fuse, rows.data(), count, out);
    }
}
template void multiply_rows(std::span<const Lanes<float>>, bool, std::span<const float>, int64_t,
                            Lanes<float>*);
template void multiply_rows(std::span<const Lanes<double>>, bool, std::span<const float>, int64_t,
                            Lanes<double>*);
template void multiply_rows(std::span<const Lanes<double>>, bool, std::span<const double>, int64_t,
                            Lanes<double>*);

template <typename S, typename W>
Lanes<S> dot(std::span<const Lanes<S>> items, std::span<const W> weights) {
    return four_sums(items.data(), weights.data(), static_cast<int64_t>(weights.size()));
}
template Lanes<float> dot(std::span<const Lanes<float>>, std::span<const float>);
template Lanes<float> dot(std::span<const Lanes<float>>, std::span<const double>);
template Lanes<double> dot(std::span<const Lanes<double>>, std::span<const float>);
template Lanes<double> dot(std::span<const Lanes<double>>, std::span<const double>);

Result<FeatureRows> real_rows(const KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, feature_shape(c, 0));
    bool is_float = c.type(0) == ElementType::kFloat;
    SDX_ASSIGN(x.data,
               cast_tensor(c, c.tensor(0), is_float ? ElementType::kFloat : ElementType::kDouble));
    return x;
}

namespace {

// out[s] is the sum of the squares of items[i] - points[s * items.size() + i], for kFewSums points.
SDX_CLONES void add_distances(std::span<const Lanes<double>> items, const float* points,
                              Lanes<double>* out) {
    Vector<double> total[kFewSums] = {};
    for (size_t i = 0; i < items.size(); ++i) {
        Vector<double> item;
        std::memcpy(&item, &items[i], sizeof item);
        for (int s = 0; s < kFewSums; ++s) {
            Vector<double> difference = item - static_cast<double>(points[s * items.size() + i]);
            total[s] += difference * difference;
        }
    }
    std::memcpy(out, total, sizeof total);
}

}  // namespace

void squared_distances(std::span<const Lanes<double>> items, std::span<const float> points,
                       int64_t count, Lanes<double>* out) {
    int64_t i = 0;
    for (; i + kFewSums <= count; i += kFewSums) {
        add_distances(items, points.data() + i * items.size(), out + i);
    }
    for (; i < count; ++i) {
        out[i] = {};
        for (size_t k = 0; k < items.size(); ++k) {
            for (int lane = 0; lane < kLanes<double>; ++lane) {
                double difference =
                    items[k][lane] - static_cast<double>(points[i * items.size() + k]);
                out[i][lane] += difference * difference;
            }
        }
    }
}

size_t greatest_of(std::span<const double> scores) {
    return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

}  // namespace sardonyx::eval::kernels
