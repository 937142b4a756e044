// Methods of lists, strings, dicts and tensors.
#pragma once

#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Calls a method of a list, string, dict or tensor.
Object call_method(Context& c, const MethodObject& method, const Arguments& arguments);

// Whether the method of this name changes its list or dict.
bool is_changing_method(std::string_view name);

// Whether a list or dict is among the parts of an object: no list may be put into itself.
bool holds(const Object& object, const Object& list);

// Whether a list or dict that is changed is no other one that the script holds, whatever the run
// decides; reported otherwise.
bool is_certain_to_change(Context& c, const Object& object, syntax::Range range);

// Whether a list, dict or set may be changed here, which is reported otherwise: not in a graph that
// runs later, or never, or often; and not one that outlives the compilation.
bool may_change(Context& c, const Object& object, syntax::Range range, std::string_view help);

}  // namespace sardonyx::elaborate
