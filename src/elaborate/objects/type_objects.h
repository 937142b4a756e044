// The types of values that objects name: FLOAT[2], Sequence[FLOAT], OPTIONAL[FLOAT].
#pragma once

#include <optional>
#include <string_view>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

// ONNX's type of a value that may be absent when the model runs. typing.Optional is another thing:
// an input that a call may leave out.
inline constexpr std::string_view kOptionalType = "OPTIONAL";

// Whether a class of Python names a list of what is in its brackets.
bool names_list(std::string_view python_type);

// Nothing: it names none.
std::optional<Type> named_type(const Object& object);

}  // namespace sardonyx::elaborate
