// Python's text: methods of strings, and formatting by a specification.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "elaborate/eval.h"

namespace sardonyx::elaborate {

// format(object, spec); the error object after a diagnostic.
Object format_object(Context& c, const Object& object, std::string_view spec, syntax::Range range);

// "text".method(...).
Object string_method(Context& c, const MethodObject& method, const Arguments& arguments);

}  // namespace sardonyx::elaborate
