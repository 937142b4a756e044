#include "elaborate/library/array_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "elaborate/library/array_functions.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

std::optional<int64_t> int_argument(const Arguments& a, size_t place, std::string_view name,
                                    int64_t otherwise) {
    const Object* given = argument_of(a, place, name);
    return given == nullptr      ? std::optional(otherwise)
           : given->is_integer() ? std::optional(given->as_int())
                                 : std::nullopt;
}

Object constant_of(Tensor tensor) {
    return Object::make(ObjectKind::kConstant, std::move(tensor));
}

const Tensor* known_array(const Object* object) {
    return object != nullptr && object->is(ObjectKind::kConstant) &&
                   has_arithmetic(object->get<Tensor>().element_type())
               ? &object->get<Tensor>()
               : nullptr;
}

std::optional<size_t> axis_argument(const Arguments& a, size_t place, int64_t otherwise,
                                    size_t rank) {
    std::optional<int64_t> axis = int_argument(a, place, "axis", otherwise);
    int64_t size = static_cast<int64_t>(rank);
    if (!axis || *axis < -size || *axis >= size) {
        return std::nullopt;
    }
    return static_cast<size_t>(*axis < 0 ? *axis + size : *axis);
}

// Along an axis; nothing: other dims differ.
std::optional<Tensor> concatenated(const std::vector<Tensor>& arrays, size_t axis) {
    Dims dims = arrays[0].dims();
    dims[axis] = 0;
    for (const Tensor& array : arrays) {
        Dims own = array.dims();
        dims[axis] += own[axis];
        own[axis] = dims[axis];
        if (own != dims) {
            return std::nullopt;
        }
    }
    std::optional<int64_t> count = element_count(dims);
    if (!count || *count > kMostElements) {
        return std::nullopt;
    }
    Tensor result = Tensor::uninitialized(arrays[0].element_type(), dims);
    size_t size = byte_size(arrays[0].element_type(), 1);
    int64_t rows = std::accumulate(dims.begin(), dims.begin() + static_cast<int64_t>(axis),
                                   int64_t{1}, std::multiplies<>());
    std::byte* target = result.mutable_bytes().data();
    for (int64_t row = 0; row < rows; ++row) {
        for (const Tensor& array : arrays) {
            size_t length = size * static_cast<size_t>(array.count() / std::max<int64_t>(rows, 1));
            if (length != 0) {
                std::memcpy(target, array.bytes().data() + static_cast<size_t>(row) * length,
                            length);
            }
            target += length;
        }
    }
    return result;
}

std::optional<Tensor> stacked(const std::vector<Tensor>& arrays, size_t axis) {
    std::vector<Tensor> longer;
    for (const Tensor& array : arrays) {
        Dims dims = array.dims();
        dims.insert(dims.begin() + static_cast<int64_t>(axis), 1);
        longer.push_back(array.reshaped(std::move(dims)));
    }
    return concatenated(longer, axis);
}

bool in_common_type(std::vector<Tensor>& arrays) {
    ElementType type = arrays[0].element_type();
    for (const Tensor& array : arrays) {
        if (array.rank() != arrays[0].rank()) {
            return false;
        }
        type = promoted(type, array.element_type());
    }
    for (Tensor& array : arrays) {
        std::optional<Tensor> cast = cast_array(array, type);
        if (!cast) {
            return false;
        }
        array = std::move(*cast);
    }
    return true;
}

Object made(Context& c, const Arguments& a, std::string_view name, std::optional<Tensor> tensor) {
    return tensor ? constant_of(std::move(*tensor)) : refuse_array(c, a, name);
}

std::optional<std::vector<int64_t>> ints_of(Context& c, const Object& object) {
    if (object.is_integer()) {
        return std::vector<int64_t>{object.as_int()};
    }
    std::optional<std::vector<Object>> items =
        object.is_sequence() ? static_items(c, object) : std::nullopt;
    std::vector<int64_t> ints;
    for (size_t i = 0; items && i < items->size(); ++i) {
        if (!(*items)[i].is_integer()) {
            return std::nullopt;
        }
        ints.push_back((*items)[i].as_int());
    }
    return items ? std::optional(std::move(ints)) : std::nullopt;
}

