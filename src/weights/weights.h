// Files of named tensors: .safetensors, the initializers of an .onnx, .npz, and .npy with one
// tensor.
//
// Files are mapped: a tensor is a view of its bytes, which are read when somebody looks at them.
// What is not little-endian, not in C order or not aligned for its type is copied.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "types/tensor.h"

namespace sardonyx::weights {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// By what the name of the file ends in. The tensor of an .npy has no name. External data of an
// .onnx comes from its folder alone. The error names the file.
Result<NamedTensors> read_weights(const std::string& path);

// Of names, types and elements, in this order.
uint64_t content_hash(const NamedTensors& tensors);

// In the order of the header. `owner` keeps `bytes` alive.
Result<NamedTensors> read_safetensors(std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner);
// Whether a .safetensors file can hold elements of this type.
bool has_safetensors(ElementType type);
// The bytes before the tensors' own, which stand one after the other in the order of `tensors`.
// The names differ. Error: a type that the format does not have.
Result<std::string> safetensors_header(const NamedTensors& tensors);

// An archive of .npy files as numpy.savez and numpy.savez_compressed write it. Names are those of
// the files without `.npy`.
Result<NamedTensors> read_npz(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
// Whether zlib is there, which compressed .npz files need; it loads it.
bool has_zlib();

}  // namespace sardonyx::weights
