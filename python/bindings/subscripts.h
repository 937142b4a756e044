// What stands in the brackets of x[...], of tensors and of values of a graph.
#pragma once

#include <optional>
#include <vector>

#include "bindings/bindings.h"
#include "lowering/subscript.h"

namespace sardonyx::python {

[[noreturn]] inline void refuse_index(nb::handle index) {
    raise(PyExc_TypeError, "`" + text_from_python(nb::repr(index)) +
                               "` is not an index: give integers, slices, None, `...`, "
                               "tensors of integers or a mask");
}

// An integer in a subscript; one beyond all sizes is an error of `overflow`, or, where that is
// null, the nearest that is not.
inline int64_t index_from_python(nb::handle object, PyObject* overflow) {
    Py_ssize_t index = PyNumber_AsSsize_t(object.ptr(), overflow);
    if (index == -1 && PyErr_Occurred()) {
        throw nb::python_error();
    }
    return index;
}

// `is_value(bound)`: what only the run knows.
template <typename V, typename TensorOf, typename IsValue>
std::optional<lowering::SliceBound<V>> slice_bound(nb::handle bound, const TensorOf& tensor_of,
                                                   const IsValue& is_value) {
    if (bound.is_none()) {
        return std::nullopt;
    }
    if (is_value(bound)) {
        return lowering::SliceBound<V>{std::nullopt, tensor_of(bound)};
    }
    return lowering::SliceBound<V>{index_from_python(bound, nullptr), {}};
}

// `tensor_of(index)` gives what stands for an index that is no integer, slice, None or `...`.
template <typename V, typename TensorOf, typename IsValue>
lowering::SubscriptItem<V> subscript_item(nb::handle index, const TensorOf& tensor_of,
                                          const IsValue& is_value) {
    lowering::SubscriptItem<V> item;
    if (index.is_none()) {
        item.kind = lowering::SubscriptKind::kNewAxis;
    } else if (index.ptr() == Py_Ellipsis) {
        item.kind = lowering::SubscriptKind::kEllipsis;
    } else if (PySlice_Check(index.ptr())) {
        item.kind = lowering::SubscriptKind::kSlice;
        item.lower = slice_bound<V>(index.attr("start"), tensor_of, is_value);
        item.upper = slice_bound<V>(index.attr("stop"), tensor_of, is_value);
        item.step = slice_bound<V>(index.attr("step"), tensor_of, is_value);
    } else if (PyLong_Check(index.ptr()) && !PyBool_Check(index.ptr())) {
        item.index = index_from_python(index, PyExc_IndexError);
    } else {
        item.kind = lowering::SubscriptKind::kTensor;
        item.tensor = tensor_of(index);
    }
    return item;
}

template <typename V, typename TensorOf, typename IsValue>
std::vector<lowering::SubscriptItem<V>> subscript_items(nb::handle index, const TensorOf& tensor_of,
                                                        const IsValue& is_value) {
    std::vector<lowering::SubscriptItem<V>> items;
    if (!PyTuple_Check(index.ptr())) {
        items.push_back(subscript_item<V>(index, tensor_of, is_value));
        return items;
    }
    for (nb::handle one : nb::borrow<nb::tuple>(index)) {
        items.push_back(subscript_item<V>(one, tensor_of, is_value));
    }
    return items;
}

}  // namespace sardonyx::python