std::vector<int64_t> strides_of(const Dims& dims) {
    std::vector<int64_t> strides(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * dims[i];
    }
    return strides;
}

std::optional<Tensor> rearranged(const Tensor& array, const Dims& dims,
                                 const std::function<int64_t(const std::vector<int64_t>&)>& place) {
    std::optional<int64_t> count = element_count(dims);
    if (!count || *count > kMostElements) {
        return std::nullopt;
    }
    std::vector<int64_t> places, index(dims.size(), 0);
    places.reserve(static_cast<size_t>(*count));
    for (int64_t i = 0; i < *count; ++i) {
        places.push_back(place(index));
        for (size_t axis = dims.size(); axis-- > 0 && ++index[axis] == dims[axis];) {
            index[axis] = 0;
        }
    }
    return gather(array, places, dims);
}

std::optional<Tensor> part_along(const Tensor& array, size_t axis, int64_t first, int64_t size) {
    Dims dims = array.dims();
    dims[axis] = size;
    std::vector<int64_t> strides = strides_of(array.dims());
    return rearranged(array, dims, [&](const auto& index) {
        int64_t place = first * strides[axis];
        for (size_t i = 0; i < index.size(); ++i) {
            place += index[i] * strides[i];
        }
        return place;
    });
}

Object made_view(Context& c, const Arguments& a, std::string_view name,
                 std::optional<Tensor> tensor) {
    return tensor ? array_view(c, a.positional[0], std::move(*tensor)) : refuse_array(c, a, name);
}

namespace {

// The same where the elements stay where they are.
Object made_reshaped(Context& c, const Arguments& a, std::string_view name,
                     std::optional<Tensor> tensor) {
    return tensor ? reshaped_view(c, a.positional[0], std::move(*tensor))
                  : refuse_array(c, a, name);
}

}  // namespace

namespace {

// The array with these axes of it, each once; nothing: they are others.
Object with_axes(Context& c, const Arguments& a, std::string_view name,
                 const std::vector<int64_t>& axes) {
    const Tensor& array = *known_array(&a.positional[0]);
    std::vector<int64_t> sorted = axes, all(array.dims().size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all) {
        return refuse_array(c, a, name);
    }
    Dims dims;
    for (int64_t axis : axes) {
        dims.push_back(array.dims()[static_cast<size_t>(axis)]);
    }
    std::vector<int64_t> strides = strides_of(array.dims());
    note_other_order(c);
    return made_view(c, a, name, rearranged(array, dims, [&](const auto& index) {
                         int64_t place = 0;
                         for (size_t i = 0; i < index.size(); ++i) {
                             place += index[i] * strides[static_cast<size_t>(axes[i])];
                         }
                         return place;
                     }));
}

// An axis as one that is counted from the first.
std::vector<int64_t> counted_axes(std::vector<int64_t> axes, size_t rank) {
    for (int64_t& axis : axes) {
        axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
    }
    return axes;
}

}  // namespace

Object np_transpose(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    const Object* given = argument_of(a, 1, "axes");
    if (array == nullptr || has_other_keywords(a, {"axes"})) {
        return refuse_array(c, a, "transpose");
    }
    size_t rank = array->dims().size();
    std::vector<int64_t> axes(rank);
    std::iota(axes.rbegin(), axes.rend(), 0);
    if (given != nullptr && !given->is_none()) {
        axes = counted_axes(ints_of(c, *given).value_or(std::vector<int64_t>()), rank);
    }
    return with_axes(c, a, "transpose", axes);
}

