// Python's text: methods of strings, and formatting by a specification.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/calls.h"
#include "elaborate/operator_binding.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

// format(object, spec); the error object after a diagnostic.
// text % values, as in "%d of %s" % (a, b): static values alone.
Object format_percent(Context& c, const std::string& text, const Object& values,
                      syntax::Range range);

Object format_object(Context& c, const Object& object, std::string_view spec, syntax::Range range);

// "text".method(...).
Object string_method(Context& c, const MethodObject& method, const Arguments& arguments);

}  // namespace sardonyx::elaborate
