// The text form of onnx.parser as a ModelProto. Internal to proto/.
#pragma once

#include <string_view>

#include "base/result.h"
#include "proto/document.h"

namespace sardonyx::proto {

// What onnx.parser takes, but for what it takes and reads as something else: lists of tensors,
// graphs and types, and of integers among others.
Result<void> read_onnx_text(std::string_view text, Document& document);

}  // namespace sardonyx::proto
