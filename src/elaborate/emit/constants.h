// Constants of the graph.
#pragma once

#include <cstdint>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A constant node. Large constants of a model become initializers of its main graph; equal ones
// are one.
ir::Value* emit_constant(Context& c, Tensor tensor, syntax::Range range);

// The same, once per graph for equal small ones: literals, bounds and axes come again and again.
ir::Value* shared_constant(Context& c, Tensor tensor, syntax::Range range);

// An array that becomes an initializer is named after the variable or key that it came from: the
// first one that the script reads it by.
enum class NamedBy : uint8_t { kVariable, kKey };
void name_array(Context& c, const Object& object, std::string_view name, NamedBy by);

// The same name for what an index selects of an array.
void name_part(Context& c, const Object& part, const Object& whole);

// Gives the initializers those names, at the end.
void name_initializers(Context& c);

}  // namespace sardonyx::elaborate
