// The classes of exceptions: those that are built into Python and those of files, and which one a
// mistake is.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What a special method gives where it does not know the other operand.
inline constexpr std::string_view kNotImplemented = "NotImplemented";

// What has just been reported is an exception of this class to Python. Returns the error object.
Object raises(Context& c, std::string_view type);
Object raises(Context& c, const ExceptionType& type);

// Whether a name is a class of exceptions that is built into Python.
bool is_exception_type(std::string_view name);

// The name of such a class, which lives as long as the program; empty: it is none.
std::string_view exception_name(std::string_view name);

// The class of Python's exceptions that a class with these bases is derived from; empty: none.
// Nothing: it is derived from several.
std::optional<std::string_view> inherited_exception(const std::vector<const Namespace*>& bases);

bool is_subclass(const ExceptionType& type, const ExceptionType& base);

// The class that an object names, one of Python's or of a file. Empty: it is none.
ExceptionType exception_type(const Object& object);

// The class of an object that is an exception, with the object. Empty: it is none.
ExceptionType exception_of(const Object& object);

// What an exception holds of the arguments that its class was called with.
inline constexpr std::string_view kArgs = "args";

}  // namespace sardonyx::elaborate
