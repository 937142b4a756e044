// Sizes: what x.shape holds. A size is an int, or a number that is known when the graph runs and of
// which infer may know a symbolic Dim; x.shape is a tuple of sizes. What is certain about them is
// decided here, so that it needs no nodes.
#pragma once

#include <optional>
#include <vector>

#include "elaborate/objects/context.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

// x.shape: a tuple where the rank is known.
Object shape_of(Context& c, ir::Value* value, syntax::Range range);
// One item of it; the axis is in range where the rank is known.
Object size_of_axis(Context& c, ir::Value* value, int64_t axis, syntax::Range range);

// An int to Python: static, or an INT64 number of the run.
bool is_python_int(const Object& object);
// A list or tuple of such alone, one at least: a tensor wherever one is needed.
bool is_int_sequence(const Object& object);

// The result where it is certain, or is one of the operands: n - n, n * 1, max(n, 0). Operands are
// Python ints.
std::optional<Object> settled_binary(lowering::Binary op, const Object& a, const Object& b);
enum class Extreme : uint8_t { kMin, kMax };
std::optional<Object> settled_extreme(Extreme which, const Object& a, const Object& b);
// ==, !=, <, <=, > and >= of Python ints: n == n, n >= 0, n + 1 != n.
std::optional<bool> settled_compare(syntax::CompareOp op, const Object& a, const Object& b);
// Whether it is not zero.
std::optional<bool> settled_truth(const Object& object);

// The sizes of one tensor that stand side by side in `leaves` from `first` on, as one vector: by
// one node. `count`: how many they are. Null: the leaf is no size whose tensor is known.
ir::Value* joined_sizes(Context& c, const std::vector<Object>& leaves, size_t first, size_t& count,
                        syntax::Range range);

// What a size 0 of a Reshape means.
enum class ZeroSize : uint8_t { kStays, kEmpty };

// The sizes of a Reshape of `data` as static ints, where it says the same with 0 for an axis that
// stays as it is (where it means that), or with -1 for the only size that is known in the run
// alone. Nothing: there is no such form, or the sizes are static as they stand.
std::optional<Object> reshape_sizes(const ir::Value* data, const Object& sizes, ZeroSize zero);

}  // namespace sardonyx::elaborate
