// Python's integers of more than 64 bits.
#pragma once

#include <optional>

#include "base/int128.h"
#include "bindings/bindings.h"

namespace sardonyx::python {

// The result of `__index__`; nothing if it needs more than 128 bits.
std::optional<Int128> wide_int_from_python(nb::handle object);
nb::object wide_int_to_python(Int128 value);

}  // namespace sardonyx::python
