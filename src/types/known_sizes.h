// The sizes of a type that hold wherever it stands.
#pragma once

#include "types/type.h"

namespace sardonyx {

// The type of a tensor with those of its sizes that are numbers; names and expressions, which mean
// something in one graph alone, become unknown. Other types stay as they are.
Type with_known_sizes(Type type);

}  // namespace sardonyx
