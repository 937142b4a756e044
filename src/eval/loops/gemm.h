// Products of matrices.
//
// Products of floats go to oneDNN where it is installed, all others and small ones to a blocked
// loop. Either way the order of additions for one element of the result depends on the sizes of the
// product alone, never on the number of threads. The blocked loops add long sums up in blocks, and
// these in pairs, so that the error grows with the logarithm of their number.
#pragma once

#include <cstdint>

#include "eval/runtime/parallel.h"

#include "eval/loops/scratch.h"

namespace sardonyx::eval {

// c[m, n] += a[m, k] * b[k, n]. Rows are contiguous and `step` elements apart; a transposed operand
// is stored as [k, m] or [n, k]. c overlaps neither operand.
template <typename S>
struct MatrixProduct {
    int64_t m = 0;
    int64_t k = 0;
    int64_t n = 0;
    const S* a = nullptr;
    int64_t step_a = 0;
    bool transpose_a = false;
    const S* b = nullptr;
    int64_t step_b = 0;
    bool transpose_b = false;
    S* c = nullptr;
    int64_t step_c = 0;
};

// Integers wrap, as unsigned ones do.
void multiply_add(const MatrixProduct<float>& product, const Workers& threads);
void multiply_add(const MatrixProduct<double>& product, const Workers& threads);
void multiply_add(const MatrixProduct<uint32_t>& product, const Workers& threads);
void multiply_add(const MatrixProduct<uint64_t>& product, const Workers& threads);

// c[m, n] += a[m, k] * b[k, n], all contiguous.
template <typename S>
void multiply_add(const S* a, const S* b, S* c, int64_t m, int64_t k, int64_t n,
                  const Workers& threads = {}) {
    multiply_add(MatrixProduct<S>{m, k, n, a, k, false, b, n, false, c, n}, threads);
}

// The right operand of many products with few rows, [k, n], in the order that their loop reads it.
template <typename S>
class PackedMatrix {
  public:
    // `b` as in MatrixProduct; it is read here and not after.
    PackedMatrix(const S* b, int64_t step_b, bool transpose_b, int64_t k, int64_t n);

    int64_t k() const { return k_; }
    int64_t n() const { return n_; }
    // Panels of neighbouring columns, one after the other: [k, columns of a panel], zeros after n.
    const S* panels() const { return panels_.data(); }

  private:
    int64_t k_;
    int64_t n_;
    Scratch<S> panels_;
};

// c[m, n] += a[m, k] * b; rows of a and c are `step_a` and `step_c` elements apart.
void multiply_add(int64_t m, const float* a, int64_t step_a, const PackedMatrix<float>& b, float* c,
                  int64_t step_c, const Workers& threads);
void multiply_add(int64_t m, const double* a, int64_t step_a, const PackedMatrix<double>& b,
                  double* c, int64_t step_c, const Workers& threads);

}  // namespace sardonyx::eval
