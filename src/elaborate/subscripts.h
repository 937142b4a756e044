// object[index], and what an index selects.
#pragma once

#include <optional>
#include <vector>

#include "elaborate/objects/context.h"
#include "lowering/subscript.h"

namespace sardonyx::elaborate {

// object[index]; `index_expr` is where the index stands.
Object subscript(Context& c, const Object& object, const Object& index,
                 const syntax::Expr* index_expr, syntax::Range range, syntax::Range object_range);

// An index of a tensor as lowering/subscript.h takes it; nothing after a diagnostic.
std::optional<std::vector<lowering::SubscriptItem<ir::Value*>>> subscript_items(
    Context& c, const Object& index, const syntax::Expr* index_expr);

// The places that a static slice selects of so many items, by Python's rules; nothing: its bounds
// are no integers, or its step is 0.
std::optional<RangeObject> slice_range(const SliceObject& slice, int64_t size);

// The rows of a tensor whose first dim is known, to be unpacked. Nothing: it is not known how many
// there are.
std::optional<std::vector<Object>> tensor_rows(Context& c, const Object& object,
                                               syntax::Range range);

}  // namespace sardonyx::elaborate
