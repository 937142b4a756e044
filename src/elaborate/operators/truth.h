// Truth values of conditions and of what stands in `and`, `or` and chains of comparisons.
#pragma once

#include <string>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A truth value for `if`, `while`, `and`, ...: static, or a BOOL tensor of one element. Reports
// what has none.
Object condition(Context& c, const Object& object, syntax::Range range);

bool has_one_element(const Type& type);

// A BOOL tensor of one element, to be combined with another one. Null, and a diagnostic, for
// others; where the shape is not known, Reshape looks at it when the graph runs.
ir::Value* truth_operand(Context& c, const Object& object, syntax::Range range,
                         std::string_view word, const std::string& repair);

}  // namespace sardonyx::elaborate
