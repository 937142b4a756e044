#include "elaborate/objects/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/array_selection.h"
#include "elaborate/objects/array_sums.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/element_types.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "types/integers.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using syntax::CompareOp;
using syntax::Range;

namespace {

Object array_object(Tensor tensor) {
    return Object::make(ObjectKind::kConstant, std::move(tensor));
}

bool is_array_operand(const Object& object) {
    return object.is_number() || (object.is(ObjectKind::kConstant) &&
                                  has_arithmetic(object.get<Tensor>().element_type()) &&
                                  object.get<Tensor>().count() <= kMostElements);
}

// The type in which NumPy computes with both: a Python number takes the array's, as far as it goes.
ElementType computed_type(const Object& a, const Object& b) {
    if (a.is(ObjectKind::kConstant) && b.is(ObjectKind::kConstant)) {
        return promoted(a.get<Tensor>().element_type(), b.get<Tensor>().element_type());
    }
    const Object& number = a.is(ObjectKind::kConstant) ? b : a;
    ElementType type = (a.is(ObjectKind::kConstant) ? a : b).get<Tensor>().element_type();
    if (number.shown_as() == ShownAs::kNumpy) {
        return promoted(type, number.is(ObjectKind::kFloat)  ? ElementType::kDouble
                              : number.is(ObjectKind::kBool) ? ElementType::kBool
                                                             : ElementType::kInt64);
    }
    if (number.is(ObjectKind::kFloat)) {
        return is_floating(type) ? type : ElementType::kDouble;
    }
    return type == ElementType::kBool && !number.is(ObjectKind::kBool) ? ElementType::kInt64 : type;
}

// The operand as an array of the type; nothing: a number that the type does not hold.
std::optional<Tensor> as_array(const Object& object, ElementType type) {
    if (object.is(ObjectKind::kConstant)) {
        return cast_array(object.get<Tensor>(), type);
    }
    double real = object.as_double();
    Int128 whole = object.is_whole() ? object.as_whole() : Int128{0};
    Result<Tensor> made = is_floating(type) || !object.is_whole()
                              ? tensor_from_doubles(type, {}, std::span(&real, 1))
                              : tensor_from_integers(type, {}, std::span(&whole, 1));
    return made.ok() ? std::optional<Tensor>(std::move(*made)) : std::nullopt;
}

// Whether both can be computed with here, and one is an array.
bool are_arrays(const Object& a, const Object& b) {
    return (a.is(ObjectKind::kConstant) || b.is(ObjectKind::kConstant)) && is_array_operand(a) &&
           is_array_operand(b);
}

std::optional<Object> broadcast_operands(Context& c, const Tensor& a, const Tensor& b, Range range,
                                         Broadcast& both) {
    std::optional<Broadcast> made = broadcast(a.dims(), b.dims());
    if (!made) {
        return refuse(c, range, "arrays whose shapes cannot be broadcast together");
    }
    both = std::move(*made);
    if (both.left.size() > static_cast<size_t>(kMostElements)) {
        return refuse(c, range, "an array of this size");
    }
    return std::nullopt;
}

// What NumPy computes for an array to the power of one number, which is rounded once; nothing: Pow.
std::optional<Tensor> quick_power(const Tensor& base, const Tensor& exponent) {
    if (!is_floating(base.element_type()) || exponent.count() != 1) {
        return std::nullopt;
    }
    double power = (*to_doubles(exponent))[0];
    std::optional<Broadcast> same = broadcast(base.dims(), base.dims());
    if (power == 2) {
        return same ? combine(Binary::kMul, base, base, *same) : std::nullopt;
    }
    if (power == -1) {
        Tensor one = *cast_array(Tensor::scalar<double>(1), base.element_type());
        std::optional<Broadcast> both = broadcast({}, base.dims());
        return both ? combine(Binary::kDiv, one, base, *both) : std::nullopt;
    }
    std::optional<Object> root =
        power == 0.5 ? map_array(array_object(base), std::sqrt) : std::nullopt;
    return root ? std::optional(as_array_scalar(*root).get<Tensor>()) : std::nullopt;
}

}  // namespace

