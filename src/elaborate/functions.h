// A script as a function of ONNX: its parameters as inputs and attributes.
#pragma once

#include <string_view>

#include "elaborate/facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

// A parameter as an input or attribute of the function.
void bind_function_parameter(Context& c, ir::Function& target, const BoundParameter& one,
                             const Fact& fact);

// The text that the statements of a function or class begin with.
std::string_view docstring(syntax::Stmts body);

}  // namespace sardonyx::elaborate
