#include "elaborate/library/array_tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/element_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"

namespace sardonyx::elaborate {

// --- Padded arrays -------------------------------------------------------------------------------

namespace {

// The widths of np.pad for each axis: a number, a pair for all, or a pair for each. Nothing:
// others.
std::optional<std::vector<std::pair<int64_t, int64_t>>> pad_widths(Context& c, const Object& given,
                                                                   size_t rank) {
    std::vector<std::pair<int64_t, int64_t>> widths;
    if (std::optional<std::vector<int64_t>> ints = ints_of(c, given)) {
        if (ints->empty() || ints->size() > 2) {
            return std::nullopt;
        }
        widths.assign(rank, {ints->front(), ints->back()});
    } else if (given.is_sequence() && (given.items().size() == rank || given.items().size() == 1)) {
        for (size_t i = 0; i < rank; ++i) {
            std::optional<std::vector<int64_t>> pair =
                ints_of(c, given.items()[given.items().size() == 1 ? 0 : i]);
            if (!pair || pair->empty() || pair->size() > 2) {
                return std::nullopt;
            }
            widths.emplace_back(pair->front(), pair->back());
        }
    }
    bool are_sizes = std::all_of(widths.begin(), widths.end(), [](const auto& one) {
        return one.first >= 0 && one.second >= 0 && one.first <= kMostElements &&
               one.second <= kMostElements;
    });
    return widths.size() == rank && are_sizes ? std::optional(std::move(widths)) : std::nullopt;
}

// The number as one element of the type: a float loses its fraction in an integer. Nothing: the
// type does not hold it.
std::optional<Tensor> pad_value(const Object& value, ElementType type) {
    Tensor number = value.is_whole() && fits_int64(value.as_whole())
                        ? Tensor::scalar<int64_t>(value.as_int()).reshaped({1})
                        : Tensor::scalar<double>(value.as_double()).reshaped({1});
    std::optional<Tensor> cast = cast_array(number, type);
    std::optional<Tensor> back = cast ? cast_array(*cast, number.element_type()) : std::nullopt;
    bool is_held = back && (is_floating(type) ||
                            std::memcmp(back->bytes().data(), number.bytes().data(), 8) == 0);
    return is_held ? cast : std::nullopt;
}

// The index of an axis of this size that stands for one outside of it; -1: none does.
int64_t padded_index(std::string_view mode, int64_t index, int64_t size) {
    if (index >= 0 && index < size) {
        return index;
    }
    if (mode == "edge") {
        return index < 0 ? 0 : size - 1;
    }
    if (mode == "wrap") {
        return ((index % size) + size) % size;
    }
    if (mode == "reflect") {
        int64_t period = std::max<int64_t>(2 * (size - 1), 1);
        int64_t at = ((index % period) + period) % period;
        return at < size ? at : period - at;
    }
    return -1;
}

}  // namespace

// np.pad(array, widths, mode="constant", constant_values=0)
Object np_pad(Context& c, const Arguments& given) {
    std::optional<Arguments> arrays = with_arrays(c, given, 1);
    if (!arrays) {
        return Object::error();
    }
    const Arguments& a = *arrays;
    const Tensor* array = known_array(&a.positional[0]);
    const Object *width = argument_of(a, 1, "pad_width"), *kind = argument_of(a, 2, "mode");
    const Object* value = argument_of(a, SIZE_MAX, "constant_values");
    std::string_view mode = kind != nullptr && kind->is(ObjectKind::kString)
                                ? std::string_view(kind->text())
                                : std::string_view("constant");
    bool is_known =
        array != nullptr && array->rank() > 0 && width != nullptr &&
        !has_other_keywords(a, {"pad_width", "mode", "constant_values"}) &&
        (mode == "constant" || (value == nullptr && array->count() > 0 &&
                                (mode == "edge" || mode == "reflect" || mode == "wrap"))) &&
        (kind == nullptr || kind->is(ObjectKind::kString)) &&
        (value == nullptr || value->is_number());
    std::optional<std::vector<std::pair<int64_t, int64_t>>> widths =
        is_known ? pad_widths(c, *width, array->dims().size()) : std::nullopt;
    std::optional<Tensor> filling =
        widths && value != nullptr
            ? pad_value(*value, array->element_type())
            : std::optional(
                  Tensor::zeros(is_known ? array->element_type() : ElementType::kBool, {1}));
    if (!widths || !filling) {
        return refuse_array(c, given, "pad");
    }
    Dims dims = array->dims();
    for (size_t i = 0; i < dims.size(); ++i) {
        dims[i] += (*widths)[i].first + (*widths)[i].second;
    }
    // With the filling behind its elements.
    std::optional<Tensor> longer = concatenated({array->reshaped({array->count()}), *filling}, 0);
    std::vector<int64_t> strides = strides_of(array->dims());
    return made(c, a, "pad", rearranged(*longer, dims, [&](const auto& index) {
                    int64_t place = 0;
                    for (size_t i = 0; i < index.size(); ++i) {
                        int64_t own =
                            padded_index(mode, index[i] - (*widths)[i].first, array->dims()[i]);
                        if (own < 0) {
                            return array->count();
                        }
                        place += own * strides[i];
                    }
                    return place;
                }));
}

// --- Triangles and diagonals ---------------------------------------------------------------------

namespace {

enum class Triangle : uint8_t { kUpper, kLower };

Object vector_of(const std::vector<int64_t>& values) {
    return constant_of(Tensor::of<int64_t>({static_cast<int64_t>(values.size())},
                                           std::span<const int64_t>(values)));
}

bool is_in_triangle(Triangle which, int64_t row, int64_t column, int64_t k) {
    return which == Triangle::kUpper ? column - row >= k : column - row <= k;
}

// The array with a zero behind its elements.
std::optional<Tensor> before_zero(const Tensor& array) {
    return concatenated({array.reshaped({array.count()}), Tensor::zeros(array.element_type(), {1})},
                        0);
}

Object triangle(Context& c, const Arguments& given, Triangle which) {
    std::string_view name = which == Triangle::kUpper ? "triu" : "tril";
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    std::optional<int64_t> k = int_argument(given, 1, "k", 0);
    if (array == nullptr || array->rank() < 2 || !k || has_other_keywords(given, {"k"})) {
        return a ? refuse_array(c, given, name) : Object::error();
    }
    std::optional<Tensor> longer = before_zero(*array);
    std::vector<int64_t> strides = strides_of(array->dims());
    return made(c, given, name, rearranged(*longer, array->dims(), [&](const auto& index) {
                    size_t rank = index.size();
                    int64_t place = 0;
                    for (size_t i = 0; i < rank; ++i) {
                        place += index[i] * strides[i];
                    }
                    return is_in_triangle(which, index[rank - 2], index[rank - 1], *k)
                               ? place
                               : array->count();
                }));
}

// The rows and columns that np.tri and the like are asked for. Nothing: they are no sizes.
struct TableSize {
    int64_t rows = 0, columns = 0, k = 0;
};

std::optional<TableSize> table_size(const Arguments& a, std::string_view columns, size_t k_place,
                                    size_t columns_place) {
    constexpr int64_t kMost = 4096;
    const Object* second = argument_of(a, columns_place, columns);
    std::optional<int64_t> k = int_argument(a, k_place, "k", 0);
    const Object& first = a.positional[0];
    bool is_square = second == nullptr || second->is_none();
    if (!first.is(ObjectKind::kInt) || !(is_square || second->is(ObjectKind::kInt)) || !k) {
        return std::nullopt;
    }
    TableSize size{first.as_int(), is_square ? first.as_int() : second->as_int(), *k};
    bool fits = size.rows >= 0 && size.columns >= 0 && size.rows <= kMost && size.columns <= kMost;
    return fits ? std::optional(size) : std::nullopt;
}

Object triangle_indices(Context& c, const Arguments& a, Triangle which) {
    std::string_view name = which == Triangle::kUpper ? "triu_indices" : "tril_indices";
    std::optional<TableSize> size = table_size(a, "m", 1, 2);
    if (!size || has_other_keywords(a, {"k", "m"})) {
        return refuse_array(c, a, name);
    }
    std::vector<int64_t> rows, columns;
    for (int64_t row = 0; row < size->rows; ++row) {
        for (int64_t column = 0; column < size->columns; ++column) {
            if (is_in_triangle(which, row, column, size->k)) {
                rows.push_back(row);
                columns.push_back(column);
            }
        }
    }
    return Object::tuple({vector_of(rows), vector_of(columns)});
}

}  // namespace

Object np_triu(Context& c, const Arguments& a) {
    return triangle(c, a, Triangle::kUpper);
}
Object np_tril(Context& c, const Arguments& a) {
    return triangle(c, a, Triangle::kLower);
}

Object np_triu_indices(Context& c, const Arguments& a) {
    return triangle_indices(c, a, Triangle::kUpper);
}
Object np_tril_indices(Context& c, const Arguments& a) {
    return triangle_indices(c, a, Triangle::kLower);
}

// np.tri(N, M=None, k=0, dtype=float)
Object np_tri(Context& c, const Arguments& a) {
    std::optional<TableSize> size = table_size(a, "M", 2, 1);
    std::optional<ElementType> type = dtype_argument(a, 3);
    if (!size || !type || has_other_keywords(a, {"M", "k", "dtype"})) {
        return refuse_array(c, a, "tri");
    }
    Tensor flags = Tensor::uninitialized(ElementType::kBool, {size->rows, size->columns});
    std::span<bool> to = flags.mutable_elements<bool>();
    for (int64_t i = 0; i < flags.count(); ++i) {
        to[static_cast<size_t>(i)] =
            is_in_triangle(Triangle::kLower, i / size->columns, i % size->columns, size->k);
    }
    return made(c, a, "tri",
                cast_array(flags, *type == ElementType::kUndefined ? ElementType::kDouble : *type));
}

// np.diag(array, k=0): of a vector the matrix, of a matrix its diagonal.
Object np_diag(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    std::optional<int64_t> k = int_argument(given, 1, "k", 0);
    bool is_known = array != nullptr && k && *k > -kMostElements && *k < kMostElements &&
                    !has_other_keywords(given, {"k"}) && array->rank() >= 1 && array->rank() <= 2;
    if (!is_known) {
        return a ? refuse_array(c, given, "diag") : Object::error();
    }
    int64_t down = std::max<int64_t>(-*k, 0), right = std::max<int64_t>(*k, 0);
    if (array->rank() == 2) {
        int64_t columns = array->dims()[1];
        int64_t size = std::max<int64_t>(std::min(array->dims()[0] - down, columns - right), 0);
        return made_view(c, *a, "diag", rearranged(*array, {size}, [&](const auto& index) {
                             return (index[0] + down) * columns + index[0] + right;
                         }));
    }
    int64_t size = array->count() + down + right;
    std::optional<Tensor> longer = before_zero(*array);
    return made(c, given, "diag", rearranged(*longer, {size, size}, [&](const auto& index) {
                    return index[0] - down == index[1] - right && index[0] >= down &&
                                   index[1] >= right
                               ? index[0] - down
                               : array->count();
                }));
}

// --- Grids ---------------------------------------------------------------------------------------

// np.meshgrid(x, y, ..., indexing="xy"), a tuple as of NumPy 2.
Object np_meshgrid(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, given.positional.size());
    const Object* indexing = argument_of(given, SIZE_MAX, "indexing");
    bool is_ij =
        indexing != nullptr && indexing->is(ObjectKind::kString) && indexing->text() == "ij";
    bool is_known = a && !has_other_keywords(given, {"indexing"}) &&
                    (indexing == nullptr || is_ij ||
                     (indexing->is(ObjectKind::kString) && indexing->text() == "xy"));
    size_t rank = given.positional.size();
    Dims dims(rank);
    // The axis along which each argument varies.
    auto axis_of = [&](size_t i) { return !is_ij && i < 2 && rank > 1 ? 1 - i : i; };
    for (size_t i = 0; is_known && i < rank; ++i) {
        const Tensor* array = known_array(&a->positional[i]);
        is_known = array != nullptr && array->rank() <= 1;
        dims[axis_of(i)] = is_known ? array->count() : 0;
    }
    std::vector<Object> grids;
    for (size_t i = 0; is_known && i < rank; ++i) {
        size_t axis = axis_of(i);
        std::optional<Tensor> grid = rearranged(*known_array(&a->positional[i]), dims,
                                                [axis](const auto& index) { return index[axis]; });
        is_known = grid.has_value();
        grids.push_back(grid ? constant_of(std::move(*grid)) : Object::error());
    }
    return !a         ? Object::error()
           : is_known ? Object::tuple(std::move(grids))
                      : refuse_array(c, given, "meshgrid");
}

