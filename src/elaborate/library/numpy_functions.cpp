// Arrays are made while compiling, of numbers that are known; others of NumPy are in
// array_functions.
#include "elaborate/library/numpy_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "elaborate/emit/static_tensors.h"
#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/iterable_builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/element_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "types/integers.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// Numbers and arrays, and lists of these, in their common type. Nothing: they do not make an array.
std::optional<Tensor> array_of(Context& c, const Object& object, Range range, ListWalk& left) {
    if (left.depth == 0 || --left.items < 0) {
        return std::nullopt;
    }
    if (!object.is_sequence() || object.items().empty()) {
        const Object array = as_array_scalar(object);
        return array.is(ObjectKind::kConstant) ? std::optional(array.get<Tensor>())
               : object.is_number()
                   ? static_tensor(c, object,
                                   object.is(ObjectKind::kFloat) ? ElementType::kDouble
                                                                 : ElementType::kUndefined,
                                   range)
                   : std::nullopt;
    }
    std::vector<Tensor> rows;
    --left.depth;
    for (const Object& item : object.items()) {
        std::optional<Tensor> row = array_of(c, item, range, left);
        if (!row || !has_arithmetic(row->element_type())) {
            return std::nullopt;
        }
        rows.push_back(std::move(*row));
    }
    ++left.depth;
    return in_common_type(rows) ? stacked(rows, 0) : std::nullopt;
}

}  // namespace

Object np_array(Context& c, const Arguments& a) {
    std::optional<ElementType> type = dtype_argument(a, 1);
    const Object* copies = argument_of(a, SIZE_MAX, "copy");
    bool is_copy = copies == nullptr || (copies->is(ObjectKind::kBool) && copies->as_bool());
    if (!is_copy || has_other_keywords(a, {"dtype", "copy"})) {
        return refuse(c, a.range, "`np.array` with keywords other than `dtype`",
                      "make the array first, and then reshape it");
    }
    if (!type) {
        return refuse(c, a.range, "a dtype that is not known", "use np.float32, np.int64, ...");
    }
    // NumPy's floats are DOUBLE.
    ElementType element = *type == ElementType::kUndefined && has_float(a.positional[0])
                              ? ElementType::kDouble
                              : *type;
    if (!a.positional[0].is_static()) {
        bool is_list = a.positional[0].is_sequence();
        return refuse(
            c, a.range,
            is_list ? "`np.array` of a list that holds tensors" : "`np.array` of a tensor",
            is_list ? "write the list itself where a tensor is needed, or join tensors with "
                      "`op.Concat`"
                    : "use the tensor itself, or cast it with `op.Cast`");
    }
    bool is_of_arrays = a.positional[0].is_sequence() && has_array(a.positional[0]);
    ListWalk left;
    std::optional<Tensor> tensor = is_of_arrays
                                       ? array_of(c, a.positional[0], a.range, left)
                                       : static_tensor(c, a.positional[0], element, a.range);
    if (is_of_arrays && !tensor) {
        return refuse(c, a.range, "`np.array` of a list that does not make an array",
                      "give numbers and arrays of one shape");
    }
    if (tensor && *type != ElementType::kUndefined && tensor->element_type() != *type) {
        tensor = cast_array(*tensor, *type);  // an array of another type
        if (!tensor) {
            return refuse(c, a.range, fmt::format("an array as {}", name(*type)));
        }
    }
    return tensor ? Object::make(ObjectKind::kConstant, std::move(*tensor)) : Object::error();
}

Object array_from(Context& c, const Object& object, Range range) {
    Arguments one;
    one.range = range;
    one.positional = {object};
    one.ranges = {range};
    return np_array(c, one);
}

// An array of this type is given back as it is.
Object np_asarray(Context& c, const Arguments& a) {
    const Object& array = a.positional[0];
    std::optional<ElementType> type = dtype_argument(a, 1);
    if (has_other_keywords(a, {"dtype"})) {
        return refuse_array(c, a, "asarray");
    }
    bool is_it = array.is(ObjectKind::kConstant) && type &&
                 (*type == ElementType::kUndefined || *type == array.get<Tensor>().element_type());
    return is_it ? array : np_array(c, a);
}

