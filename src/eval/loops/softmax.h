// Softmax of rows and columns of float, for Softmax itself, attention and the losses.
#pragma once

#include <cstdint>

#include "eval/runtime/parallel.h"

namespace sardonyx::eval {

// All on one thread, and of use only if the run has not been stopped meanwhile.

// out[r, i] = e^in[r, i] through the sum of these over the row; any number of rows, which follow
// each other. `out` may be `in`. A row with NaN or +inf, or with nothing but -inf, becomes NaN.
void softmax_rows(const Workers& threads, const float* in, int64_t n, int64_t count, float* out);

// out[r, i] = the logarithm of that, which keeps its digits where the softmax is near 0; `out` is
// not `in`.
void log_softmax_rows(const Workers& threads, const float* in, int64_t n, int64_t count,
                      float* out);

// The same of columns: line j is in[j], in[j + stride] and so on, n elements, for j < count.
void softmax_columns(const Workers& threads, const float* in, int64_t n, int64_t stride,
                     int64_t count, float* out);
void log_softmax_columns(const Workers& threads, const float* in, int64_t n, int64_t stride,
                         int64_t count, float* out);

// out[r] = the logarithm of the sum of e^in[r, i] over the row. `powers` has room for
// kFoldRows * n numbers.
void log_sums_of_rows(const Workers& threads, const float* in, int64_t n, int64_t count,
                      float* powers, double* out);

}  // namespace sardonyx::eval
