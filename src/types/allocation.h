// Memory for the elements of tensors.
#pragma once

#include <memory>

#include "types/tensor.h"

namespace sardonyx {

// Small storage lies beside its reference count: one plain allocation, where an aligned one takes
// several times as long.
std::shared_ptr<std::byte> allocate(size_t size);

}  // namespace sardonyx
