#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/screenful.h"
#include "bindings/bindings.h"
#include "bindings/integers.h"

namespace sardonyx::python {

namespace {

nb::handle g_eval_error;
nb::handle g_model_error;

}  // namespace

nb::handle eval_error() {
    return g_eval_error;
}

nb::handle model_error() {
    return g_model_error;
}

void raise(nb::handle type, const std::string& message) {
    nb::object text = text_to_python(message);
    PyErr_SetObject(type.ptr(), text.ptr());
    throw nb::python_error();
}

void raise(const Error& error) {
    raise(g_eval_error, screenful(error.message));
}

void pass_on_exits(const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) {
        throw;
    }
}

void check_readable(const std::string& path) {
    struct stat found {};
    int failed = ::stat(path.c_str(), &found) != 0   ? errno
                 : S_ISDIR(found.st_mode)            ? EISDIR
                 : ::access(path.c_str(), R_OK) != 0 ? errno
                                                     : 0;
    if (failed != 0) {
        errno = failed;
        PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, text_to_python(path).ptr());
        throw nb::python_error();
    }
}

std::string text_from_python(nb::handle text) {
    if (PyBytes_Check(text.ptr())) {
        char* data = nullptr;
        Py_ssize_t size = 0;
        PyBytes_AsStringAndSize(text.ptr(), &data, &size);
        return {data, static_cast<size_t>(size)};
    }
    Py_ssize_t size = 0;
    if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
        return {data, static_cast<size_t>(size)};
    }
    PyErr_Clear();
    nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) {
        throw nb::python_error();
    }
    return text_from_python(bytes);
}

nb::object text_to_python(std::string_view text) {
    nb::object result = nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
    if (!result.is_valid()) {
        throw nb::python_error();
    }
    return result;
}

int64_t int_from_python(nb::handle object) {
    nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    long long value = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
    if (value == -1 && PyErr_Occurred()) {
        throw nb::python_error();
    }
    return value;
}

std::optional<Int128> wide_int_from_python(nb::handle object) {
    nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    if (!number.is_valid()) {
        throw nb::python_error();
    }
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow == 0) {
        return Int128{value};
    }
    nb::object above = nb::steal(PyNumber_Rshift(number.ptr(), nb::int_(64).ptr()));
    long long high = PyLong_AsLongLongAndOverflow(above.ptr(), &overflow);
    if (overflow != 0) {
        return std::nullopt;
    }
    Uint128 low = PyLong_AsUnsignedLongLongMask(number.ptr());
    return static_cast<Int128>((static_cast<Uint128>(high) << 64) | low);
}

nb::object wide_int_to_python(Int128 value) {
    nb::object high = nb::int_(static_cast<int64_t>(value >> 64));
    nb::object low = nb::int_(static_cast<uint64_t>(value));
    return nb::steal(PyNumber_Or(
        nb::object(nb::steal(PyNumber_Lshift(high.ptr(), nb::int_(64).ptr()))).ptr(), low.ptr()));
}

double float_from_python(nb::handle object) {
    double value = PyFloat_AsDouble(object.ptr());
    if (value == -1.0 && PyErr_Occurred()) {
        throw nb::python_error();
    }
    return value;
}

std::string kind_of(nb::handle object) {
    nb::handle type = object.type();
    std::string name = text_from_python(type.attr("__qualname__"));
    std::string module = text_from_python(nb::str(type.attr("__module__")));
    return module == "builtins" ? name : module + "." + name;
}

nb::object attribute_or_none(nb::handle object, const char* name) {
    nb::object text = nb::steal(PyUnicode_FromString(name));
    if (!text.is_valid()) {
        throw nb::python_error();
    }
    return attribute_or_none(object, text);
}

nb::object attribute_or_none(nb::handle object, nb::handle name) {
    nb::object found = nb::steal(PyObject_GetAttr(object.ptr(), name.ptr()));
    if (!found.is_valid()) {
        // The `__getattr__` of a dict with attributes often raises KeyError.
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            throw nb::python_error();
        }
        PyErr_Clear();
    }
    return found;
}

void bind_errors(nb::module_& m) {
    g_eval_error = nb::handle(PyErr_NewExceptionWithDoc(
        "sardonyx.EvalError",
        "An operator, a graph or its data could not be evaluated, read or written.",
        PyExc_RuntimeError, nullptr));
    m.attr("EvalError") = g_eval_error;
    nb::tuple bases = nb::make_tuple(g_eval_error, nb::handle(PyExc_ValueError));
    g_model_error = nb::handle(PyErr_NewExceptionWithDoc(
        "sardonyx.ModelError", "A model is broken, or an edit of it would break it.", bases.ptr(),
        nullptr));
    m.attr("ModelError") = g_model_error;
    m.def("check_readable", check_readable, nb::arg("path"));
}

}  // namespace sardonyx::python
