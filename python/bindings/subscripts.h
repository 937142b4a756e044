// What stands in the brackets of x[...], of tensors and of values of a graph.
#pragma once

#include <optional>
#include <vector>

#include "bindings/bindings.h"
#include "lowering/subscript.h"

namespace sardonyx::python {

// An integer in a subscript; one beyond all sizes is an error of `overflow`, or, where that is
// null, the nearest that is not.
inline int64_t index_from_python(nb::handle object, PyObject* overflow) {
    Py_ssize_t index = PyNumber_AsSsize_t(object.ptr(), overflow);
    if (index == -1 && PyErr_Occurred()) {
        throw nb::python_error();
    }
    return index;
}

// `values` has
//   bool is_value(object)   // what only the run knows
//   Value tensor(e, object)  // of what is no integer, slice, None or `...`
template <typename E, typename Values>
std::optional<lowering::SliceBound<typename E::Value>> slice_bound(E& e, nb::handle bound,
                                                                   const Values& values) {
    if (bound.is_none()) {
        return std::nullopt;
    }
    if (values.is_value(bound)) {
        return lowering::SliceBound<typename E::Value>{std::nullopt, values.tensor(e, bound)};
    }
    return lowering::SliceBound<typename E::Value>{index_from_python(bound, nullptr), {}};
}

template <typename E, typename Values>
lowering::SubscriptItem<typename E::Value> subscript_item(E& e, nb::handle index,
                                                          const Values& values) {
    lowering::SubscriptItem<typename E::Value> item;
    if (index.is_none()) {
        item.kind = lowering::SubscriptKind::kNewAxis;
    } else if (index.ptr() == Py_Ellipsis) {
        item.kind = lowering::SubscriptKind::kEllipsis;
    } else if (PySlice_Check(index.ptr())) {
        item.kind = lowering::SubscriptKind::kSlice;
        item.lower = slice_bound(e, index.attr("start"), values);
        item.upper = slice_bound(e, index.attr("stop"), values);
        item.step = slice_bound(e, index.attr("step"), values);
    } else if (PyLong_Check(index.ptr()) && !PyBool_Check(index.ptr())) {
        item.index = index_from_python(index, PyExc_IndexError);
    } else {
        item.kind = lowering::SubscriptKind::kTensor;
        item.tensor = values.tensor(e, index);
        ElementType type = e.element(item.tensor);
        if (PyBool_Check(index.ptr()) ||
            (type != ElementType::kUndefined && !lowering::is_index_type(type))) {
            raise(PyExc_TypeError, "`" + text_from_python(nb::repr(index)) +
                                       "` is not an index: give integers, slices, None, `...`, "
                                       "tensors of integers or a mask");
        }
    }
    return item;
}

template <typename E, typename Values>
std::vector<lowering::SubscriptItem<typename E::Value>> subscript_items(E& e, nb::handle index,
                                                                        const Values& values) {
    std::vector<lowering::SubscriptItem<typename E::Value>> items;
    if (!PyTuple_Check(index.ptr())) {
        items.push_back(subscript_item(e, index, values));
        return items;
    }
    for (nb::handle one : nb::borrow<nb::tuple>(index)) {
        items.push_back(subscript_item(e, one, values));
    }
    return items;
}

}  // namespace sardonyx::python