// np.indices(dims): the index along each axis, one array behind the other.
Object np_indices(Context& c, const Arguments& a) {
    std::optional<std::vector<int64_t>> dims = ints_of(c, a.positional[0]);
    std::optional<ElementType> type = dtype_argument(a, 1);
    bool is_known = dims && type && !has_other_keywords(a, {"dtype"}) &&
                    std::all_of(dims->begin(), dims->end(),
                                [](int64_t one) { return one >= 0 && one <= kMostElements; });
    if (!is_known) {
        return refuse_array(c, a, "indices");
    }
    Dims all = *dims;
    all.insert(all.begin(), static_cast<int64_t>(dims->size()));
    int64_t most = dims->empty() ? 0 : *std::max_element(dims->begin(), dims->end());
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < most; ++i) {
        numbers.push_back(i);
    }
    std::optional<Tensor> grid =
        rearranged(Tensor::of<int64_t>({most}, std::span<const int64_t>(numbers)), all,
                   [](const auto& index) { return index[static_cast<size_t>(index[0]) + 1]; });
    return made(c, a, "indices",
                grid && *type != ElementType::kUndefined ? cast_array(*grid, *type) : grid);
}

// --- Windows -------------------------------------------------------------------------------------

namespace {

// NumPy's windows are functions of the odd or even numbers from 1 - size to size - 1, and of the
// size less one.
Object window(Context& c, const Arguments& a, std::string_view name,
              double (*function)(double, double)) {
    constexpr int64_t kMost = int64_t{1} << 24;
    const Object& size = a.positional[0];
    if (!size.is(ObjectKind::kInt) || size.as_int() > kMost) {
        return refuse_array(c, a, name);
    }
    int64_t count = std::max<int64_t>(size.as_int(), 0);
    Tensor array = Tensor::uninitialized(ElementType::kDouble, {count});
    std::span<double> to = array.mutable_elements<double>();
    for (int64_t i = 0; i < count; ++i) {
        to[static_cast<size_t>(i)] = count == 1 ? 1
                                                : function(static_cast<double>(2 * i + 1 - count),
                                                           static_cast<double>(count - 1));
    }
    return constant_of(std::move(array));
}

}  // namespace

