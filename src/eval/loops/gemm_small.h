// Products of matrices of small integers, as products of floats that are exact.
#pragma once

#include <cstdint>

#include "eval/loops/gemm.h"

namespace sardonyx::eval {

// False: not all numbers are small, and nothing is done.
bool multiply_small(const MatrixProduct<uint32_t>& product, const Workers& threads);

}  // namespace sardonyx::eval
