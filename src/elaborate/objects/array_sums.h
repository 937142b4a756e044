// Sums, products and products of matrices of arrays that are known, as far as NumPy's result is
// certain: computed in NumPy's order of additions, or the same in every order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "types/tensor.h"

namespace sardonyx::elaborate {

// Elements at equal distances in memory.
template <typename T>
class Row {
  public:
    Row(const T* first, int64_t count, int64_t step) : first_(first), count_(count), step_(step) {}
    int64_t size() const { return count_; }
    T operator[](int64_t i) const { return first_[i * step_]; }
    Row part(int64_t begin, int64_t end) const {
        return Row(first_ + begin * step_, end - begin, step_);
    }
    Row backwards() const {
        return Row(first_ + std::max<int64_t>(count_ - 1, 0) * step_, count_, -step_);
    }

  private:
    const T* first_;
    int64_t count_, step_;
};

// The bits of the significand of a floating type, and its least and greatest normal numbers.
struct Precision {
    int bits;
    double least, greatest;
};

// Of FLOAT16, FLOAT and DOUBLE.
Precision precision_of(ElementType type);

// A sum of which all partial sums, in whatever order, are numbers of the type; nothing: they are
// not.
std::optional<double> exact_sum(const Row<double>& row, Precision precision);

// The same of a product.
std::optional<double> exact_product(const Row<double>& row, Precision precision);

// The sum in NumPy's order: of neighbours pair by pair, from 8 elements on.
template <typename T>
T pairwise_sum(const Row<T>& row);

// a @ b of arrays of one type, with the shapes that NumPy takes. Nothing: the shapes do not go
// together, or the order of the additions shows.
std::optional<Tensor> matrix_product(const Tensor& a, const Tensor& b);

// The sum of the products of two rows in the type, rounded once; nothing: the order of the
// additions shows, or whether products are rounded before they are added.
std::optional<double> certain_dot(const Row<double>& a, const Row<double>& b, ElementType type);

}  // namespace sardonyx::elaborate
