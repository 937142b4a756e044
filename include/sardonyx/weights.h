// Tensors by name, from files that hold nothing else, or from a model.
#pragma once

#include <sardonyx/array.h>
#include <sardonyx/export.h>

#include <functional>
#include <map>
#include <string>

namespace sardonyx {
inline namespace v1 {

// The tensors of a .safetensors, .npz or .npy file, or the initializers of a .onnx file, by name;
// that of a .npy file has none. Error: the file cannot be read, or is no such file.
SDX_API std::map<std::string, Array, std::less<>> load_weights(const std::string& path);

}  // namespace v1
}  // namespace sardonyx
