// A message as protobuf's JSON: https://protobuf.dev/programming-guides/json. Internal to proto/.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "proto/document.h"

namespace sardonyx::proto {

// Fields have the names of onnx.proto. Error: a text that is not UTF-8.
Result<std::string> write_json(const Message& message);
// Both names of a field are understood; unknown ones are an error.
Result<void> read_json(std::string_view text, Document& document);

}  // namespace sardonyx::proto
