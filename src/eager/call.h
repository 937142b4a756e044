// What the schema and the tensors of a call settle of it: the element types of its literals, and
// how many results it has.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "calls/literal_types.h"
#include "eager/surface.h"
#include "ir/ir.h"
#include "ops/ops.h"

namespace sardonyx::eager {

ElementType element_type_of(const RuntimeValue& value);

// What calls::wanted_type() says beside these values; no pointer is null.
inline ElementType wanted_type(const ops::Schema& schema,
                               std::span<const RuntimeValue* const> inputs, size_t index) {
    return calls::wanted_type(schema, inputs.size(), index,
                              [inputs](size_t i) { return element_type_of(*inputs[i]); });
}

// How many results the call has; nothing: as many as its caller takes, of those that the schema has
// (output_count). No pointer is null.
std::optional<size_t> settled_output_count(const ops::Schema& schema,
                                           std::span<const RuntimeValue* const> inputs,
                                           std::span<const ir::Attribute> attributes);
// The same for a caller that takes `wanted` results; 0: it does not say.
size_t output_count(const ops::Schema& schema, size_t wanted);

// What is said of an operator that has no kernel.
std::string no_implementation(std::string_view domain, std::string_view name);

}  // namespace sardonyx::eager
