// Literals and lines of C++.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/tensor.h"

namespace sardonyx::decompile {

// A literal of a std::string, of any bytes; it cannot end before its end.
std::string cpp_string(std::string_view text);
// An expression that is exactly this float, NaN and its bits included.
std::string cpp_float(float value);
std::string cpp_int(int64_t value);
// `std::vector<int64_t>{1, 2}`
std::string cpp_ints(const std::vector<int64_t>& values);
// An expression of type sardonyx::Array that is the tensor. Error: it is too large for a text.
Result<std::string> cpp_array(const Tensor& tensor);

// Names that no variable can have: keywords, names of the text's own, and macros of the C library
// in small letters.
std::span<const std::string_view> cpp_taken_names();

// Appends a line at an indent, broken behind commas where it is too long.
void append_cpp_line(std::string& text, size_t indent, std::string_view line);

}  // namespace sardonyx::decompile
