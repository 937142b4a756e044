#include "eval/loops/softmax.h"

#include <algorithm>
#include <limits>

#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/reduction.h"
#include "eval/loops/vector_math.h"

namespace sardonyx::eval {
namespace {

struct RowPowers {
    float greatest[kFoldRows];
    double sums[kFoldRows];
};

// Calls body(begin, end) for the places of row r, in pieces between which the run may end; a short
// row is one piece. False: the run shall end.
template <typename Body>
[[gnu::always_inline]] inline bool for_row(const Workers& threads, int64_t n, int64_t r,
                                           const Body& body) {
    if (n <= kPolled) [[likely]] {
        body(r * n, (r + 1) * n);
        return true;
    }
    return in_turns(threads, n, kPolled,
                    [&](int64_t begin, int64_t end) { body(r * n + begin, r * n + end); });
}

// Below it a power is no normal number, which beside the greatest element's, 1, is nothing.
constexpr float kLeastNormal = -87.0f;

// As objects, since a loop calls functions that are arguments by their addresses.
constexpr auto kScaledPower = [](float x) { return vector_exp_scaled(x); };
constexpr auto kNearPower = [](float x) { return vector_exp_near(x); };

// The greatest element of each of `count` <= kFoldRows rows.
[[gnu::always_inline]] inline void find_greatest(const Workers& threads, const float* in, int64_t n,
                                                 int64_t count, float* greatest) {
    // What is no number is left out here, and makes a sum that is none.
    auto greater = [](float a, float b) { return b > a ? b : a; };
    fold_rows(in, n, count, -std::numeric_limits<float>::infinity(), greater, greater, greatest,
              &threads);
}

// out[i] = power(in[i] - greatest of the row), which is none below `least`, the greatest ones and
// the sums of the powers, for `count` <= kFoldRows rows.
template <typename Power>
[[gnu::always_inline]] inline RowPowers row_powers(const Workers& threads, const float* in,
                                                   int64_t n, int64_t count, float least,
                                                   const Power& power_of, float* out) {
    RowPowers powers{};
    find_greatest(threads, in, n, count, powers.greatest);
    for (int64_t r = 0; r < count; ++r) {
        // No element is above the greatest.
        float greatest = powers.greatest[r];
        bool goes_on = for_row(threads, n, r, [&](int64_t begin, int64_t end) {
            SDX_INDEPENDENT_LOOP
            for (int64_t i = begin; i < end; ++i) {
                float x = in[i] - greatest;
                // Below its least argument it is some number.
                float power = power_of(x);
                out[i] = x < least ? 0.0f : power;
            }
        });
        if (!goes_on) {
            return powers;
        }
    }
    fold_rows(
        out, n, count, 0.0, [](double a, float x) { return a + static_cast<double>(x); },
        [](double a, double b) { return a + b; }, powers.sums, &threads);
    return powers;
}

SDX_CLONES void softmax_block(const Workers& threads, const float* in, int64_t n, int64_t count,
                              float* out) {
    RowPowers powers = row_powers(threads, in, n, count, kLeastPower, kScaledPower, out);
    for (int64_t r = 0; r < count; ++r) {
        auto factor = static_cast<float>(1 / powers.sums[r]);
        bool goes_on = for_row(threads, n, r, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                out[i] *= factor;
            }
        });
        if (!goes_on) {
            return;
        }
    }
}

SDX_CLONES void log_softmax_block(const Workers& threads, const float* in, int64_t n, int64_t count,
                                  float* out) {
    RowPowers powers = row_powers(threads, in, n, count, kLeastNormal, kNearPower, out);
    float shifts[kFoldRows];
    for (int64_t r = 0; r < kFoldRows; ++r) {
        shifts[r] = static_cast<float>(vector_log_of_sum(powers.sums[r]));
    }
    for (int64_t r = 0; r < count; ++r) {
        float greatest = powers.greatest[r];
        float shift = shifts[r];
        bool goes_on = for_row(threads, n, r, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                out[i] = in[i] - greatest - shift;
            }
        });
        if (!goes_on) {
            return;
        }
    }
}

SDX_CLONES void log_sums_of_block(const Workers& threads, const float* in, int64_t n, int64_t count,
                                  float* scratch, double* out) {
    RowPowers powers = row_powers(threads, in, n, count, kLeastNormal, kNearPower, scratch);
    for (int64_t r = 0; r < count; ++r) {
        out[r] = vector_log_of_sum(powers.sums[r]) + static_cast<double>(powers.greatest[r]);
    }
}

// Lines that are columns of [n, stride]: `count` <= kColumnsAtOnce neighbours are taken together,
// so that each step along them is a loop over what lies side by side.

