// NumPy's .npy files <-> tensors (format versions 1.0 to 3.0; numpy.lib.format describes them).
//
// The header is a Python dict literal and is read as nothing else: object arrays, which hold
// pickled code, and structured types are refused. Every length is checked against the bytes that
// are there.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "types/tensor.h"

namespace sardonyx::weights {

// `wanted` tells what the bytes of a void type (`V1`, `V2`) are, which ml_dtypes' bfloat16, float8
// and narrower types have in files; kUndefined: such a file is an error. C-ordered little-endian
// data is a view of `bytes`, which `owner` keeps alive; anything else is copied.
Result<Tensor> read_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                        ElementType wanted = ElementType::kUndefined);
Result<Tensor> read_npy_file(const std::string& path, ElementType wanted = ElementType::kUndefined);

// Version 1.0, C order, little-endian, as numpy.save writes it. Types that NumPy lacks become void
// types of one or two bytes, one element each.
Result<std::string> write_npy(const Tensor& tensor);

}  // namespace sardonyx::weights
