// What a schema file calls types of values and of attributes.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ops/ops.h"

namespace sardonyx::schemas {

// Adds "FLOAT", "Sequence[FLOAT]", "Optional[FLOAT]", "Optional[Sequence[FLOAT]]" or "any" to a
// set; false: it is none of these.
bool add_type(std::string_view text, ops::TypeSet& types);

// "int", "floats", "graph", ...
std::optional<ops::AttributeType> attribute_type(std::string_view text);

// For "did you mean".
std::span<const std::string_view> attribute_type_names();

}  // namespace sardonyx::schemas
