// What only the interpreter, which is above, can ask an instance: for its items and its text.
#pragma once

#include <optional>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What `__iter__` of an instance gives; nothing: its class has none.
std::optional<Object> asked_iterator(Context& c, const Object& instance);

// What the method of an instance answers, `__repr__` or `__str__`: a string, or the error object
// after a diagnostic.
Object asked_text(Context& c, const Object& instance, const Object& method, std::string_view name,
                  syntax::Range range);

}  // namespace sardonyx::elaborate
