// Transposes matrices by tiles that fit into registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace sardonyx::eval {

// Interleaves the lower (kHalf 0) or upper halves of two vectors.
template <int kHalf, typename Vector, int... kLane>
[[gnu::always_inline]] inline void interleave(const Vector& a, const Vector& b, Vector& out,
                                              std::integer_sequence<int, kLane...>) {
    constexpr int kLanes = sizeof...(kLane);
    out = __builtin_shufflevector(a, b, (kHalf * kLanes / 2 + kLane / 2 + kLane % 2 * kLanes)...);
}

// out[j * out_step + i] = in[i * in_step + j] for a square of kLanes. Each round moves the highest
// bit of the row into the lowest of the lane, and the highest of the lane into the row. Numbers are
// converted to the type of the result.
template <int kLanes, typename T, typename Out>
[[gnu::always_inline]] inline void transpose_tile(const T* in, int64_t in_step, Out* out,
                                                  int64_t out_step) {
    typedef T Vector __attribute__((vector_size(kLanes * sizeof(T))));
    typedef Out OutVector __attribute__((vector_size(kLanes * sizeof(Out))));
    constexpr auto kAll = std::make_integer_sequence<int, kLanes>();
    Vector rows[kLanes], next[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        std::memcpy(&rows[i], in + i * in_step, sizeof(Vector));
    }
    for (int round = 1; round < kLanes; round *= 2) {
        for (int i = 0; i < kLanes / 2; ++i) {
            interleave<0>(rows[i], rows[i + kLanes / 2], next[2 * i], kAll);
            interleave<1>(rows[i], rows[i + kLanes / 2], next[2 * i + 1], kAll);
        }
        for (int i = 0; i < kLanes; ++i) {
            rows[i] = next[i];
        }
    }
    for (int i = 0; i < kLanes; ++i) {
        OutVector row = __builtin_convertvector(rows[i], OutVector);
        std::memcpy(out + i * out_step, &row, sizeof row);
    }
}

// out[j * out_step + i] = in[i * in_step + j] for i < rows, j < columns. The last tile of a side
// begins earlier, where the side is no multiple of a tile; kLanes or less, where it is shorter.
template <int kLanes, typename T, typename Out>
[[gnu::always_inline]] inline void transpose(const T* in, int64_t in_step, int64_t rows,
                                             int64_t columns, Out* out, int64_t out_step) {
    if constexpr (kLanes == 1) {
        for (int64_t j = 0; j < columns; ++j) {
            for (int64_t i = 0; i < rows; ++i) {
                out[j * out_step + i] = static_cast<Out>(in[i * in_step + j]);
            }
        }
    } else if (rows < kLanes || columns < kLanes) {
        transpose<(kLanes > 4 ? kLanes / 2 : 1)>(in, in_step, rows, columns, out, out_step);
    } else {
        for (int64_t column = 0; column < columns; column += kLanes) {
            int64_t j = std::min(column, columns - kLanes);
            for (int64_t row = 0; row < rows; row += kLanes) {
                int64_t i = std::min(row, rows - kLanes);
                transpose_tile<kLanes>(in + i * in_step + j, in_step, out + j * out_step + i,
                                       out_step);
            }
        }
    }
}

}  // namespace sardonyx::eval
