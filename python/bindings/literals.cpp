// Python numbers, strings and nested lists as tensors.
#include "lowering/literal.h"

#include "bindings/dlpack.h"
#include "bindings/integers.h"
#include "bindings/numpy.h"
#include "bindings/surface.h"
#include "bindings/tensor.h"
#include "eager/mixed_list.h"

namespace sardonyx::python {

namespace {

using lowering::LiteralKind;

bool is_list(nb::handle object) {
    return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}

LiteralKind scalar_kind(nb::handle object) {
    PyObject* o = object.ptr();
    return PyBool_Check(o)                          ? LiteralKind::kBool
           : PyLong_Check(o)                        ? LiteralKind::kInt
           : PyFloat_Check(o)                       ? LiteralKind::kFloat
           : PyUnicode_Check(o) || PyBytes_Check(o) ? LiteralKind::kText
                                                    : LiteralKind::kNone;
}

// Nested lists, for lowering/literal.h.
struct PythonLists {
    bool is_list(nb::handle object) const { return python::is_list(object); }
    LiteralKind kind(nb::handle object) const { return scalar_kind(object); }
    int64_t size(nb::handle object) const { return static_cast<int64_t>(nb::len(object)); }
    template <typename Visit>
    void each(nb::handle object, const Visit& visit) const {
        for (nb::handle item : nb::borrow<nb::object>(object)) {
            if (!visit(item)) {
                return;
            }
        }
    }
};

struct PythonReader : PythonLists {
    bool add(nb::handle leaf, lowering::Literal& literal) const {
        switch (scalar_kind(leaf)) {
            case LiteralKind::kBool:
                literal.add_bool(leaf.ptr() == Py_True);
                return true;
            case LiteralKind::kInt: {
                std::optional<Int128> value = wide_int_from_python(leaf);
                if (!value) {
                    raise(PyExc_OverflowError, "an integer that does not fit in 128 bits");
                }
                literal.add_int(*value);
                return true;
            }
            case LiteralKind::kFloat:
                literal.add_float(float_from_python(leaf));
                return true;
            case LiteralKind::kText:
                literal.add_text(text_from_python(leaf));
                return true;
            case LiteralKind::kNone:
                break;
        }
        return false;
    }
};

// Whether an item of a list, or of lists in it, is one of those asked for.
bool any_item(nb::handle list, bool (*is_it)(nb::handle), size_t depth = 0) {
    for (nb::handle item : nb::borrow<nb::object>(list)) {
        if (is_list(item) ? depth < lowering::kDeepestList && any_item(item, is_it, depth + 1)
                          : is_it(item)) {
            return true;
        }
    }
    return false;
}

// An array or a scalar of NumPy is one, unless it is a float of Python, as numpy.float64 is.
bool is_tensor_in_list(nb::handle item) {
    return scalar_kind(item) == LiteralKind::kNone &&
           (as_tensor(item) != nullptr || is_array(item));
}

// The tensor of a list of floats alone, or of ints alone that INT64 can hold, which most lists are:
// what the reader of all literals gives, in a single pass. Nothing for any other.
std::optional<Tensor> tensor_of_numbers(nb::handle list, ElementType type) {
    if (!PyList_CheckExact(list.ptr()) || PyList_Size(list.ptr()) == 0) {
        return std::nullopt;
    }
    int64_t count = PyList_Size(list.ptr());
    bool are_floats = PyFloat_CheckExact(PyList_GetItem(list.ptr(), 0)) != 0;
    ElementType own = are_floats ? ElementType::kFloat : ElementType::kInt64;
    if (type != ElementType::kUndefined && type != own) {
        return std::nullopt;
    }
    Tensor tensor = Tensor::zeros(own, {count});
    float* floats = are_floats ? tensor.mutable_elements<float>().data() : nullptr;
    int64_t* ints = are_floats ? nullptr : tensor.mutable_elements<int64_t>().data();
    for (int64_t i = 0; i < count; ++i) {
        PyObject* item = PyList_GetItem(list.ptr(), i);
        if (are_floats && PyFloat_CheckExact(item)) {
            floats[i] = static_cast<float>(PyFloat_AsDouble(item));
            continue;
        }
        int overflow = 0;
        if (are_floats || !PyLong_CheckExact(item)) {
            return std::nullopt;
        }
        ints[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow != 0) {
            return std::nullopt;
        }
    }
    return tensor;
}

}  // namespace

bool is_literal(nb::handle object) {
    if (is_list(object)) {
        PythonLists lists;
        return lowering::is_empty_list(object, lists) ||
               lowering::common_kind(object, lists) != LiteralKind::kNone;
    }
    return scalar_kind(object) != LiteralKind::kNone;
}

ElementType literal_type(nb::handle literal) {
    return lowering::implied_type(lowering::common_kind(literal, PythonLists()));
}

Tensor tensor_from_literal(nb::handle literal, ElementType type) {
    // For `x * 0.5` in eager loops: a scalar does not need the lists of elements.
    if (PyFloat_Check(literal.ptr()) &&
        (type == ElementType::kFloat || type == ElementType::kUndefined)) {
        return Tensor::scalar(static_cast<float>(PyFloat_AsDouble(literal.ptr())));
    }
    if (std::optional<Tensor> numbers = tensor_of_numbers(literal, type)) {
        return std::move(*numbers);
    }
    PythonReader reader;
    lowering::LiteralProblem problem;
    std::optional<lowering::Literal> read = lowering::read_literal(literal, reader, problem);
    if (!read) {
        raise(PyExc_ValueError, problem.text());
    }
    auto repr = [literal] { return text_from_python(nb::repr(literal)); };
    std::optional<Tensor> tensor = read->tensor(type, repr, problem);
    if (!tensor) {
        raise(PyExc_TypeError, problem.text());
    }
    return std::move(*tensor);
}

bool is_mixed_list(nb::handle object) {
    return is_list(object) && any_item(object, is_tensor_in_list);
}

bool holds_tensor(nb::handle object) {
    if (as_tensor(object) != nullptr) {
        return true;
    }
    if (is_list(object)) {
        return any_item(object, [](nb::handle item) { return as_tensor(item) != nullptr; });
    }
    return !is_array(object) && !is_literal(object) && has_dlpack(object);
}

Tensor tensor_from_mixed_list(nb::handle list, ElementType type) {
    return eager::tensor_of_mixed_list<Surface>(
        list, PythonLists(), type, [](nb::handle one) { return tensor_from_python(one); });
}

}  // namespace sardonyx::python
