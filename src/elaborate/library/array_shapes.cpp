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
namespace {

// The int at a place or of a keyword; `otherwise` where it is not given. Nothing: it is no int.
std::optional<int64_t> int_argument(const Arguments& a, size_t place, std::string_view name,
                                    int64_t otherwise) {
    const Object* given = argument_of(a, place, name);
    return given == nullptr      ? std::optional(otherwise)
           : given->is_integer() ? std::optional(given->as_int())
                                 : std::nullopt;
}

}  // namespace

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

namespace {

// The ints of an int, tuple or list.
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

// The array of these dims whose elements stand where `place` says; nothing: it is too large.
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

// A view in NumPy: over the elements of the first argument.
Object made_view(Context& c, const Arguments& a, std::string_view name,
                 std::optional<Tensor> tensor) {
    return tensor ? array_view(c, a.positional[0], std::move(*tensor)) : refuse_array(c, a, name);
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
        std::optional<std::vector<int64_t>> wanted = ints_of(c, *given);
        axes = wanted.value_or(std::vector<int64_t>());
        for (int64_t& axis : axes) {
            axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
        }
        std::vector<int64_t> sorted = axes, all(rank);
        std::sort(sorted.begin(), sorted.end());
        std::iota(all.begin(), all.end(), 0);
        if (sorted != all) {
            return refuse_array(c, a, "transpose");
        }
    }
    Dims dims;
    for (int64_t axis : axes) {
        dims.push_back(array->dims()[static_cast<size_t>(axis)]);
    }
    std::vector<int64_t> strides = strides_of(array->dims());
    return made_view(c, a, "transpose", rearranged(*array, dims, [&](const auto& index) {
                         int64_t place = 0;
                         for (size_t i = 0; i < index.size(); ++i) {
                             place += index[i] * strides[static_cast<size_t>(axes[i])];
                         }
                         return place;
                     }));
}

Object np_flip(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    bool has_axis = argument_of(a, 1, "axis") != nullptr;
    std::optional<size_t> axis =
        array != nullptr ? axis_argument(a, 1, 0, array->dims().size()) : std::nullopt;
    if (array == nullptr || has_other_keywords(a, {"axis"}) || (has_axis && !axis)) {
        return refuse_array(c, a, "flip");
    }
    std::vector<int64_t> strides = strides_of(array->dims());
    return made_view(c, a, "flip", rearranged(*array, array->dims(), [&](const auto& index) {
                         int64_t place = 0;
                         for (size_t i = 0; i < index.size(); ++i) {
                             bool is_flipped = !has_axis || i == *axis;
                             place += strides[i] *
                                      (is_flipped ? array->dims()[i] - 1 - index[i] : index[i]);
                         }
                         return place;
                     }));
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
    return made_view(c, a, "expand_dims", array->reshaped(std::move(dims)));
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
    return made_view(c, a, "squeeze", array->reshaped(std::move(dims)));
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
    return fits ? array_view(c, a.positional[0], array->reshaped(std::move(*dims)))
                : refuse_array(c, a, "reshape");
}

Object np_ravel(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    return array != nullptr && a.keywords.empty()
               ? array_view(c, a.positional[0], array->reshaped({array->count()}))
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

// np.pad(array, n) and np.pad(array, ((before, after), ...)), with zeros.
Object np_pad(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    if (array == nullptr || a.positional.size() != 2 || !a.keywords.empty() || array->rank() == 0) {
        return refuse_array(c, a, "pad");
    }
    size_t rank = array->dims().size();
    std::vector<std::pair<int64_t, int64_t>> widths;
    const Object& given = a.positional[1];
    if (given.is_integer()) {
        widths.assign(rank, {given.as_int(), given.as_int()});
    } else if (given.is_sequence() && given.items().size() == rank) {
        for (const Object& item : given.items()) {
            std::optional<std::vector<int64_t>> pair =
                item.is_sequence() ? ints_of(c, item) : std::nullopt;
            if (!pair || pair->size() != 2) {
                return refuse_array(c, a, "pad");
            }
            widths.emplace_back((*pair)[0], (*pair)[1]);
        }
    }
    Dims dims = array->dims();
    for (size_t i = 0; i < widths.size(); ++i) {
        auto [before, after] = widths[i];
        if (before < 0 || after < 0 || before > kMostElements || after > kMostElements) {
            return refuse_array(c, a, "pad");
        }
        dims[i] += before + after;
    }
    if (widths.size() != rank) {
        return refuse_array(c, a, "pad");
    }
    // With a zero behind its elements.
    std::optional<Tensor> longer = concatenated(
        {array->reshaped({array->count()}), Tensor::zeros(array->element_type(), {1})}, 0);
    std::vector<int64_t> strides = strides_of(array->dims());
    return made(c, a, "pad", rearranged(*longer, dims, [&](const auto& index) {
                    int64_t place = 0;
                    for (size_t i = 0; i < index.size(); ++i) {
                        int64_t own = index[i] - widths[i].first;
                        if (own < 0 || own >= array->dims()[i]) {
                            return array->count();
                        }
                        place += own * strides[i];
                    }
                    return place;
                }));
}

namespace {

enum class Triangle : uint8_t { kUpper, kLower };

Object triangle(Context& c, const Arguments& a, Triangle which) {
    std::string_view name = which == Triangle::kUpper ? "triu" : "tril";
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<int64_t> k = int_argument(a, 1, "k", 0);
    if (array == nullptr || array->rank() != 2 || !k || has_other_keywords(a, {"k"})) {
        return refuse_array(c, a, name);
    }
    std::optional<Tensor> longer = concatenated(
        {array->reshaped({array->count()}), Tensor::zeros(array->element_type(), {1})}, 0);
    int64_t columns = array->dims()[1];
    return made(c, a, name, rearranged(*longer, array->dims(), [&](const auto& index) {
                    int64_t diagonal = index[1] - index[0];
                    bool stays = which == Triangle::kUpper ? diagonal >= *k : diagonal <= *k;
                    return stays ? index[0] * columns + index[1] : array->count();
                }));
}

}  // namespace

Object np_triu(Context& c, const Arguments& a) {
    return triangle(c, a, Triangle::kUpper);
}
Object np_tril(Context& c, const Arguments& a) {
    return triangle(c, a, Triangle::kLower);
}

Object np_diag(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    if (array == nullptr || a.positional.size() != 1 || !a.keywords.empty() || array->rank() < 1 ||
        array->rank() > 2) {
        return refuse_array(c, a, "diag");
    }
    if (array->rank() == 2) {
        int64_t size = std::min(array->dims()[0], array->dims()[1]), columns = array->dims()[1];
        return made_view(c, a, "diag", rearranged(*array, {size}, [&](const auto& index) {
                             return index[0] * columns + index[0];
                         }));
    }
    int64_t size = array->count();
    std::optional<Tensor> longer =
        concatenated({*array, Tensor::zeros(array->element_type(), {1})}, 0);
    return made(c, a, "diag", rearranged(*longer, {size, size}, [&](const auto& index) {
                    return index[0] == index[1] ? index[0] : size;
                }));
}

}  // namespace sardonyx::elaborate
