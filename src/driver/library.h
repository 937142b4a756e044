// Functions of several models as one library.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "driver/driver.h"

namespace sardonyx::driver {

// A model with an empty graph that has the functions of all; of equal names the first.
Result<std::unique_ptr<ir::Model>> make_library(std::span<const CompiledScript> scripts);

}  // namespace sardonyx::driver
