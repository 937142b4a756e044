// Literal arguments in a .pt2 file: JSON may hold anything.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "torch/program.h"

namespace sardonyx::torch {

// Numbers, words, and lists of them. `error`: why it is none, unless it holds an earlier one.
Value read_literal(JsonValue value, std::string& error, int depth = 0);
// Numbers, and the words for those that JSON does not have.
Value read_real(JsonValue value, std::string& error, int depth = 0);

// A part of a file in a message.
std::string shown(std::string_view text);

}  // namespace sardonyx::torch
