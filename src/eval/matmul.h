// The matrix product that MatMul, Gemm, Conv, Einsum and recurrences share. A library for it can
// stand behind this one function.
#pragma once

#include <cstdint>

#include "eval/visit.h"

namespace sardonyx::eval {

// What products of T are added up in: float and double themselves, float for the 16-bit floats,
// wrapping integers.
template <typename T>
using ProductSum =
    std::conditional_t<std::is_floating_point_v<Compute<T>>, Compute<T>, Wrapping<T>>;

// c[m, n] += a[m, k] * b[k, n], row-major and contiguous.
template <typename S>
void multiply_add(const S* a, const S* b, S* c, int64_t m, int64_t k, int64_t n) {
    // Blocks of b that stay in the cache; rows of b and c are walked contiguously, so the innermost
    // loop vectorises. The order of additions for one element is k ascending, whatever the blocks.
    constexpr int64_t kBlockK = 64;
    constexpr int64_t kBlockN = 512;
    for (int64_t n0 = 0; n0 < n; n0 += kBlockN) {
        int64_t n1 = n0 + kBlockN < n ? n0 + kBlockN : n;
        for (int64_t k0 = 0; k0 < k; k0 += kBlockK) {
            int64_t k1 = k0 + kBlockK < k ? k0 + kBlockK : k;
            for (int64_t i = 0; i < m; ++i) {
                S* row = c + i * n;
                for (int64_t p = k0; p < k1; ++p) {
                    const S x = a[i * k + p];
                    const S* other = b + p * n;
                    for (int64_t j = n0; j < n1; ++j) {
                        row[j] += x * other[j];
                    }
                }
            }
        }
    }
}

// Elements as what products are added up in: the tensor's own storage where that is the same type.
template <typename T>
class ProductOperand {
  public:
    using S = ProductSum<T>;
    explicit ProductOperand(const Tensor& tensor) : tensor_(tensor) {
        if constexpr (std::is_same_v<S, T>) {
            data_ = tensor.elements<T>().data();
        } else {
            converted_.reserve(tensor.count());
            for (const T& x : tensor.elements<T>()) {
                converted_.push_back(static_cast<S>(static_cast<Compute<T>>(x)));
            }
            data_ = converted_.data();
        }
    }
    const S* data() const { return data_; }

  private:
    Tensor tensor_;
    std::vector<S> converted_;
    const S* data_ = nullptr;
};

// NumPy's matmul: batches broadcast, operands of rank 1 are a row and a column.
Result<Tensor> matmul(const KernelContext& c, const Tensor& a, const Tensor& b);

}  // namespace sardonyx::eval