std::optional<Object> array_binary(Context& c, Binary op, const Object& a, const Object& b,
                                   Range range) {
    if (op == Binary::kMatMul) {
        return c.runs_file ? array_product(c, a, b, range) : std::nullopt;
    }
    if (!are_arrays(a, b)) {
        return std::nullopt;
    }
    ElementType type = computed_type(a, b);
    bool is_of_flags = op == Binary::kPow && a.is(ObjectKind::kConstant) &&
                       a.get<Tensor>().element_type() == ElementType::kBool;
    if (is_of_flags) {
        return refuse(c, range, "`**` of an array of BOOL, whose type depends on the exponent",
                      "make integers of it: `.astype(np.int64)`");
    }
    if (op == Binary::kDiv && !is_floating(type)) {
        type = ElementType::kDouble;
    }
    std::optional<Tensor> left = as_array(a, type), right = as_array(b, type);
    if (!left || !right) {
        return refuse(c, range, fmt::format("a number that {} does not hold", name(type)));
    }
    Broadcast both;
    if (std::optional<Object> failed = broadcast_operands(c, *left, *right, range, both)) {
        return failed;
    }
    bool may_be_quick = op == Binary::kPow && !is_numpys_scalar(a) && both.dims == left->dims();
    std::optional<Tensor> result =
        may_be_quick ? quick_power(*left, *right) : std::optional<Tensor>();
    result = result ? std::move(result) : combine(op, *left, *right, both);
    return result
               ? array_object(std::move(*result))
               : refuse(c, range,
                        fmt::format("`{}` on arrays of {}",
                                    lowering::kBinarySymbols[static_cast<size_t>(op)], name(type)));
}

std::optional<Object> array_product(Context& c, const Object& a, const Object& b, Range range) {
    const Object left = as_array_scalar(a), right = as_array_scalar(b);
    auto is_array = [](const Object& one) {
        return one.is(ObjectKind::kConstant) && is_array_operand(one);
    };
    if (!is_array(left) || !is_array(right)) {
        return std::nullopt;
    }
    ElementType type = computed_type(left, right);
    std::optional<Tensor> x = as_array(left, type), y = as_array(right, type);
    std::optional<Tensor> made = x && y ? matrix_product(*x, *y) : std::nullopt;
    if (made) {
        return as_numpys_number(array_object(std::move(*made)));
    }
    return is_floating(type)
               ? refuse(c, range,
                        "a product of these matrices, which depends on the order in which NumPy "
                        "adds",
                        "write the numbers, or use `op.MatMul` in the script")
               : refuse(c, range, "a product of matrices of these shapes");
}

std::optional<Object> array_compare(Context& c, CompareOp op, const Object& a, const Object& b,
                                    Range range) {
    if (!are_arrays(a, b) || op > CompareOp::kGtE) {
        return std::nullopt;
    }
    ElementType type = computed_type(a, b);
    auto is_of_integers = [](const Object& one) {
        return one.is(ObjectKind::kConstant) && is_integer(one.get<Tensor>().element_type());
    };
    if (is_floating(type) && is_of_integers(a) && is_of_integers(b)) {
        return std::nullopt;  // INT64 beside UINT64, which NumPy compares exactly
    }
    std::optional<Tensor> left = as_array(a, type), right = as_array(b, type);
    if (!left || !right) {
        return std::nullopt;
    }
    Broadcast both;
    if (std::optional<Object> failed = broadcast_operands(c, *left, *right, range, both)) {
        return failed;
    }
    std::optional<Tensor> result = compare(op, *left, *right, both);
    return result ? std::optional(as_numpys_number(array_object(std::move(*result))))
                  : std::nullopt;
}

std::optional<Object> array_unary(lowering::Unary op, const Object& a) {
    if (!a.is(ObjectKind::kConstant) || !is_array_operand(a)) {
        return std::nullopt;
    }
    std::optional<Tensor> result = apply_unary(op, a.get<Tensor>());
    return result ? std::optional(as_numpys_number(array_object(std::move(*result))))
                  : std::nullopt;
}