Object np_hanning(Context& c, const Arguments& a) {
    return window(c, a, "hanning", [](double n, double width) {
        return 0.5 + 0.5 * std::cos(std::numbers::pi * n / width);
    });
}

Object np_hamming(Context& c, const Arguments& a) {
    return window(c, a, "hamming", [](double n, double width) {
        return 0.54 + 0.46 * std::cos(std::numbers::pi * n / width);
    });
}

Object np_blackman(Context& c, const Arguments& a) {
    return window(c, a, "blackman", [](double n, double width) {
        return 0.42 + 0.5 * std::cos(std::numbers::pi * n / width) +
               0.08 * std::cos(2.0 * std::numbers::pi * n / width);
    });
}

Object np_bartlett(Context& c, const Arguments& a) {
    return window(c, a, "bartlett",
                  [](double n, double width) { return n <= 0 ? 1 + n / width : 1 - n / width; });
}

// --- Places --------------------------------------------------------------------------------------

namespace {

std::vector<int64_t> nonzero_places(const Tensor& array) {
    Tensor flags = *cast_array(array, ElementType::kBool);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < flags.count(); ++i) {
        if (std::as_const(flags).elements<bool>()[static_cast<size_t>(i)]) {
            places.push_back(i);
        }
    }
    return places;
}

}  // namespace

