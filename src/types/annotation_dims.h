// The dimensions that a string in an annotation says: FLOAT["N"], FLOAT["N+1"], FLOAT["M N 4"],
// FLOAT["2 <= N <= 512"].
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "types/type.h"

namespace sardonyx {

// One dimension where the text as a whole is an expression, else one for each word, which may be an
// expression, a name with bounds or any other name. "?" is an unknown dimension. The error says why
// there is none.
Result<Shape> annotation_dims(std::string_view text);
// What says the Dim in an annotation, with its bounds: "2 <= N <= 512", "N", "2*N+1", "4". "?":
// unknown.
std::string annotation_of_dim(const Dim& dim);

}  // namespace sardonyx
