// Releases of ONNX Runtime: which one a model needs, and what one takes.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::models {

// "1.17": the first release known to take the model's opsets and IR version; empty: none is known.
// Operators of other domains say nothing here.
std::string needed_runtime(const ir::Model& model);

struct Runtime {
    int major = 0, minor = 0;
    friend auto operator<=>(const Runtime&, const Runtime&) = default;
};
// Of "onnxruntime-1.20" or "onnxruntime-1.20.1". Error: another word, or a release older than those
// whose kernels are known (runtime_kernels.h).
Result<Runtime> read_runtime(std::string_view text);
// "ONNX Runtime 1.20".
std::string words_of(Runtime runtime);

// The newest versions that a release takes.
struct RuntimeLimits {
    int64_t standard = 0, ml = 0, ir = 0;
};
RuntimeLimits limits_of(Runtime runtime);

// The opset of ai.onnx for a model that the release is to run: `wanted`, or else `usual` where the
// release takes it. Error: it does not take the one that is wanted.
Result<int64_t> opset_for(Runtime runtime, std::optional<int64_t> wanted, int64_t usual);

}  // namespace sardonyx::models
