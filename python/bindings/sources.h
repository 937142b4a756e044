// The source text of Python functions.
#pragma once

#include <string>

#include "bindings/bindings.h"
#include "elaborate/elaborate.h"

namespace sardonyx::python {

// Everything that the scripts of this process have in common; never freed.
elaborate::Program& program();

// The file as a source of program(): read once for each state (size, time) of it on disk. No valid
// id for what cannot be read, as for a notebook's cell.
diagnostics::FileId source_of_file(const std::string& path);
// The same for text that somebody else keeps.
diagnostics::FileId source_of_text(const std::string& path, std::string text);

}  // namespace sardonyx::python