namespace {

std::optional<Dims> dims_argument(Context& c, const Object& object) {
    std::vector<Object> items{object};
    if (!object.is_integer() && !is_numpys_scalar(object)) {
        std::optional<std::vector<Object>> listed = static_items(c, object);
        if (!listed) {
            return std::nullopt;
        }
        items = std::move(*listed);
    }
    Dims dims;
    for (const Object& given : items) {
        const Object item = plain_number(given);
        if (!item.is_integer() || item.as_int() < 0) {
            return std::nullopt;
        }
        dims.push_back(item.as_int());
    }
    std::optional<int64_t> count = element_count(dims);
    constexpr int64_t kMostElements = int64_t{1} << 28;
    return count && *count <= kMostElements ? std::optional<Dims>(std::move(dims)) : std::nullopt;
}

// `own`: the element type of the value; kUndefined: a number of Python.
Object np_filled(Context& c, const Arguments& a, const Object& value, size_t dtype_position,
                 ElementType own = ElementType::kUndefined) {
    const Object* shape = argument_of(a, 0, "shape");
    std::optional<Dims> dims = shape != nullptr ? dims_argument(c, *shape) : std::nullopt;
    std::optional<ElementType> type = dtype_argument(a, dtype_position);
    if (!dims || !type || has_other_keywords(a, {"shape", "dtype", "fill_value"})) {
        return refuse(c, a.range, "an array of this shape or dtype cannot be made",
                      "give non-negative ints");
    }
    ElementType element = *type != ElementType::kUndefined ? *type
                          : own != ElementType::kUndefined ? own
                          : value.is(ObjectKind::kInt)     ? ElementType::kInt64
                          : value.is(ObjectKind::kBool)    ? ElementType::kBool
                                                           : ElementType::kDouble;
    size_t count = static_cast<size_t>(*element_count(*dims));
    Result<Tensor> tensor =
        value.is_whole() ? tensor_from_integers(element, std::move(*dims),
                                                std::vector<Int128>(count, value.as_whole()))
                         : tensor_from_doubles(element, std::move(*dims),
                                               std::vector<double>(count, value.as_double()));
    return tensor.ok() ? Object::make(ObjectKind::kConstant, std::move(*tensor))
                       : refuse(c, a.range, tensor.error().message);
}

}  // namespace

Object np_zeros(Context& c, const Arguments& a) {
    return np_filled(c, a, Object::real(0), 1);
}

Object np_ones(Context& c, const Arguments& a) {
    return np_filled(c, a, Object::real(1), 1);
}

// NumPy leaves the elements as they are in memory, where programs that have a meaning set them.
Object np_empty(Context& c, const Arguments& a) {
    return np_filled(c, a, Object::real(0), 1);
}

Object np_full(Context& c, const Arguments& a) {
    const Object* value = argument_of(a, 1, "fill_value");
    if (value != nullptr && is_numpys_scalar(*value)) {
        return np_filled(c, a, plain_number(*value), 2, numpys_type(*value));
    }
    return value != nullptr && value->is_number()
               ? np_filled(c, a, *value, 2)
               : refuse(c, a.range, "`np.full` with a value that is not a number");
}

