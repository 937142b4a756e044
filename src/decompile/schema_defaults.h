// Attributes that say what would be so without them.
#pragma once

#include "ir/ir.h"
#include "ops/ops.h"

namespace sardonyx::decompile {

// Whether the attribute has the default that the schema gives it; `schema` may be null.
bool is_default_of(const ops::Schema* schema, const ir::Attribute& attribute);

}  // namespace sardonyx::decompile
