// A .pt2 file of PyTorch as a script, and as the model that the script compiles to.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "driver/driver.h"
#include "driver/line_metadata.h"
#include "models/runtimes.h"
#include "torch/library.h"
#include "torch/program.h"
#include "torch/script.h"
#include "torch/sizes.h"
#include "weights/weights.h"

namespace sardonyx::driver {

// The opset of a model for which none is chosen.
constexpr int64_t kTorchOpset = 20;
constexpr int64_t kOldestTorchOpset = 18;  // that the library of operators is written for

// What a model is for.
struct TorchTarget {
    int64_t opset = kTorchOpset;
    std::optional<models::Runtime> runtime;  // nothing: any
};
// Of a release such as "onnxruntime-1.20" and an opset, where they are chosen. Error: there is no
// such release, or it does not take the opset.
Result<TorchTarget> torch_target(std::optional<std::string_view> release,
                                 std::optional<int64_t> opset);

struct TorchOptions {
    torch::DimNames dims;  // names of dimensions in place of those in the file
    std::string state;     // "outputs" unless given; "drop", "error"
    // Names of inputs and outputs in place of torch's, in order.
    std::vector<std::string> input_names;
    std::vector<std::string> output_names;
    torch::OwnOperators own;  // which win over those of the library
};

// Gives the inputs and outputs of a program the names that the caller wants. Error: one is no name,
// or there are too many.
Result<void> rename_ends(torch::Program& program, const TorchOptions& options);

// What has been read of a file; or what has been captured in memory, whose arrays the caller has.
struct TorchFile {
    torch::Program program;
    weights::NamedTensors arrays;  // those that the program uses, views of the file
    FileStamps files;              // that the arrays are views of
    torch::OwnOperators own;
    std::string size_warning;  // of the file (torch/guards.h), or empty
};
Result<TorchFile> read_torch_file(const std::string& path, const TorchOptions& options);

// The script, which stands alone but for the files of its weights and of the user's operators;
// `weights` empty: it takes them from `w`.
torch::Script script_of(const TorchFile& file, int64_t opset, const std::string& weights);
// Metadata of nodes by the lines of such a script.
LineMetadata metadata_of(const torch::Script& script);

// The bytes of the model, made fit for the release of ONNX Runtime where one is given. Error: what
// the compiler says, by the lines of the module.
Result<std::string> torch_model_bytes(const TorchFile& file, const TorchTarget& target);
// Writes the script, and beside it its weights as .safetensors; `outline`: with modules that repeat
// as functions.
Result<void> write_torch_script(const TorchFile& file, int64_t opset, bool outline,
                                const std::string& path);
// Writes the model, made fit for the release of ONNX Runtime where one is given; large weights go
// to a file beside it where all are more than fit into one. `watch`: of SaveOptions.
Result<size_t> write_torch_model(const TorchFile& file, const TorchTarget& target,
                                 const std::string& path,
                                 std::function<void(size_t done, size_t all)> watch = {});

}  // namespace sardonyx::driver