// Calls body(row, j) for each row and each column, and asks in between whether the run shall end.
// False: it shall.
template <typename Body>
[[gnu::always_inline]] inline bool for_columns(const Workers& threads, int64_t n, int64_t stride,
                                               int64_t count, const Body& body) {
    return in_turns(threads, n, kPolled / kColumnsAtOnce, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            SDX_INDEPENDENT_LOOP
            for (int64_t j = 0; j < count; ++j) {
                body(k * stride + j, j);
            }
        }
    });
}

[[gnu::always_inline]] inline bool find_greatest_of_columns(const Workers& threads, const float* in,
                                                            int64_t n, int64_t stride,
                                                            int64_t count, float* greatest) {
    std::fill_n(greatest, count, -std::numeric_limits<float>::infinity());
    return for_columns(threads, n, stride, count, [&](int64_t i, int64_t j) {
        greatest[j] = in[i] > greatest[j] ? in[i] : greatest[j];
    });
}

SDX_CLONES void softmax_column_block(const Workers& threads, const float* in, int64_t n,
                                     int64_t stride, int64_t count, float* out) {
    float greatest[kColumnsAtOnce], factors[kColumnsAtOnce];
    double sums[kColumnsAtOnce];
    std::fill_n(sums, count, 0.0);
    bool goes_on = find_greatest_of_columns(threads, in, n, stride, count, greatest);
    goes_on = goes_on && for_columns(threads, n, stride, count, [&](int64_t i, int64_t j) {
                  float x = in[i] - greatest[j];
                  float power = vector_exp_scaled(x);
                  out[i] = x < kLeastPower ? 0.0f : power;
              });
    goes_on = goes_on && for_columns(threads, n, stride, count, [&](int64_t i, int64_t j) {
                  sums[j] += static_cast<double>(out[i]);
              });
    for (int64_t j = 0; j < count; ++j) {
        factors[j] = static_cast<float>(1 / sums[j]);
    }
    if (goes_on) {
        for_columns(threads, n, stride, count, [&](int64_t i, int64_t j) { out[i] *= factors[j]; });
    }
}

SDX_CLONES void log_softmax_column_block(const Workers& threads, const float* in, int64_t n,
                                         int64_t stride, int64_t count, float* out) {
    float greatest[kColumnsAtOnce], shifts[kColumnsAtOnce];
    double sums[kColumnsAtOnce];
    std::fill_n(sums, count, 0.0);
    bool goes_on = find_greatest_of_columns(threads, in, n, stride, count, greatest);
    goes_on = goes_on && for_columns(threads, n, stride, count, [&](int64_t i, int64_t j) {
                  float x = in[i] - greatest[j];
                  float power = vector_exp_near(x);
                  out[i] = x < kLeastNormal ? 0.0f : power;
              });
    goes_on = goes_on && for_columns(threads, n, stride, count, [&](int64_t i, int64_t j) {
                  sums[j] += static_cast<double>(out[i]);
              });
    for (int64_t j = 0; j < count; ++j) {
        shifts[j] = static_cast<float>(vector_log_of_sum(sums[j]));
    }
    if (goes_on) {
        for_columns(threads, n, stride, count,
                    [&](int64_t i, int64_t j) { out[i] = in[i] - greatest[j] - shifts[j]; });
    }
}

}  // namespace

void softmax_rows(const Workers& threads, const float* in, int64_t n, int64_t count, float* out) {
    for (int64_t r = 0; r < count; r += kFoldRows) {
        softmax_block(threads, in + r * n, n, std::min(kFoldRows, count - r), out + r * n);
    }
}

void log_softmax_rows(const Workers& threads, const float* in, int64_t n, int64_t count,
                      float* out) {
    for (int64_t r = 0; r < count; r += kFoldRows) {
        log_softmax_block(threads, in + r * n, n, std::min(kFoldRows, count - r), out + r * n);
    }
}

void log_sums_of_rows(const Workers& threads, const float* in, int64_t n, int64_t count,
                      float* powers, double* out) {
    for (int64_t r = 0; r < count; r += kFoldRows) {
        log_sums_of_block(threads, in + r * n, n, std::min(kFoldRows, count - r), powers, out + r);
    }
}

void softmax_columns(const Workers& threads, const float* in, int64_t n, int64_t stride,
                     int64_t count, float* out) {
    for (int64_t j = 0; j < count; j += kColumnsAtOnce) {
        softmax_column_block(threads, in + j, n, stride, std::min(kColumnsAtOnce, count - j),
                             out + j);
    }
}

void log_softmax_columns(const Workers& threads, const float* in, int64_t n, int64_t stride,
                         int64_t count, float* out) {
    for (int64_t j = 0; j < count; j += kColumnsAtOnce) {
        log_softmax_column_block(threads, in + j, n, stride, std::min(kColumnsAtOnce, count - j),
                                 out + j);
    }
}

}  // namespace sardonyx::eval