std::optional<Object> map_array(const Object& a, double (*function)(double)) {
    if (!a.is(ObjectKind::kConstant) || !is_array_operand(a)) {
        return std::nullopt;
    }
    const Tensor& array = a.get<Tensor>();
    ElementType type = array.element_type();
    ElementType floats = promoted(type, ElementType::kFloat16);
    std::optional<Tensor> values = cast_array(array, ElementType::kDouble);
    if (!values) {
        return std::nullopt;
    }
    Tensor result = Tensor::uninitialized(ElementType::kDouble, array.dims());
    std::transform(values->elements<double>().begin(), values->elements<double>().end(),
                   result.mutable_elements<double>().begin(), function);
    std::optional<Tensor> rounded = cast_array(result, is_floating(type) ? type : floats);
    return rounded ? std::optional(as_numpys_number(array_object(std::move(*rounded))))
                   : std::nullopt;
}

// --- Items ---------------------------------------------------------------------------------------

namespace {

// Arrays that share elements with another one here are not changed: the other would not follow.
void note_view(Context& c, const Object& a) {
    c.program.unknowns->shared_arrays.insert(a);
}

bool may_change_array(Context& c, const Object& a) {
    return c.program.unknowns->shared_arrays.count(a) == 0;
}

void replace_array(Context& c, const Object& a, Tensor changed) {
    log_replacement(c, a);
    a.get<Tensor>() = std::move(changed);
}

}  // namespace

ArrayOrder order_of(Context& c, const Object& array) {
    const Unknowns& unknowns = *c.program.unknowns;
    bool is_line = array.get<Tensor>().rank() == 1;
    bool has_gaps = unknowns.strided_arrays.count(array) != 0;
    bool is_known = c.runs_file && (is_line || (!unknowns.has_other_order && !has_gaps));
    return !is_known ? ArrayOrder::kUnknown : has_gaps ? ArrayOrder::kLine : ArrayOrder::kRow;
}

void note_other_order(Context& c) {
    c.program.unknowns->has_other_order = true;
}

Object reshaped_view(Context& c, const Object& a, Tensor tensor) {
    Object view = array_object(std::move(tensor));
    note_view(c, a);
    note_view(c, view);
    if (c.program.unknowns->strided_arrays.count(a) != 0) {
        c.program.unknowns->strided_arrays.insert(view);
    }
    return view;
}

Object array_view(Context& c, const Object& a, Tensor tensor) {
    Object view = reshaped_view(c, a, std::move(tensor));
    c.program.unknowns->strided_arrays.insert(view);
    return view;
}

std::optional<Object> array_item(Context& c, const Object& a, const Object& index, Range range) {
    if (!a.is(ObjectKind::kConstant) || !is_array_operand(a)) {
        return std::nullopt;
    }
    const Tensor& array = a.get<Tensor>();
    std::optional<Selection> selection = select_items(c, array, index, range);
    if (!selection || selection->is_error) {
        return selection ? std::optional(Object::error()) : std::nullopt;
    }
    // In a model, what is larger than the array is computed when it runs.
    bool is_larger = selection->places.size() > static_cast<size_t>(array.count());
    if (is_larger && !c.runs_file) {
        return std::nullopt;
    }
    Tensor result = gather(array, selection->places, selection->dims);
    if (selection->is_copy && selection->dims.size() > 1 && index.is(ObjectKind::kTuple)) {
        note_other_order(c);  // what arrays choose is made with their axes first
    }
    return selection->is_copy ? array_object(std::move(result))
                              : array_view(c, a, std::move(result));
}

Object array_copy(Context& c, const Object& a, const Object& index, Range range) {
    std::optional<Selection> selection =
        is_array_operand(a) ? select_items(c, a.get<Tensor>(), index, range) : std::nullopt;
    return !selection            ? refuse(c, range, "an index of this kind", "make a new array")
           : selection->is_error ? Object::error()
                                 : as_numpys_number(array_object(gather(
                                       a.get<Tensor>(), selection->places, selection->dims)));
}

