// `sardonyx run --compare PEER`: finds the first value that a peer computes otherwise.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diagnostics/source.h"
#include "eval/eval.h"

namespace sardonyx::cli {

struct Comparison {
    std::string peer;  // "onnxruntime", "reference", or another .onnx file
    // The file of the model; empty: it was made from a script.
    std::string path;
    const diagnostics::Sources* sources = nullptr;  // of the script
    // What passes, in place of what rounding makes of the type: differences of so much, and so
    // large a part of an element.
    std::optional<double> absolute = {}, relative = {};

    // Whether the peer runs this model, and not another one.
    bool is_runtime() const { return peer == "onnxruntime" || peer == "reference"; }
};

// Runs the model and the peer on these inputs, and prints what agrees and the first node whose
// values do not. True: all agree. Values go by name, outputs of another model also by their order,
// and are kept in a temporary folder. Errors: the peer is not installed or cannot run the model, an
// input that is no tensor, no value in common.
Result<bool> compare(const ir::Model& model,
                     const std::vector<std::pair<std::string_view, eval::RuntimeValue>>& inputs,
                     const eval::RunOptions& options, const Comparison& comparison);

}  // namespace sardonyx::cli
