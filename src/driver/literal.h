// Python literals on the command line and in options: `3`, `1e-5`, `[1, 2]`, `'text'`, `True`.
#pragma once

#include <string>

#include "base/result.h"
#include "elaborate/objects/object.h"

namespace sardonyx::driver {

// The value of an expression without names of its own. A bare word that is no literal is a string:
// `linear` is "linear".
Result<elaborate::Object> read_literal(const std::string& text);
// The same of numbers, where `nan` and `inf` are floats, and the words of JSON mean what they do
// there; of a JSON file too, whose object becomes a dict.
Result<elaborate::Object> read_numbers(const std::string& text);

// The tensor of a number, a string, or nested lists of them. `type` kUndefined: what Python's
// values imply (int INT64, float FLOAT, bool BOOL, str STRING).
Result<Tensor> to_tensor(const elaborate::Object& literal, ElementType type);

}  // namespace sardonyx::driver