// np.arange(stop), (start, stop) and (start, stop, step), also by keyword.
Object np_arange(Context& c, const Arguments& given) {
    Arguments a = given;
    const Object *start = argument_of(given, SIZE_MAX, "start"),
                 *stop = argument_of(given, SIZE_MAX, "stop"),
                 *step = argument_of(given, SIZE_MAX, "step");
    if (start != nullptr || stop != nullptr || step != nullptr) {
        // By position, each in its place.
        size_t count = given.positional.size();
        bool is_stop = count == 1 && stop == nullptr && start == nullptr;
        std::vector<Object> parts = given.positional;
        parts.insert(parts.begin(), is_stop ? 1 : 0, Object::integer(0));
        bool is_known = (start == nullptr || count == 0) && (stop == nullptr || count <= 1) &&
                        (step == nullptr || count <= 2);
        if (parts.empty()) {
            parts.push_back(start != nullptr ? *start : Object::integer(0));
        }
        if (stop != nullptr) {
            parts.push_back(*stop);
        }
        if (!is_known || parts.size() < 2) {
            return refuse_array(c, given, "arange");
        }
        if (step != nullptr) {
            parts.push_back(*step);
        }
        a.positional = std::move(parts);
        a.ranges.assign(a.positional.size(), given.range);
    }
    if (a.positional.empty() || a.positional.size() > 4 ||
        has_other_keywords(given, {"start", "stop", "step", "dtype"})) {
        return refuse_array(c, given, "arange");
    }
    std::optional<ElementType> type = dtype_argument(a, 3);
    a.positional.resize(std::min<size_t>(a.positional.size(), 3));
    if (std::any_of(a.positional.begin(), a.positional.end(),
                    [](const Object& one) { return one.is(ObjectKind::kFloat); })) {
        return arange_of_floats(c, a, type);
    }
    for (const Object& one : a.positional) {
        if (!one.is_integer()) {
            return refuse(c, a.range,
                          fmt::format("`np.arange` of {}", one.is_static()
                                                               ? kind_name(one)
                                                               : "a number that is known only when "
                                                                 "the graph runs"),
                          "use integers, or write `op.Range(start, stop, step)`");
        }
    }
    Object range = py_range(c, a);
    if (range.is_error() || !type) {
        return Object::error();
    }
    std::optional<Tensor> tensor = static_tensor(c, range, *type, a.range);
    return tensor ? Object::make(ObjectKind::kConstant, std::move(*tensor)) : Object::error();
}

// np.dtype(type)
Object np_dtype(Context& c, const Arguments& a) {
    std::optional<ElementType> type = dtype_argument(a, 0);
    return type && *type != ElementType::kUndefined
               ? Object::element_type(*type, TypeForm::kNumpyDtype)
               : refuse(c, a.range, "`np.dtype` of this type", "use np.float32, np.int64, ...");
}

namespace {

// The elements that `bytes` are, from low to high, as raw_data of a TensorProto has them.
std::optional<Tensor> raw_tensor(ElementType type, const Dims& dims, const std::string& bytes) {
    std::optional<int64_t> count = element_count(dims);
    if (type == ElementType::kString || !count || byte_size(type, *count) != bytes.size()) {
        return std::nullopt;
    }
    auto kept = std::make_shared<const std::string>(bytes);
    return Tensor::view_of(type, dims, std::as_bytes(std::span(*kept)), kept);
}

}  // namespace

// onnx.helper.make_tensor(name, data_type, dims, vals, raw=False)
Object make_tensor(Context& c, const Arguments& a) {
    auto argument = [&a](size_t position, std::string_view name) -> const Object* {
        const KeywordArgument* keyword = a.find(name);
        return keyword != nullptr               ? &keyword->value
               : position < a.positional.size() ? &a.positional[position]
                                                : nullptr;
    };
    const Object* type = argument(1, "data_type");
    const Object* dims = argument(2, "dims");
    const Object* values = argument(3, "vals");
    const Object* raw = argument(4, "raw");
    if (type == nullptr || dims == nullptr || values == nullptr) {
        return refuse(c, a.range, "`make_tensor` needs name, data_type, dims and vals");
    }
    ElementType element = type->is(ObjectKind::kElementType) ? type->as_element_type()
                          : type->is_integer() ? element_type_from_number(type->as_int())
                                               : ElementType::kUndefined;
    std::optional<Dims> shape = dims_argument(c, *dims);
    if (raw != nullptr && !(raw->is(ObjectKind::kBool) && !raw->as_bool())) {
        bool has_bytes = raw->is(ObjectKind::kBool) && values->is(ObjectKind::kBytes);
        std::optional<Tensor> tensor =
            has_bytes && element != ElementType::kUndefined && shape
                ? raw_tensor(element, *shape, std::string(values->text()))
                : std::nullopt;
        return tensor ? Object::make(ObjectKind::kConstant, std::move(*tensor))
                      : refuse(c, a.range,
                               "`make_tensor` with a type, dims and raw bytes that do not match");
    }
    std::optional<Tensor> flat = element != ElementType::kUndefined && shape && values->is_static()
                                     ? static_tensor(c, *values, element, a.range)
                                     : std::nullopt;
    if (!flat || flat->count() != element_count(*shape)) {
        return refuse(c, a.range, "`make_tensor` with a type, dims and values that do not match");
    }
    return Object::make(ObjectKind::kConstant, flat->reshaped(std::move(*shape)));
}