// Of each axis the indices of the elements that are not zero.
Object np_nonzero(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    if (array == nullptr || array->rank() == 0 || !given.keywords.empty() ||
        given.positional.size() != 1) {
        return a ? refuse_array(c, given, "nonzero") : Object::error();
    }
    std::vector<int64_t> strides = strides_of(array->dims());
    std::vector<int64_t> places = nonzero_places(*array);
    std::vector<Object> axes;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
        std::vector<int64_t> indices;
        for (int64_t place : places) {
            indices.push_back(place / strides[axis] % array->dims()[axis]);
        }
        axes.push_back(vector_of(indices));
    }
    return Object::tuple(std::move(axes));
}

Object np_flatnonzero(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    return !a                 ? Object::error()
           : array == nullptr ? refuse_array(c, given, "flatnonzero")
                              : vector_of(nonzero_places(*array));
}

// np.take(array, indices, axis=None)
Object np_take(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    if (!a) {
        return Object::error();
    }
    const Tensor* array = known_array(&a->positional[0]);
    const Tensor* indices = a->positional.size() > 1 ? known_array(&a->positional[1]) : nullptr;
    const Object* given_axis = argument_of(given, 2, "axis");
    bool is_flat = given_axis == nullptr || given_axis->is_none();
    bool is_known = array != nullptr && indices != nullptr && array->rank() > 0 &&
                    !has_other_keywords(given, {"axis"}) && !is_floating(indices->element_type()) &&
                    indices->element_type() != ElementType::kBool;
    Dims own = !is_known ? Dims() : is_flat ? Dims{array->count()} : array->dims();
    std::optional<size_t> axis = !is_known ? std::nullopt
                                 : is_flat ? std::optional<size_t>(0)
                                           : axis_argument(given, 2, 0, own.size());
    std::optional<Tensor> places = axis ? cast_array(*indices, ElementType::kInt64) : std::nullopt;
    if (!places) {
        return refuse_array(c, given, "take");
    }
    std::span<const int64_t> at = std::as_const(*places).elements<int64_t>();
    int64_t size = own[*axis];
    if (std::any_of(at.begin(), at.end(),
                    [size](int64_t one) { return one < -size || one >= size; })) {
        return refuse_array(c, given, "take");
    }
    // The chosen axis in a line, which then gets the shape of the indices.
    Dims line = own, dims = own;
    line[*axis] = places->count();
    dims.erase(dims.begin() + static_cast<int64_t>(*axis));
    dims.insert(dims.begin() + static_cast<int64_t>(*axis), places->dims().begin(),
                places->dims().end());
    std::vector<int64_t> strides = strides_of(own);
    std::optional<Tensor> chosen = rearranged(*array, line, [&](const auto& index) {
        int64_t place = 0;
        for (size_t i = 0; i < index.size(); ++i) {
            int64_t one = i == *axis ? at[static_cast<size_t>(index[i])] : index[i];
            place += (one < 0 ? one + size : one) * strides[i];
        }
        return place;
    });
    return chosen ? as_numpys_number(constant_of(chosen->reshaped(std::move(dims))))
                  : refuse_array(c, given, "take");
}

