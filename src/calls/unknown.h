// What is said of an operator that an opset does not have: where it is, what stands for it, or
// which name was probably meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx::calls {

// In one line: "opset 18 of `ai.onnx` has no operator `Gelu`: it came with opset 20".
std::string unknown_operator(std::string_view domain, int64_t version, std::string_view name);

}  // namespace sardonyx::calls
