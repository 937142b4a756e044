// Types in the words of messages.
#pragma once

#include <string>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The dimension, or unknown where it depends on a name that inference has invented: nobody has
// written that.
Dim as_written(const Dim& dim);
// Whether it is known, and depends on no such name.
bool is_written(const Dim& dim);

// "FLOAT[N, 4]", with "?" for such a dimension.
std::string type_text(const Type& type);
std::string dim_text(const Dim& dim);
// What the object is: the type of a tensor, else its value and kind: "static int 3",
// "list [FLOAT[N], static int 3]".
std::string type_text(const Object& object);

// Notes what a name is bound to, for Program::types.
void note_type(Context& c, syntax::Range range, const Object& object);

}  // namespace sardonyx::elaborate
