// A model without what its results do not need.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ir/ir.h"
#include "models/unused.h"

namespace sardonyx::models {

struct StripRequest {
    bool docs = true;      // documentation of all parts, and what made the model
    bool metadata = true;  // of all parts
    bool types = true;     // of inner values
    bool names = true;     // of nodes
    bool unused = true;    // nodes, initializers and functions
    bool notes = true;     // what the file says beside: training, devices, quantization
};

struct Stripped {
    size_t docs = 0, metadata = 0, types = 0, names = 0, notes = 0;
    Removed removed;
};

Result<Stripped> strip(ir::Model& model, const StripRequest& request);

}  // namespace sardonyx::models
