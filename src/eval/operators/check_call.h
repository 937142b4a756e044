// A call against its schema, before a kernel sees it.
#pragma once

#include <span>
#include <string>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// Whether the call fits the schema: the number of inputs and outputs, that
// required inputs are there, kinds, element types, and that inputs of one type variable agree.
Status check_call(const ops::Schema& schema, std::span<const RuntimeValue* const> inputs,
                  size_t output_count);
// Whether each attribute is known, of the right type and a legal value, and none is missing. A
// reference without a binding passes.
Status check_attributes(const ops::Schema& schema, const AttributeView& attributes);

// "FLOAT[2,3], INT64[2]".
std::string describe_inputs(std::span<const RuntimeValue* const> inputs);

}  // namespace sardonyx::eval
