// Places between the pixels of an image as weighted sums of pixels.
#pragma once

#include <complex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

// A place of an image plane and its weight.
struct PlaneTap {
    int64_t offset;
    double weight;
};

// The weighted sum of the taps; `taps` may be empty. Strings have one tap at most, of weight 1.
template <typename T>
T sample(const T* plane, std::span<const PlaneTap> taps) {
    if constexpr (std::is_same_v<T, std::string>) {
        return taps.empty() ? T() : plane[taps[0].offset];
    } else if constexpr (kIsComplex<T>) {
        std::complex<double> sum = 0;
        for (const PlaneTap& tap : taps) {
            sum += tap.weight * std::complex<double>(plane[tap.offset]);
        }
        return static_cast<T>(sum);
    } else {
        double sum = 0;
        for (const PlaneTap& tap : taps) {
            sum += tap.weight * static_cast<double>(static_cast<Compute<T>>(plane[tap.offset]));
        }
        return saturate_sum<T>(sum);
    }
}

// The taps of many points of a plane, [taps, points]; those of weight 0 do not count.
template <typename Offset>
struct TapTable {
    explicit TapTable(int64_t tap_count, int64_t point_count)
        : taps(tap_count),
          points(point_count),
          offsets(tap_count * point_count),
          weights(tap_count * point_count) {}

    void set(int64_t point, std::span<const PlaneTap> list) {
        for (int64_t k = 0; k < taps; ++k) {
            bool is_there = k < static_cast<int64_t>(list.size());
            offsets[k * points + point] = static_cast<Offset>(is_there ? list[k].offset : 0);
            weights[k * points + point] = is_there ? list[k].weight : 0;
        }
    }

    int64_t taps;
    int64_t points;
    std::vector<Offset> offsets;
    std::vector<double> weights;
};

// results[p] += the weighted sum of the taps of point p, or, with is_max, becomes the greatest of
// itself and the weighted taps; for the first `count` points.
template <bool is_max, typename T, typename Offset>
[[gnu::always_inline]] inline void fold_all_taps(const T* plane, const TapTable<Offset>& table,
                                                 int64_t count, double* results) {
    const Offset* offsets = table.offsets.data();
    const double* weights = table.weights.data();
    const int64_t step = table.points;
    auto part = [&](int64_t at) {
        double x = weights[at] * as_double(plane[offsets[at]]);
        return weights[at] == 0 ? 0.0 : x;
    };
    auto join = [](double a, double b) { return !is_max ? a + b : b > a ? b : a; };
    int64_t k = 0;
    for (; k + 4 <= table.taps; k += 4, offsets += 4 * step, weights += 4 * step) {
        SDX_INDEPENDENT_LOOP
        for (int64_t p = 0; p < count; ++p) {
            double four =
                join(join(part(p), part(p + step)), join(part(p + 2 * step), part(p + 3 * step)));
            results[p] = join(results[p], four);
        }
    }
    for (; k < table.taps; ++k, offsets += step, weights += step) {
        SDX_INDEPENDENT_LOOP
        for (int64_t p = 0; p < count; ++p) {
            results[p] = join(results[p], part(p));
        }
    }
}

// Clones for pictures of floats alone, which nearly all are: others come rarely, and each
// type is compiled for each instruction set.
template <bool is_max, typename Offset>
SDX_CLONES void fold_taps(const float* plane, const TapTable<Offset>& table, int64_t count,
                          double* results) {
    fold_all_taps<is_max>(plane, table, count, results);
}

template <bool is_max, typename T, typename Offset>
void fold_taps(const T* plane, const TapTable<Offset>& table, int64_t count, double* results) {
    fold_all_taps<is_max>(plane, table, count, results);
}

}  // namespace sardonyx::eval::kernels
