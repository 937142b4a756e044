// A run as a folder of the onnx backend tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "eval/eval.h"
#include "ir/ir.h"

namespace sardonyx::cli {

// Writes FOLDER/model.onnx and FOLDER/test_data_set_0/input_0.pb, ..., output_0.pb, ...: the inputs
// of the graph in order, up to the last that is given, and its outputs. Gives a line for the user.
// Error: the folder holds other files; a map, or nothing at all, for which these tests have no
// file.
Result<std::string> write_testcase(
    const std::string& folder, const ir::Model& model,
    std::span<const std::pair<std::string_view, eval::RuntimeValue>> inputs,
    std::span<const eval::RuntimeValue> outputs);

}  // namespace sardonyx::cli
