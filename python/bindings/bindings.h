// What the files of the extension `sardonyx._core` share. One file binds one header of src/; the
// engine's own code never sees Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sardonyx::python {

namespace nb = nanobind;

void bind_errors(nb::module_& m);
void bind_interrupt(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_opset(nb::module_& m);
void bind_schemas(nb::module_& m);
void bind_script(nb::module_& m);
void bind_model(nb::module_& m);
void bind_weights(nb::module_& m);
void bind_torch_file(nb::module_& m);

// sardonyx.EvalError: an operator, a graph or its data could not be evaluated, read or written.
nb::handle eval_error();
// sardonyx.ModelError, an EvalError and a ValueError: a model is broken, or an edit would break it.
nb::handle model_error();

// Raises `type` with this message.
[[noreturn]] void raise(nb::handle type, const std::string& message);
// Raises EvalError with the message of a failed Result.
[[noreturn]] void raise(const Error& error);
// Raises what Python's `open` raises (FileNotFoundError and the like) if the path is not a readable
// file. To be called when reading has failed.
void check_readable(const std::string& path);

// In an exception handler: rethrows exceptions that are not errors but end the program, such as
// KeyboardInterrupt and SystemExit.
void pass_on_exits(const nb::python_error& error);

template <typename T>
T unwrap(Result<T>&& result) {
    if (!result.ok()) {
        raise(result.error());
    }
    return std::move(result).value();
}
inline void unwrap(Result<void>&& result) {
    if (!result.ok()) {
        raise(result.error());
    }
}

// For functions in type slots, which CPython calls directly, without nanobind: returns the result
// of `body` as a new reference, or null after it has turned a C++ exception into a Python error.
template <typename Body>
PyObject* guarded(Body&& body) noexcept {
    try {
        return nb::object(body()).release().ptr();
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
}

// The text of a Python str as UTF-8; bytes that are not text keep their values both ways
// (surrogateescape), since ONNX strings may hold any bytes.
std::string text_from_python(nb::handle text);
nb::object text_to_python(std::string_view text);

// The result of `__index__`. Raises TypeError if there is none, and OverflowError.
int64_t int_from_python(nb::handle object);
// The result of `__float__`; raises the same errors.
double float_from_python(nb::handle object);

// "int", "numpy.ndarray": for messages.
std::string kind_of(nb::handle object);
// The attribute, or an empty object where there is none.
nb::object attribute_or_none(nb::handle object, const char* name);
nb::object attribute_or_none(nb::handle object, nb::handle name);

}  // namespace sardonyx::python
