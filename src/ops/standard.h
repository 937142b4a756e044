// Which operator a schema is of. Other domains may use the names of ai.onnx.
#pragma once

#include <string_view>

#include "ops/ops.h"

namespace sardonyx::ops {

inline bool is_standard(const Schema& schema, std::string_view name) {
    return schema.name == name && schema.domain.empty();
}

}  // namespace sardonyx::ops
