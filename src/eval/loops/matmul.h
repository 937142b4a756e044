// What the operators share that are products of matrices: MatMul, Gemm, Conv, recurrences.
#pragma once

#include <cstdint>
#include <optional>

#include "eval/loops/gemm.h"
#include "eval/loops/visit.h"

namespace sardonyx::eval {

// What products of T are added up in: float and double themselves, float for the 16-bit floats,
// wrapping integers.
template <typename T>
using ProductSum =
    std::conditional_t<std::is_floating_point_v<Compute<T>>, Compute<T>, Wrapping<T>>;

// Whether the sums of a product can be written where the elements are.
template <typename T>
inline constexpr bool kSumsInPlace = std::is_same_v<ProductSum<T>, T> ||
                                     (std::is_integral_v<T> && sizeof(ProductSum<T>) == sizeof(T));

// Elements as what products are added up in: the tensor's own storage where that is the same type.
template <typename T>
class ProductOperand {
  public:
    using S = ProductSum<T>;
    explicit ProductOperand(const Tensor& tensor) : tensor_(tensor) {
        if constexpr (kSumsInPlace<T>) {
            data_ = reinterpret_cast<const S*>(tensor.elements<T>().data());
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

// 8-bit codes less their zero point, as INT32.
Result<Tensor> less_zero_point(const KernelContext& c, const Tensor& codes, int32_t zero);

// The input `i`, of 8-bit codes, less the zero points of another input, as `type`: INT32, or FLOAT
// for codes that are small floats. The zero points are left out, one number, one for each index of
// `axis` (negative: from the end), or a tensor that broadcasts.
Result<Tensor> less_zero_points(KernelContext& c, size_t i, size_t zero_input, int axis,
                                ElementType type = ElementType::kInt32);

// The inputs that are 8-bit codes, and their zero points, which may be left out.
struct CodeInput {
    size_t codes;
    size_t zero;
};

// The product of codes less their zero points, as INT32, or as FLOAT where codes are small floats.
// The zero points of `a` are those of its rows, if they are not one number, and those of `b` of its
// columns.
Result<Tensor> product_of_codes(KernelContext& c, CodeInput a, CodeInput b);

// NumPy's matmul: batches broadcast, operands of rank 1 are a row and a column.
Result<Tensor> matmul(const KernelContext& c, const Tensor& a, const Tensor& b);

}  // namespace sardonyx::eval