Object np_swapaxes(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<std::vector<int64_t>> pair =
        array != nullptr && a.positional.size() == 3 && a.keywords.empty()
            ? ints_of(c, Object::tuple({a.positional[1], a.positional[2]}))
            : std::nullopt;
    if (!pair) {
        return refuse_array(c, a, "swapaxes");
    }
    std::vector<int64_t> axes(array->dims().size());
    std::iota(axes.begin(), axes.end(), 0);
    pair = counted_axes(std::move(*pair), axes.size());
    for (int64_t axis : *pair) {
        if (axis < 0 || axis >= array->rank()) {
            return refuse_array(c, a, "swapaxes");
        }
    }
    std::swap(axes[static_cast<size_t>((*pair)[0])], axes[static_cast<size_t>((*pair)[1])]);
    return with_axes(c, a, "swapaxes", axes);
}

// np.moveaxis(array, source, destination): the others stay in their order.
Object np_moveaxis(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<std::vector<int64_t>> from, to;
    if (array != nullptr && a.positional.size() == 3 && a.keywords.empty()) {
        from = ints_of(c, a.positional[1]);
        to = ints_of(c, a.positional[2]);
    }
    if (!from || !to || from->size() != to->size()) {
        return refuse_array(c, a, "moveaxis");
    }
    size_t rank = array->dims().size();
    from = counted_axes(std::move(*from), rank);
    to = counted_axes(std::move(*to), rank);
    std::vector<int64_t> axes(rank, -1);
    for (size_t i = 0; i < to->size(); ++i) {
        bool is_axis =
            (*to)[i] >= 0 && (*to)[i] < array->rank() && axes[static_cast<size_t>((*to)[i])] == -1;
        if (!is_axis) {
            return refuse_array(c, a, "moveaxis");
        }
        axes[static_cast<size_t>((*to)[i])] = (*from)[i];
    }
    int64_t next = 0;
    for (int64_t& axis : axes) {
        while (axis == -1 && std::find(from->begin(), from->end(), next) != from->end()) {
            ++next;
        }
        axis = axis == -1 ? next++ : axis;
    }
    return with_axes(c, a, "moveaxis", axes);
}

namespace {

// The array backwards along an axis, or all of them.
Object flipped(Context& c, const Arguments& a, std::string_view name, std::optional<size_t> axis) {
    const Tensor& array = *known_array(&a.positional[0]);
    std::vector<int64_t> strides = strides_of(array.dims());
    return made_view(c, a, name, rearranged(array, array.dims(), [&](const auto& index) {
                         int64_t place = 0;
                         for (size_t i = 0; i < index.size(); ++i) {
                             bool is_flipped = !axis || i == *axis;
                             place += strides[i] *
                                      (is_flipped ? array.dims()[i] - 1 - index[i] : index[i]);
                         }
                         return place;
                     }));
}

}  // namespace

Object np_flip(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    bool has_axis = argument_of(a, 1, "axis") != nullptr;
    std::optional<size_t> axis =
        array != nullptr ? axis_argument(a, 1, 0, array->dims().size()) : std::nullopt;
    if (array == nullptr || has_other_keywords(a, {"axis"}) || (has_axis && !axis)) {
        return refuse_array(c, a, "flip");
    }
    return flipped(c, a, "flip", has_axis ? axis : std::nullopt);
}

Object np_fliplr(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    return array != nullptr && array->rank() > 1 ? flipped(c, a, "fliplr", 1)
                                                 : refuse_array(c, a, "fliplr");
}

Object np_flipud(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    return array != nullptr && array->rank() > 0 ? flipped(c, a, "flipud", 0)
                                                 : refuse_array(c, a, "flipud");
}

// np.rot90(array, k=1), in the plane of the first two axes.
Object np_rot90(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    std::optional<int64_t> turns = int_argument(given, 1, "k", 1);
    if (array == nullptr || array->rank() < 2 || !turns || has_other_keywords(given, {"k"})) {
        return a ? refuse_array(c, given, "rot90") : Object::error();
    }
    a->positional.resize(1, Object::none());
    a->ranges.resize(1, given.range);
    a->keywords.clear();
    auto flip = [&](size_t axis) {
        a->positional[0] = flipped(c, *a, "rot90", axis);
        return known_array(&a->positional[0]) != nullptr;
    };
    auto swap = [&] {
        std::vector<int64_t> axes(known_array(&a->positional[0])->dims().size());
        std::iota(axes.begin(), axes.end(), 0);
        std::swap(axes[0], axes[1]);
        a->positional[0] = with_axes(c, *a, "rot90", axes);
        return known_array(&a->positional[0]) != nullptr;
    };
    switch (((*turns % 4) + 4) % 4) {
        case 1:
            return flip(1) && swap() ? a->positional[0] : Object::error();
        case 2:
            return flip(0) && flip(1) ? a->positional[0] : Object::error();
        case 3:
            return swap() && flip(1) ? a->positional[0] : Object::error();
        default:
            return made_view(c, *a, "rot90", *array);
    }
}