namespace {

// The parts of an array between these places of an axis, as a list of views.
Object parts_between(Context& c, const Arguments& a, std::string_view name, size_t axis,
                     const std::vector<int64_t>& bounds) {
    const Tensor& array = *known_array(&a.positional[0]);
    int64_t size = array.dims()[axis];
    std::vector<Object> parts;
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
        int64_t first = std::clamp<int64_t>(bounds[i], 0, size);
        int64_t end = std::clamp<int64_t>(bounds[i + 1], first, size);
        parts.push_back(made_view(c, a, name, part_along(array, axis, first, end - first)));
    }
    Object made = Object::list(std::move(parts));
    claim(c, made);
    return made;
}

Object split(Context& c, const Arguments& a, std::string_view name, bool is_even) {
    const Tensor* array = known_array(&a.positional[0]);
    const Object* given = argument_of(a, 1, "indices_or_sections");
    bool is_known = array != nullptr && array->rank() > 0 && given != nullptr &&
                    !has_other_keywords(a, {"indices_or_sections", "axis"});
    std::optional<size_t> axis =
        is_known ? axis_argument(a, 2, 0, array->dims().size()) : std::nullopt;
    std::optional<std::vector<int64_t>> ints = axis ? ints_of(c, *given) : std::nullopt;
    if (!ints) {
        return refuse_array(c, a, name);
    }
    int64_t size = array->dims()[*axis];
    std::vector<int64_t> bounds{0};
    if (given->is_integer()) {
        int64_t parts = given->as_int();
        if (parts <= 0 || parts > 4096 || (is_even && size % parts != 0)) {
            return refuse_array(c, a, name);
        }
        for (int64_t i = 0; i < parts; ++i) {  // the first ones are longer
            bounds.push_back(bounds.back() + size / parts + (i < size % parts ? 1 : 0));
        }
    } else {
        for (int64_t place : *ints) {
            if (place < 0 || place < bounds.back()) {
                return refuse_array(c, a, name);
            }
            bounds.push_back(place);
        }
        bounds.push_back(std::max(size, bounds.back()));
    }
    return parts_between(c, a, name, *axis, bounds);
}

}  // namespace

Object np_split(Context& c, const Arguments& a) {
    return split(c, a, "split", true);
}
Object np_array_split(Context& c, const Arguments& a) {
    return split(c, a, "array_split", false);
}

}  // namespace sardonyx::elaborate
