#include "eval/loops/softmax.h"

#include <algorithm>
#include <cmath>
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

// out[i] = e^(in[i] - greatest of the row) / kPowerUnit, the greatest ones and the sums of the
// powers themselves, for `count` <= kFoldRows rows.
[[gnu::always_inline]] inline RowPowers row_powers(const Workers& threads, const float* in,
                                                   int64_t n, int64_t count, float* out) {
    RowPowers powers{};
    // What is no number is left out here, and makes a sum that is none.
    auto greater = [](float a, float b) { return b > a ? b : a; };
    fold_rows(in, n, count, -std::numeric_limits<float>::infinity(), greater, greater,
              powers.greatest, &threads);
    for (int64_t r = 0; r < count; ++r) {
        // No element is above the greatest.
        float greatest = powers.greatest[r];
        bool goes_on = for_row(threads, n, r, [&](int64_t begin, int64_t end) {
            SDX_INDEPENDENT_LOOP
            for (int64_t i = begin; i < end; ++i) {
                float x = in[i] - greatest;
                // Below its least argument it is some number.
                float power = vector_exp_scaled(x);
                out[i] = x < kLeastPower ? 0.0f : power;
            }
        });
        if (!goes_on) {
            return powers;
        }
    }
    fold_rows(
        out, n, count, 0.0, [](double a, float x) { return a + static_cast<double>(x); },
        [](double a, double b) { return a + b; }, powers.sums, &threads);
    for (int64_t r = 0; r < count; ++r) {
        powers.sums[r] *= kPowerUnit;
    }
    return powers;
}

SDX_CLONES void softmax_block(const Workers& threads, const float* in, int64_t n, int64_t count,
                              float* out) {
    RowPowers powers = row_powers(threads, in, n, count, out);
    for (int64_t r = 0; r < count; ++r) {
        auto factor = static_cast<float>(kPowerUnit / powers.sums[r]);
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
    RowPowers powers = row_powers(threads, in, n, count, out);
    for (int64_t r = 0; r < count; ++r) {
        float greatest = powers.greatest[r];
        auto shift = static_cast<float>(std::log(powers.sums[r]));
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
    RowPowers powers = row_powers(threads, in, n, count, scratch);
    for (int64_t r = 0; r < count; ++r) {
        out[r] = std::log(powers.sums[r]) + static_cast<double>(powers.greatest[r]);
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

}  // namespace sardonyx::eval
