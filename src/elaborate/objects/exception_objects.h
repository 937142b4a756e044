// Exceptions as objects: what a call of their class makes, and what `BaseException.__init__` does.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::elaborate {

// A new instance, as `BaseException.__new__` makes it: with its arguments as `args`, before an
// `__init__` of the program runs. The error object after a diagnostic.
Object new_exception(Context& c, Namespace& type, const Arguments& a);

// A call of a class of exceptions that is built into Python.
Object builtin_exception(Context& c, std::string_view name, const Arguments& a);

// BaseException.__init__(self, *args), where no class of the program has one.
Object exception_init(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