// onnx.numpy_helper.from_array(array, name) and to_array(tensor): the elements are copied.
Object copied_array(Context& c, const Arguments& a) {
    if (!a.positional[0].is(ObjectKind::kConstant)) {
        return refuse(c, a.range, fmt::format("{} as an array", kind_name(a.positional[0])));
    }
    Arguments one = a;
    one.positional.resize(1);
    one.ranges.resize(1);
    one.keywords.clear();
    return np_array(c, one);
}

// --- The limits of element types -----------------------------------------------------------------

namespace {

Object no_limits(Context& c, const Arguments& a, std::string_view name, std::string_view types) {
    return refuse(c, a.range, fmt::format("`numpy.{}` of {}", name, kind_name(a.positional[0])),
                  fmt::format("give {} of NumPy, as in `np.{}(x.dtype)`", types, name));
}

// A scalar of a floating type as NumPy has it.
Object scalar_of(ElementType type, double value) {
    Result<Tensor> scalar = tensor_from_doubles(type, {}, std::span(&value, 1));
    SDX_CHECK(scalar.ok());
    return as_numpys_number(constant_of(std::move(*scalar)));
}

}  // namespace

Object np_finfo(Context& c, const Arguments& a) {
    struct Row {
        ElementType type;
        int mantissa, least_exponent, greatest_exponent;  // bits; of normal numbers
    };
    static constexpr Row kRows[] = {{ElementType::kFloat16, 10, -14, 15},
                                    {ElementType::kFloat, 23, -126, 127},
                                    {ElementType::kDouble, 52, -1022, 1023}};
    ElementType asked = dtype_argument(a, 0).value_or(ElementType::kUndefined);
    ElementType type = asked == ElementType::kComplex64    ? ElementType::kFloat
                       : asked == ElementType::kComplex128 ? ElementType::kDouble
                                                           : asked;
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [type](const Row& one) { return one.type == type; });
    if (row == std::end(kRows)) {
        return no_limits(c, a, "finfo", "a floating type");
    }
    auto [object, info] = make_namespace(c, Namespace::Kind::kInstance, "finfo", nullptr);
    double eps = std::ldexp(1.0, -row->mantissa), tiny = std::ldexp(1.0, row->least_exponent);
    double most = std::ldexp(2.0 - eps, row->greatest_exponent);
    info->set("max", scalar_of(type, most));
    info->set("min", scalar_of(type, -most));
    info->set("eps", scalar_of(type, eps));
    info->set("epsneg", scalar_of(type, eps / 2));
    info->set("tiny", scalar_of(type, tiny));
    info->set("smallest_normal", scalar_of(type, tiny));
    info->set("smallest_subnormal", scalar_of(type, tiny * eps));
    info->set("bits", Object::integer(byte_size(type, 1) * 8));
    info->set("dtype", Object::element_type(type, TypeForm::kNumpyDtype));
    return object;
}

Object np_iinfo(Context& c, const Arguments& a) {
    ElementType type = dtype_argument(a, 0).value_or(ElementType::kUndefined);
    if (!is_integer(type) || type == ElementType::kBool || !has_arithmetic(type)) {
        return no_limits(c, a, "iinfo", "an integer type");
    }
    auto [object, info] = make_namespace(c, Namespace::Kind::kInstance, "iinfo", nullptr);
    int bits = static_cast<int>(byte_size(type, 1) * 8);
    bool is_signed = !is_unsigned_type(type);
    Int128 most = (Int128{1} << (is_signed ? bits - 1 : bits)) - 1;
    info->set("max", Object::whole(most));
    info->set("min", Object::whole(is_signed ? -most - 1 : Int128{0}));
    info->set("bits", Object::integer(bits));
    info->set("dtype", Object::element_type(type, TypeForm::kNumpyDtype));
    return object;
}

}  // namespace sardonyx::elaborate
