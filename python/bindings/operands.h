// What Python objects are as operands of an operator (lowering/symbols.h), of tensors and of values
// of a graph.
#pragma once

#include <string>

#include "bindings/bindings.h"

namespace sardonyx::python {

struct PythonOperands {
    static bool is_float(nb::handle object) { return PyFloat_Check(object.ptr()) != 0; }
    static bool is_negative_int(nb::handle object) {
        return PyLong_Check(object.ptr()) != 0 && nb::cast<bool>(object.attr("__lt__")(0));
    }
    [[noreturn]] static void refuse_value(const std::string& message) {
        raise(PyExc_ValueError, message);
    }
};

}  // namespace sardonyx::python
