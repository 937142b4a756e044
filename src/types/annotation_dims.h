// The dimensions that a string in an annotation says: FLOAT["N"], FLOAT["N+1"], FLOAT["M N 4"].
#pragma once

#include <string_view>

#include "base/result.h"
#include "types/type.h"

namespace sardonyx {

// One dimension where the text as a whole is an expression, else one for each word, which may be an
// expression or any other name. "?" is an unknown dimension. The error says why there is none.
Result<Shape> annotation_dims(std::string_view text);

}  // namespace sardonyx