bool set_array_item(Context& c, const Object& a, const Object& index, const Object& value,
                    Range range) {
    const Tensor& array = a.get<Tensor>();
    ElementType type = array.element_type();
    std::optional<Selection> selection;
    if (c.runs_file && is_array_operand(a) && is_array_operand(value) && may_change_array(c, a)) {
        selection = select_items(c, array, index, range);
    }
    if (selection && selection->is_error) {
        return false;
    }
    Object number = value;
    if (value.is(ObjectKind::kFloat) && !is_floating(type) && std::isfinite(value.as_double()) &&
        std::fabs(value.as_double()) < 0x1p62) {  // the fraction is cut off
        number = Object::integer(static_cast<int64_t>(value.as_double()));
    }
    std::optional<Tensor> items = selection ? as_array(number, type) : std::nullopt;
    std::optional<Broadcast> both =
        items ? broadcast(selection->dims, items->dims()) : std::nullopt;
    if (!both || both->left.size() != selection->places.size()) {
        refuse(c, range, "an assignment to items of an array", "make a new array");
        return false;
    }
    replace_array(c, a, scatter(array, selection->places, *items, both->right));
    return true;
}

bool change_array(Context& c, const Object& a, const Object& after) {
    const Tensor& result = after.get<Tensor>();
    const Tensor& array = a.get<Tensor>();
    // As NumPy's rule "same_kind": no floats into integers, no signs into what has none.
    bool fits = result.dims() == array.dims() &&
                (result.element_type() == array.element_type() ||
                 (is_floating(result.element_type()) && is_floating(array.element_type())));
    std::optional<Tensor> changed =
        fits && may_change_array(c, a) ? cast_array(result, array.element_type()) : std::nullopt;
    if (changed) {
        replace_array(c, a, std::move(*changed));
    }
    return changed.has_value();
}

// --- Members -------------------------------------------------------------------------------------

Object element_of(const Tensor& array, int64_t place) {
    Tensor one = gather(array, std::vector<int64_t>{place}, {});
    if (is_floating(one.element_type())) {
        return Object::real((*to_doubles(one))[0]);
    }
    if (one.element_type() == ElementType::kUint64) {
        return Object::whole(static_cast<Int128>(one.elements<uint64_t>()[0]));
    }
    int64_t value = (*to_int64s(*cast_array(one, ElementType::kInt64)))[0];
    return one.element_type() == ElementType::kBool ? Object::boolean(value != 0)
                                                    : Object::integer(value);
}

namespace {

constexpr std::string_view kArrayMethods[] = {
    "astype", "copy", "reshape", "tolist",    "item",    "ravel",  "flatten", "max",
    "min",    "sum",  "clip",    "transpose", "squeeze", "repeat", "cumsum",  "argsort",
    "all",    "any",  "prod",    "mean",      "argmax",  "argmin", "round",   "dot",
    "std",    "var",  "cumprod", "swapaxes",  "nonzero", "take",   "trace"};

Object list_of(const Tensor& array, size_t axis, int64_t& place) {
    if (axis == array.dims().size()) {
        return element_of(array, place++);
    }
    std::vector<Object> items;
    for (int64_t i = 0; i < array.dims()[axis]; ++i) {
        items.push_back(list_of(array, axis + 1, place));
    }
    return Object::list(std::move(items));
}

std::optional<Dims> new_dims(const Tensor& array, const std::vector<Object>& given) {
    std::vector<Object> parts =
        given.size() == 1 && given[0].is_sequence() ? given[0].items() : given;
    Dims dims;
    int64_t known = 1;
    for (const Object& one : parts) {
        if (!one.is(ObjectKind::kInt) || one.as_int() < -1 || one.as_int() > kMostElements) {
            return std::nullopt;
        }
        dims.push_back(one.as_int());
        known *= one.as_int() == -1 ? 1 : one.as_int();
        if (known > kMostElements) {
            return std::nullopt;
        }
    }
    auto open = std::find(dims.begin(), dims.end(), -1);
    if (open != dims.end() && known != 0 && array.count() % known == 0) {
        *open = array.count() / known;
        known *= *open;
    }
    bool fits = known == array.count() && std::find(dims.begin(), dims.end(), -1) == dims.end();
    return fits ? std::optional(std::move(dims)) : std::nullopt;
}

}  // namespace

