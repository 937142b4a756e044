// The words of a model that its script has no place for, as a text that stands in the script.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/ir.h"
#include "models/like.h"
#include "proto/as_read.h"

namespace sardonyx::models {

// Names, order, documentation, metadata, stated types: the model, as it was read, without those
// large tensors that `compiled`, which its script becomes, has itself; as base64.
Result<std::string> exact_words(const ir::Model& model, const proto::Source& source,
                                const ir::Model& compiled);

// Gives what a script has become these words (like.h says which, where the script has been
// changed). `source` becomes what that model was read from. Error: they are none.
Result<void> apply_exact_words(std::unique_ptr<ir::Model>& compiled, std::string_view words,
                               proto::Source& source, FirstDifference difference);

}  // namespace sardonyx::models
