// The geometry under the kernels: strides, broadcasting, walking several strided operands in step,
// copying between strided views, and the [outer, n, inner] view of an axis.
//
// Strides count elements and may be 0 (broadcast) or negative (reversed).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "eval/operators/kernel.h"
#include "types/tensor.h"

namespace sardonyx::eval {

Dims row_major_strides(std::span<const int64_t> dims);

// The product of dims[first, last); the dims are those of a tensor, so it does not overflow
// unless a dim beside them is 0: then it may saturate at 0.
int64_t product(std::span<const int64_t> dims);

// Numpy broadcasting.
Result<Dims> broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b);
// Strides by which a row-major tensor of `dims` is read as one of `target`, which it broadcasts to.
Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> target);

// A tensor seen along one axis: element (o, i, k) is at (o * n + i) * inner + k.
struct AxisView {
    int64_t outer = 1;
    int64_t n = 1;
    int64_t inner = 1;
};
AxisView axis_view(std::span<const int64_t> dims, int axis);
// The same for the axes [first, last) taken as one.
AxisView axis_view(std::span<const int64_t> dims, int first, int last);

// A walk over `dims` in step for N operands. Dims of 1 are dropped and neighbours merged where all
// operands allow it, so that rows are as long as possible.
template <size_t N>
struct StridedWalk {
    Dims dims;  // at least one
    std::array<Dims, N> strides;

    StridedWalk(std::span<const int64_t> all_dims, std::array<std::span<const int64_t>, N> all) {
        for (int64_t dim : all_dims) {
            if (dim == 0) {
                all_dims = {};  // nothing to walk, and no product to overflow
                dims.push_back(0);
                for (size_t k = 0; k < N; ++k) {
                    strides[k].push_back(0);
                }
                break;
            }
        }
        for (size_t d = 0; d < all_dims.size(); ++d) {
            if (all_dims[d] == 1) {
                continue;
            }
            bool merges = !dims.empty();
            for (size_t k = 0; k < N && merges; ++k) {
                merges = strides[k].back() == all[k][d] * all_dims[d];
            }
            if (merges) {
                dims.back() *= all_dims[d];
            } else {
                dims.push_back(all_dims[d]);
            }
            for (size_t k = 0; k < N; ++k) {
                if (merges) {
                    strides[k].back() = all[k][d];
                } else {
                    strides[k].push_back(all[k][d]);
                }
            }
        }
        if (dims.empty()) {
            dims.push_back(1);
            for (size_t k = 0; k < N; ++k) {
                strides[k].push_back(0);
            }
        }
    }

    // Calls row(offsets, inner strides, n) for each row, in row-major order.
    template <typename Row>
    void for_each_row(Row&& row) const {
        size_t rank = dims.size();
        std::array<int64_t, N> inner;
        for (size_t k = 0; k < N; ++k) {
            inner[k] = strides[k][rank - 1];
        }
        if (dims[0] == 0) {
            return;
        }
        std::array<int64_t, N> offsets{};
        Dims index(rank, 0);
        while (true) {
            row(offsets, inner, dims[rank - 1]);
            size_t d = rank - 1;
            while (d > 0) {
                --d;
                for (size_t k = 0; k < N; ++k) {
                    offsets[k] += strides[k][d];
                }
                if (++index[d] < dims[d]) {
                    break;
                }
                index[d] = 0;
                for (size_t k = 0; k < N; ++k) {
                    offsets[k] -= strides[k][d] * dims[d];
                }
                if (d == 0) {
                    return;
                }
            }
            if (rank == 1) {
                return;
            }
        }
    }
};

// A strided part of a tensor: where it starts and how it steps.
struct ViewGeometry {
    int64_t offset = 0;
    Dims strides;
};

// target[view] = source[view] over `dims`; the element types have one width and no less than 8
// bits. The two do not overlap.
void copy_strided(const Workers& threads, const Tensor& source, const ViewGeometry& from,
                  Tensor& target, const ViewGeometry& to, std::span<const int64_t> dims);

// A contiguous tensor of `dims` read from `source` by `from`. Error: beyond the limit of bytes.
Result<Tensor> gather_view(const KernelContext& c, const Tensor& source, const ViewGeometry& from,
                           Dims dims);
Result<Tensor> transposed(const KernelContext& c, const Tensor& source,
                          std::span<const int> permutation);

// Copies `count` elements between contiguous places; same element type.
void copy_elements(const Tensor& source, int64_t source_start, Tensor& target, int64_t target_start,
                   int64_t count);
void fill_zero(Tensor& tensor);

}  // namespace sardonyx::eval
