// A ModelProto in the text form of onnx.parser. Internal to proto/.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "proto/document.h"

namespace sardonyx::proto {

// What results do not depend on and the form has no words for is left out, which a comment at the
// top says; anything else is an Error.
Result<std::string> write_onnx_text(const Message& model);
// For people: tensors of more elements than these are cut short, and a comment says what cannot be
// read back.
std::string show_onnx_text(const Message& model, int64_t most_elements);

}  // namespace sardonyx::proto
