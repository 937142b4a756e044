// Products of matrices of every shape and layout against the plain sum, on one thread and several,
// and the pool of threads under them.
#include "eval/loops/gemm.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "eval/runtime/parallel.h"

namespace sardonyx::eval {
namespace {

// Small integers: sums of them are exact in every type.
template <typename S>
std::vector<S> numbers(int64_t count, uint32_t seed) {
    std::vector<S> values(count);
    for (S& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<S>(static_cast<int32_t>(seed >> 29) - 3);
    }
    return values;
}

template <typename S>
void check_product(int64_t m, int64_t k, int64_t n, bool transpose_a, bool transpose_b) {
    int64_t step_a = (transpose_a ? m : k) + 3;
    int64_t step_b = (transpose_b ? k : n) + 1;
    int64_t step_c = n + 2;
    std::vector<S> a = numbers<S>((transpose_a ? k : m) * step_a, 1);
    std::vector<S> b = numbers<S>((transpose_b ? n : k) * step_b, 2);
    std::vector<S> start = numbers<S>(m * step_c, 3);
    std::vector<S> expected = start;
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            for (int64_t p = 0; p < k; ++p) {
                S x = a[transpose_a ? p * step_a + i : i * step_a + p];
                S y = b[transpose_b ? j * step_b + p : p * step_b + j];
                expected[i * step_c + j] += x * y;
            }
        }
    }
    for (int threads : {1, 3}) {
        std::vector<S> c = start;
        multiply_add({m, k, n, a.data(), step_a, transpose_a, b.data(), step_b, transpose_b,
                      c.data(), step_c},
                     {threads});
        EXPECT_EQ(c, expected) << m << " " << k << " " << n << " " << transpose_a << transpose_b;
        if constexpr (std::is_floating_point_v<S>) {
            if (!transpose_a) {
                c = start;
                PackedMatrix<S> packed(b.data(), step_b, transpose_b, k, n);
                multiply_add(m, a.data(), step_a, packed, c.data(), step_c, {threads});
                EXPECT_EQ(c, expected) << m << " " << k << " " << n << " packed" << transpose_b;
            }
        }
    }
}

template <typename S>
void check_products() {
    for (bool transpose_a : {false, true}) {
        for (bool transpose_b : {false, true}) {
            for (auto [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                   {2, 5, 40},
                                   {7, 3, 33},
                                   {1, 64, 130},
                                   {13, 0, 4},
                                   {0, 2, 2},
                                   {50, 70, 90}}) {
                check_product<S>(m, k, n, transpose_a, transpose_b);
            }
        }
    }
    for (int64_t m : {1, 2, 3, 4, 6, 8, 11}) {
        check_product<S>(m, 600, 301, false, true);
    }
    for (int64_t m : {1, 3, 5}) {
        check_product<S>(m, 1300, 70, false, false);
        check_product<S>(m, 3 * 2048 + 5, 9, false, true);
    }
    check_product<S>(300, 70, 120, false, false);
    check_product<S>(20, 130, 500, false, true);
}

TEST(Gemm, Multiplies) {
    check_products<float>();
    check_products<double>();
    check_products<uint32_t>();
    check_products<uint64_t>();
}

TEST(Gemm, IntegersOfAnySizeAreExact) {
    // Sums of small numbers past what a float holds, and numbers that are not small, which wrap.
    for (uint32_t number : {255u, static_cast<uint32_t>(-255), 70000u}) {
        int64_t m = 9, k = 1000, n = 20;
        std::vector<uint32_t> a(m * k, number), b(k * n, 255), c(m * n, 1);
        multiply_add(a.data(), b.data(), c.data(), m, k, n, {2});
        EXPECT_EQ(c, std::vector<uint32_t>(m * n, 1 + 1000 * 255 * number));
    }
}

TEST(Gemm, KeepsItsDigitsInLongSums) {
    // One chain of so many terms loses three digits.
    int64_t k = 300'001;
    std::vector<float> a(3 * k), b(9 * k);
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = 0.5f + std::fabs(std::sin(static_cast<float>(i)));
    }
    for (size_t i = 0; i < b.size(); ++i) {
        b[i] = 0.5f + std::fabs(std::cos(static_cast<float>(i)));
    }
    for (auto [m, n] : {std::array<int64_t, 2>{1, 1}, {1, 9}, {3, 2}, {2, 1}}) {
        for (bool transpose_b : {false, true}) {
            std::vector<float> c(m * n), with_packed(m * n);
            int64_t step_b = transpose_b ? k : n;
            multiply_add({m, k, n, a.data(), k, false, b.data(), step_b, transpose_b, c.data(), n},
                         Workers());
            PackedMatrix<float> packed(b.data(), step_b, transpose_b, k, n);
            multiply_add(m, a.data(), k, packed, with_packed.data(), n, Workers());
            for (int64_t i = 0; i < m * n; ++i) {
                double expected = 0;
                for (int64_t p = 0; p < k; ++p) {
                    int64_t at = transpose_b ? i % n * k + p : p * n + i % n;
                    expected += static_cast<double>(a[i / n * k + p]) * static_cast<double>(b[at]);
                }
                EXPECT_NEAR(c[i] / expected, 1, 2e-6) << m << " " << n << " " << transpose_b;
                EXPECT_NEAR(with_packed[i] / expected, 1, 2e-6) << m << " " << n;
            }
        }
    }
}

TEST(Gemm, DoesNotDependOnTheNumberOfThreads) {
    int64_t m = 150, k = 333, n = 410;
    std::vector<float> a(m * k), b(k * n);
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = std::sin(static_cast<float>(i));
    }
    for (size_t i = 0; i < b.size(); ++i) {
        b[i] = std::cos(static_cast<float>(i));
    }
    std::vector<float> one(m * n), many(m * n);
    multiply_add(a.data(), b.data(), one.data(), m, k, n, {1});
    multiply_add(a.data(), b.data(), many.data(), m, k, n, {4});
    EXPECT_EQ(one, many);
}

TEST(Parallel, RunsEachTaskOnce) {
    for (int threads : {1, 2, 5}) {
        std::vector<std::atomic<int>> counts(1001);
        parallel_for({threads}, 1001, 10, [&](int64_t begin, int64_t end) {
            // Tasks of tasks run where they are.
            parallel_for({threads}, end - begin, 3, [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                    ++counts[begin + i];
                }
            });
        });
        for (const std::atomic<int>& count : counts) {
            EXPECT_EQ(count, 1);
        }
    }
    parallel_for({4}, 0, 10, [](int64_t, int64_t) { ADD_FAILURE(); });
    EXPECT_GE(thread_count(0), 1);
    EXPECT_EQ(thread_count(3), 3);
}

}  // namespace
}  // namespace sardonyx::eval