// np.roll(array, shift, axis=None): without an axis of the elements in a line.
Object np_roll(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    const Object *shift = argument_of(given, 1, "shift"), *axis = argument_of(given, 2, "axis");
    bool is_flat = axis == nullptr || axis->is_none();
    std::optional<std::vector<int64_t>> shifts, axes;
    if (array != nullptr && shift != nullptr && !has_other_keywords(given, {"shift", "axis"})) {
        shifts = ints_of(c, *shift);
        axes = is_flat ? std::vector<int64_t>{0} : ints_of(c, *axis);
    }
    if (!a || !shifts || !axes || shifts->size() != axes->size()) {
        return a ? refuse_array(c, given, "roll") : Object::error();
    }
    Dims own = is_flat ? Dims{array->count()} : array->dims();
    axes = counted_axes(std::move(*axes), own.size());
    std::vector<int64_t> moved(own.size(), 0);
    for (size_t i = 0; i < axes->size(); ++i) {
        if ((*axes)[i] < 0 || (*axes)[i] >= static_cast<int64_t>(own.size())) {
            return refuse_array(c, given, "roll");
        }
        int64_t size = std::max<int64_t>(own[static_cast<size_t>((*axes)[i])], 1);
        int64_t& sum = moved[static_cast<size_t>((*axes)[i])];
        sum = (sum + (*shifts)[i] % size + size) % size;
    }
    std::vector<int64_t> strides = strides_of(own);
    std::optional<Tensor> rolled = rearranged(*array, own, [&](const auto& index) {
        int64_t place = 0;
        for (size_t i = 0; i < index.size(); ++i) {
            place += (index[i] - moved[i] + own[i]) % own[i] * strides[i];
        }
        return place;
    });
    return made(c, given, "roll", rolled ? std::optional(rolled->reshaped(array->dims())) : rolled);
}

Object np_tile(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    const Object* given = argument_of(a, 1, "reps");
    std::optional<std::vector<int64_t>> times =
        given != nullptr ? ints_of(c, *given) : std::nullopt;
    if (array == nullptr || !times || has_other_keywords(a, {"reps"}) ||
        std::any_of(times->begin(), times->end(), [](int64_t one) { return one < 0; })) {
        return refuse_array(c, a, "tile");
    }
    Dims own = array->dims();
    size_t rank = std::max(own.size(), times->size());
    own.insert(own.begin(), rank - own.size(), 1);
    times->insert(times->begin(), rank - times->size(), 1);
    Dims dims = own;
    for (size_t i = 0; i < rank; ++i) {
        if (__builtin_mul_overflow(own[i], (*times)[i], &dims[i])) {
            return refuse_array(c, a, "tile");
        }
    }
    std::vector<int64_t> strides = strides_of(own);
    return made(c, a, "tile", rearranged(*array, dims, [&](const auto& index) {
                    int64_t place = 0;
                    for (size_t i = 0; i < index.size(); ++i) {
                        place += index[i] % own[i] * strides[i];
                    }
                    return place;
                }));
}

