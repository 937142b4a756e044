#include "bindings/unpacking.h"

#include "bindings/bindings.h"

namespace sardonyx::python {

namespace {

constexpr size_t kAnyNumber = 1 << 16;

// The numbers of the two instructions in the running Python.
struct Opcodes {
    int unpack_sequence = -1;
    int unpack_ex = -1;

    Opcodes() {
        nb::object numbers = nb::module_::import_("opcode").attr("opmap");
        unpack_sequence = nb::cast<int>(numbers["UNPACK_SEQUENCE"]);
        unpack_ex = nb::cast<int>(numbers["UNPACK_EX"]);
    }
};

}  // namespace

size_t unpacked_results() {
    static const Opcodes opcodes;
    nb::handle frame(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    if (!frame.is_valid()) {
        return 0;
    }
    nb::object code = frame.attr("f_code").attr("co_code");
    auto position = nb::cast<int64_t>(frame.attr("f_lasti"));
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    PyBytes_AsStringAndSize(code.ptr(), &bytes, &size);
    // Instructions are two bytes; those with number 0 are the caches of the call (Python 3.11+).
    int64_t next = position + 2;
    while (position >= 0 && next + 1 < size && bytes[next] == 0) {
        next += 2;
    }
    if (position < 0 || next + 1 >= size) {
        return 0;
    }
    int opcode = static_cast<unsigned char>(bytes[next]);
    return opcode == opcodes.unpack_sequence ? static_cast<unsigned char>(bytes[next + 1])
           : opcode == opcodes.unpack_ex     ? kAnyNumber
                                             : 0;
}

}  // namespace sardonyx::python
