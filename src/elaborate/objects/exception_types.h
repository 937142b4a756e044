// The classes of exceptions that are built into Python, and which one a mistake is.
#pragma once

#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What a special method gives where it does not know the other operand.
inline constexpr std::string_view kNotImplemented = "NotImplemented";

// What has just been reported is an exception of this class to Python. Returns the error object.
Object raises(Context& c, std::string_view type);

// Whether a name is a class of exceptions that is built into Python.
bool is_exception_type(std::string_view name);

bool is_subclass(std::string_view type, std::string_view base);

// The class that an object names; empty: it is none.
std::string_view exception_type(const Object& object);

}  // namespace sardonyx::elaborate