Object np_repeat(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<int64_t> times = int_argument(a, 1, "repeats", -1);
    const Object* given = argument_of(a, 2, "axis");
    bool is_flat = given == nullptr || given->is_none();
    std::optional<size_t> axis = array == nullptr ? std::nullopt
                                 : is_flat        ? std::optional<size_t>(0)
                                                  : axis_argument(a, 2, 0, array->dims().size());
    if (array == nullptr || !times || *times < 0 || !axis ||
        has_other_keywords(a, {"repeats", "axis"})) {
        return refuse_array(c, a, "repeat");
    }
    Dims own = is_flat ? Dims{array->count()} : array->dims(), dims = own;
    if (__builtin_mul_overflow(dims[*axis], *times, &dims[*axis])) {
        return refuse_array(c, a, "repeat");
    }
    std::vector<int64_t> strides = strides_of(own);
    return made(c, a, "repeat", rearranged(*array, dims, [&](const auto& index) {
                    int64_t place = 0;
                    for (size_t i = 0; i < index.size(); ++i) {
                        place += (i == *axis ? index[i] / *times : index[i]) * strides[i];
                    }
                    return place;
                }));
}

Object np_expand_dims(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<size_t> axis =
        array != nullptr && argument_of(a, 1, "axis") != nullptr && !has_other_keywords(a, {"axis"})
            ? axis_argument(a, 1, 0, array->dims().size() + 1)
            : std::nullopt;
    if (!axis) {
        return refuse_array(c, a, "expand_dims");
    }
    Dims dims = array->dims();
    dims.insert(dims.begin() + static_cast<int64_t>(*axis), 1);
    return made_reshaped(c, a, "expand_dims", array->reshaped(std::move(dims)));
}

Object np_squeeze(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    bool has_axis = argument_of(a, 1, "axis") != nullptr;
    std::optional<size_t> axis =
        array != nullptr && has_axis ? axis_argument(a, 1, 0, array->dims().size()) : std::nullopt;
    if (array == nullptr || has_other_keywords(a, {"axis"}) ||
        (has_axis && (!axis || array->dims()[*axis] != 1))) {
        return refuse_array(c, a, "squeeze");
    }
    Dims dims;
    for (size_t i = 0; i < array->dims().size(); ++i) {
        bool goes = has_axis ? i == *axis : array->dims()[i] == 1;
        if (!goes) {
            dims.push_back(array->dims()[i]);
        }
    }
    return made_reshaped(c, a, "squeeze", array->reshaped(std::move(dims)));
}

Object np_reshape(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<std::vector<int64_t>> dims =
        array != nullptr && a.positional.size() == 2 && a.keywords.empty()
            ? ints_of(c, a.positional[1])
            : std::nullopt;
    int64_t known = 1, open = 0;
    for (size_t i = 0; dims && i < dims->size(); ++i) {
        open += (*dims)[i] == -1 ? 1 : 0;
        bool is_size = (*dims)[i] >= -1 &&
                       !__builtin_mul_overflow(known, (*dims)[i] == -1 ? 1 : (*dims)[i], &known);
        if (!is_size || open > 1) {
            return refuse_array(c, a, "reshape");
        }
    }
    if (dims && open == 1 && known != 0 && array->count() % known == 0) {
        *std::find(dims->begin(), dims->end(), -1) = array->count() / known;
        known = array->count();
        open = 0;
    }
    bool fits = dims && open == 0 && known == array->count();
    return fits ? reshaped_view(c, a.positional[0], array->reshaped(std::move(*dims)))
                : refuse_array(c, a, "reshape");
}

Object np_ravel(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    return array != nullptr && a.keywords.empty()
               ? reshaped_view(c, a.positional[0], array->reshaped({array->count()}))
               : refuse_array(c, a, "ravel");
}

Object np_broadcast_to(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<std::vector<int64_t>> dims =
        array != nullptr && a.positional.size() == 2 && a.keywords.empty()
            ? ints_of(c, a.positional[1])
            : std::nullopt;
    std::optional<int64_t> count = dims ? element_count(*dims) : std::nullopt;
    std::optional<Broadcast> both =
        count && *count <= kMostElements ? broadcast(array->dims(), *dims) : std::nullopt;
    bool fits = both && both->dims == *dims;
    return made_view(c, a, "broadcast_to",
                     fits ? std::optional(gather(*array, both->left, both->dims)) : std::nullopt);
}

}  // namespace sardonyx::elaborate
