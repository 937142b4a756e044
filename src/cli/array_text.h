// Numbers for people: a tensor as NumPy would print it.
#pragma once

#include <string>

#include "types/tensor.h"

namespace sardonyx::cli {

// Nested brackets, columns aligned; of more than 1000 elements, the first and last three along each
// axis.
std::string array_text(const Tensor& tensor);

// All elements as nested lists of JSON; NaN and Infinity as Python's json writes them.
std::string json_text(const Tensor& tensor);

}  // namespace sardonyx::cli
