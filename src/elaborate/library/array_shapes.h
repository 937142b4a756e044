// NumPy's functions that give known arrays other shapes, or put their elements elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "types/tensor.h"

namespace sardonyx::elaborate {

Object np_transpose(Context& c, const Arguments& a);

Object np_flip(Context& c, const Arguments& a);

Object np_tile(Context& c, const Arguments& a);

Object np_repeat(Context& c, const Arguments& a);

Object np_expand_dims(Context& c, const Arguments& a);

Object np_squeeze(Context& c, const Arguments& a);

Object np_reshape(Context& c, const Arguments& a);

Object np_ravel(Context& c, const Arguments& a);

Object np_broadcast_to(Context& c, const Arguments& a);

Object np_rot90(Context& c, const Arguments& a);

Object np_roll(Context& c, const Arguments& a);

Object np_swapaxes(Context& c, const Arguments& a);

Object np_moveaxis(Context& c, const Arguments& a);

Object np_fliplr(Context& c, const Arguments& a);

Object np_flipud(Context& c, const Arguments& a);

// --- For other functions of NumPy ----------------------------------------------------------------

Object constant_of(Tensor tensor);

// An array whose elements can be moved; null: it is none.
const Tensor* known_array(const Object* object);

// The ints of an int, tuple or list; nothing: it has others.
std::optional<std::vector<int64_t>> ints_of(Context& c, const Object& object);

// The int at a place or of a keyword; `otherwise` where it is not given. Nothing: it is no int.
std::optional<int64_t> int_argument(const Arguments& a, size_t place, std::string_view name,
                                    int64_t otherwise);

// How many elements lie between neighbours along each axis.
std::vector<int64_t> strides_of(const Dims& dims);

// The array of these dims whose elements stand where `place` says; nothing: it is too large.
std::optional<Tensor> rearranged(const Tensor& array, const Dims& dims,
                                 const std::function<int64_t(const std::vector<int64_t>&)>& place);

// `size` elements of an axis from `first` on.
std::optional<Tensor> part_along(const Tensor& array, size_t axis, int64_t first, int64_t size);

// A view in NumPy: over the elements of the first argument, which may lie apart.
Object made_view(Context& c, const Arguments& a, std::string_view name,
                 std::optional<Tensor> tensor);

// An axis of an array of this rank, counted from its end too.
std::optional<size_t> axis_argument(const Arguments& a, size_t place, int64_t otherwise,
                                    size_t rank);

// Arrays of one type along an axis; nothing: other dims differ.
std::optional<Tensor> concatenated(const std::vector<Tensor>& arrays, size_t axis);

// The same along a new axis.
std::optional<Tensor> stacked(const std::vector<Tensor>& arrays, size_t axis);

// Casts arrays of one rank to their common type; false: the ranks differ, or a cast is not
// computed.
bool in_common_type(std::vector<Tensor>& arrays);

// The array, or that this is not computed.
Object made(Context& c, const Arguments& a, std::string_view name, std::optional<Tensor> tensor);

}  // namespace sardonyx::elaborate
