// Python numbers, strings and nested lists as tensors.
#include <cmath>

#include "bindings/integers.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "types/integers.h"

namespace sardonyx::python {

namespace {

constexpr int kMaxDepth = 32;

// The kinds in the order in which they absorb each other: [True, 1] is a list of ints.
enum class Scalar : uint8_t { kNone, kBool, kInt, kFloat, kString };

struct Elements {
    Dims dims;
    Scalar kind = Scalar::kNone;
    std::vector<Int128> ints;  // kBool, kInt
    std::vector<double> doubles;
    std::vector<std::string> strings;
};

bool is_list(nb::handle object) {
    return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}

Scalar scalar_kind(nb::handle object) {
    PyObject* o = object.ptr();
    return PyBool_Check(o)                          ? Scalar::kBool
           : PyLong_Check(o)                        ? Scalar::kInt
           : PyFloat_Check(o)                       ? Scalar::kFloat
           : PyUnicode_Check(o) || PyBytes_Check(o) ? Scalar::kString
                                                    : Scalar::kNone;
}

// A list without elements, however deep: `[]`, `[[], []]`.
bool is_empty_list(nb::handle object, int depth = 0) {
    if (!is_list(object) || depth > kMaxDepth) {
        return false;
    }
    for (nb::handle item : nb::borrow<nb::object>(object)) {
        if (!is_empty_list(item, depth + 1)) {
            return false;
        }
    }
    return true;
}

// The kind that all elements fit in; kNone for anything that is no literal, or an empty list.
Scalar common_kind(nb::handle object, int depth = 0) {
    if (!is_list(object) || depth > kMaxDepth) {
        return scalar_kind(object);
    }
    Scalar kind = Scalar::kNone;
    for (nb::handle item : nb::borrow<nb::object>(object)) {
        Scalar one = common_kind(item, depth + 1);
        if (one == Scalar::kNone && !is_empty_list(item)) {
            return Scalar::kNone;
        }
        if (kind != Scalar::kNone && (one == Scalar::kString) != (kind == Scalar::kString)) {
            return Scalar::kNone;
        }
        kind = std::max(kind, one);
    }
    return kind;
}

void collect(nb::handle object, size_t depth, Elements& out) {
    if (is_list(object)) {
        auto size = static_cast<int64_t>(nb::len(object));
        if (out.dims[depth] != size) {
            raise(PyExc_ValueError, "a nested list whose rows differ in length");
        }
        for (nb::handle item : nb::borrow<nb::object>(object)) {
            if (is_list(item) != (depth + 1 < out.dims.size())) {
                raise(PyExc_ValueError, "a nested list whose rows differ in depth");
            }
            collect(item, depth + 1, out);
        }
    } else if (out.kind == Scalar::kString) {
        out.strings.push_back(text_from_python(object));
    } else if (out.kind == Scalar::kFloat) {
        out.doubles.push_back(float_from_python(object));
    } else {
        std::optional<Int128> value = wide_int_from_python(object);
        if (!value) {
            raise(PyExc_OverflowError, "an integer that does not fit in 128 bits");
        }
        out.ints.push_back(*value);
    }
}

Elements collect(nb::handle object) {
    Elements out;
    out.kind = common_kind(object);
    nb::object first = nb::borrow(object);
    while (is_list(first)) {
        out.dims.push_back(static_cast<int64_t>(nb::len(first)));
        if (out.dims.back() == 0) {
            break;
        }
        first = nb::borrow(first[0]);
    }
    collect(object, 0, out);
    return out;
}

ElementType implied_type(Scalar kind) {
    switch (kind) {
        case Scalar::kBool:
            return ElementType::kBool;
        case Scalar::kInt:
        case Scalar::kNone:  // as in a script: the lists that are empty are axes and shapes
            return ElementType::kInt64;
        case Scalar::kString:
            return ElementType::kString;
        case Scalar::kFloat:
            return ElementType::kFloat;
    }
    return ElementType::kUndefined;
}

}  // namespace

bool is_literal(nb::handle object) {
    if (is_list(object)) {
        return is_empty_list(object) || common_kind(object) != Scalar::kNone;
    }
    return scalar_kind(object) != Scalar::kNone;
}

ElementType literal_type(nb::handle literal) {
    return implied_type(common_kind(literal));
}

Tensor tensor_from_literal(nb::handle literal, ElementType type) {
    // `x * 0.5` in eager loops: without the detour through lists of elements.
    if (PyFloat_Check(literal.ptr()) &&
        (type == ElementType::kFloat || type == ElementType::kUndefined)) {
        return Tensor::scalar(static_cast<float>(PyFloat_AsDouble(literal.ptr())));
    }
    Elements elements = collect(literal);
    if (type == ElementType::kUndefined) {
        type = implied_type(elements.kind);
    }
    bool is_text = elements.kind == Scalar::kString;
    if (is_text != (type == ElementType::kString) && elements.kind != Scalar::kNone) {
        raise(PyExc_TypeError, "a tensor of " + std::string(name(type)) + " cannot be made of `" +
                                   text_from_python(nb::repr(literal)) + "`");
    }
    if (type == ElementType::kString) {
        return Tensor::of_strings(std::move(elements.dims), std::move(elements.strings));
    }
    for (double value : elements.doubles) {
        if (is_integer(type) && value != std::trunc(value)) {
            raise(PyExc_TypeError, "`" + text_from_python(nb::repr(literal)) +
                                       "` would lose its fraction as " + std::string(name(type)) +
                                       ": cast the tensor first, or write an integer");
        }
    }
    if (type == ElementType::kBool) {
        for (Int128& value : elements.ints) {
            value = value != 0 ? 1 : 0;
        }
        for (double& value : elements.doubles) {
            value = value != 0 ? 1 : 0;
        }
    }
    Result<Tensor> tensor =
        elements.kind == Scalar::kFloat || elements.kind == Scalar::kNone
            ? tensor_from_doubles(type, std::move(elements.dims), elements.doubles)
            : tensor_from_integers(type, std::move(elements.dims), elements.ints);
    if (!tensor.ok()) {
        raise(PyExc_TypeError, tensor.error().message);
    }
    return std::move(tensor).value();
}

}  // namespace sardonyx::python
