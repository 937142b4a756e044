// A message in protobuf's text format: https://protobuf.dev/reference/protobuf/textformat-spec.
// Internal to proto/.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "proto/document.h"

namespace sardonyx::proto {

std::string write_text_format(const Message& message);
// Unknown fields and extensions are an error.
Result<void> read_text_format(std::string_view text, Document& document);

}  // namespace sardonyx::proto
