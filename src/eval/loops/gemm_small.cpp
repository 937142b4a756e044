#include "eval/loops/gemm_small.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "eval/loops/clones.h"

namespace sardonyx::eval {
namespace {

// Numbers of 8 bits less a zero point. Sums of so many of their products are exact in float, whose
// products are several times as fast.
constexpr int32_t kLargestSmall = 255;
constexpr int64_t kExactTerms = 256;
static_assert(kExactTerms * kLargestSmall * kLargestSmall < 1 << 24);

// Rows of integers as contiguous floats; false: one of them is not small.
SDX_CLONES bool widen_small(const uint32_t* in, int64_t step, int64_t rows, int64_t columns,
                            float* out) {
    bool are_small = true;
    for (int64_t i = 0; i < rows && are_small; ++i, in += step, out += columns) {
        uint32_t beyond = 0;
        for (int64_t j = 0; j < columns; ++j) {
            auto x = static_cast<int32_t>(in[j]);
            beyond |= static_cast<uint32_t>(x > kLargestSmall || x < -kLargestSmall);
            out[j] = static_cast<float>(x);
        }
        are_small = beyond == 0;
    }
    return are_small;
}

SDX_CLONES void add_exact(const float* in, uint32_t* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] += static_cast<uint32_t>(static_cast<int32_t>(in[i]));
    }
}

}  // namespace

bool multiply_small(const MatrixProduct<uint32_t>& p, const Workers& threads) {
    int64_t rows_a = p.transpose_a ? p.k : p.m, columns_a = p.transpose_a ? p.m : p.k;
    int64_t rows_b = p.transpose_b ? p.n : p.k, columns_b = p.transpose_b ? p.k : p.n;
    // Not cleared, as vectors are.
    std::unique_ptr<float[]> a(new float[rows_a * columns_a]);
    std::unique_ptr<float[]> b(new float[rows_b * columns_b]);
    if (!widen_small(p.a, p.step_a, rows_a, columns_a, a.get()) ||
        !widen_small(p.b, p.step_b, rows_b, columns_b, b.get())) {
        return false;
    }
    std::vector<float> sums(p.m * p.n);
    for (int64_t k = 0; k < p.k; k += kExactTerms) {
        std::fill(sums.begin(), sums.end(), 0.0f);
        multiply_add(
            MatrixProduct<float>{p.m, std::min(kExactTerms, p.k - k), p.n,
                                 a.get() + k * (p.transpose_a ? columns_a : 1), columns_a,
                                 p.transpose_a, b.get() + k * (p.transpose_b ? 1 : columns_b),
                                 columns_b, p.transpose_b, sums.data(), p.n},
            threads);
        for (int64_t i = 0; i < p.m; ++i) {
            add_exact(sums.data() + i * p.n, p.c + i * p.step_c, p.n);
        }
    }
    return true;
}

}  // namespace sardonyx::eval
