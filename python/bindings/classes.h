// Classes of Python that the script's own files define, as classes of the compiler: for instances
// that hold tensors, which Python cannot make.
#pragma once

#include <optional>
#include <string>

#include "bindings/bindings.h"
#include "elaborate/objects/object.h"

namespace sardonyx::python {

// The class as one of the compiler's; nothing: it means something else, or is not of the folder of
// the script, whose file is `path`.
std::optional<elaborate::Object> class_of_program(nb::handle kind, const std::string& path);

}  // namespace sardonyx::python