Object as_numpys_number(const Object& scalar) {
    if (!scalar.is(ObjectKind::kConstant) || !scalar.get<Tensor>().dims().empty()) {
        return scalar;
    }
    const Tensor& array = scalar.get<Tensor>();
    ElementType type = array.element_type();
    bool is_pythons = type == ElementType::kDouble || type == ElementType::kInt64;
    return (is_pythons ? element_of(array, 0) : scalar).shown(ShownAs::kNumpy);
}

bool is_numpys_scalar(const Object& object) {
    return object.shown_as() == ShownAs::kNumpy && (object.is_number() || is_array_scalar(object));
}

Object as_array_scalar(const Object& number) {
    bool is_numpys = number.shown_as() == ShownAs::kNumpy;
    return is_numpys && number.is(ObjectKind::kFloat)
               ? array_object(Tensor::scalar<double>(number.as_double()))
           : is_numpys && number.is(ObjectKind::kInt)
               ? array_object(Tensor::scalar<int64_t>(number.as_int()))
               : number;
}

ElementType numpys_type(const Object& scalar) {
    return as_array_scalar(scalar).get<Tensor>().element_type();
}

Object plain_number(const Object& scalar) {
    bool is_scalar = scalar.is(ObjectKind::kConstant) && is_array_operand(scalar) &&
                     scalar.get<Tensor>().dims().empty();
    return is_scalar ? element_of(scalar.get<Tensor>(), 0) : scalar;
}

std::optional<Object> array_member(Context& c, const Object& a, std::string_view name) {
    if (!is_array_operand(a)) {
        return std::nullopt;
    }
    if (name == "T") {
        const Tensor& array = a.get<Tensor>();
        Dims dims(array.dims().rbegin(), array.dims().rend());
        note_other_order(c);
        return array_view(c, a, gather(array, transposed_places(array.dims()), dims));
    }
    if (std::find(std::begin(kArrayMethods), std::end(kArrayMethods), name) !=
        std::end(kArrayMethods)) {
        return Object::make(ObjectKind::kMethod, MethodObject{a, std::string(name)});
    }
    return std::nullopt;
}

std::optional<Object> array_method(Context& c, const Object& a, std::string_view name,
                                   const Arguments& arguments) {
    if (!is_array_operand(a) || !arguments.keywords.empty()) {
        return std::nullopt;
    }
    const Tensor& array = a.get<Tensor>();
    const std::vector<Object>& given = arguments.positional;
    if (name == "astype" && given.size() == 1) {
        std::optional<ElementType> type = dtype_argument(arguments, 0);
        std::optional<Tensor> cast = type ? cast_array(array, *type) : std::nullopt;
        return cast ? std::optional(array_object(std::move(*cast))) : std::nullopt;
    }
    if (name == "reshape" && !given.empty()) {
        std::optional<Dims> dims = new_dims(array, given);
        return dims ? std::optional(reshaped_view(c, a, array.reshaped(std::move(*dims))))
                    : std::nullopt;
    }
    if (!given.empty()) {
        return std::nullopt;
    }
    if (name == "copy") {
        return array_object(array);
    }
    if (name == "ravel" || name == "flatten") {
        Tensor flat = array.reshaped({array.count()});
        return name == "ravel" ? reshaped_view(c, a, std::move(flat))
                               : array_object(std::move(flat));
    }
    int64_t place = 0;
    if (name == "tolist" || (name == "item" && array.count() == 1)) {
        return name == "item" ? element_of(array, 0) : list_of(array, 0, place);
    }
    return std::nullopt;
}

}  // namespace sardonyx::elaborate
