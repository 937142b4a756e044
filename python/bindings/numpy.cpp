// NumPy arrays <-> tensors, through NumPy's C interface: arrays are read without calls of Python.
#include "bindings/numpy.h"

#include <array>
#include <cstring>

#include <numpy/arrayobject.h>

#include "types/packed.h"

namespace sardonyx::python {

namespace {

// How NumPy knows an element type: its name (of numpy or ml_dtypes) and the number of its dtype; no
// number: NumPy itself does not have it.
struct ArrayType {
    ElementType type;
    const char* name;
    int number;
};
constexpr ArrayType kArrayTypes[] = {
    {ElementType::kFloat, "float32", NPY_FLOAT32},
    {ElementType::kUint8, "uint8", NPY_UINT8},
    {ElementType::kInt8, "int8", NPY_INT8},
    {ElementType::kUint16, "uint16", NPY_UINT16},
    {ElementType::kInt16, "int16", NPY_INT16},
    {ElementType::kInt32, "int32", NPY_INT32},
    {ElementType::kInt64, "int64", NPY_INT64},
    {ElementType::kString, "object", NPY_OBJECT},
    {ElementType::kBool, "bool", NPY_BOOL},
    {ElementType::kFloat16, "float16", NPY_FLOAT16},
    {ElementType::kDouble, "float64", NPY_FLOAT64},
    {ElementType::kUint32, "uint32", NPY_UINT32},
    {ElementType::kUint64, "uint64", NPY_UINT64},
    {ElementType::kComplex64, "complex64", NPY_COMPLEX64},
    {ElementType::kComplex128, "complex128", NPY_COMPLEX128},
    {ElementType::kBfloat16, "bfloat16", NPY_NOTYPE},
    {ElementType::kFloat8E4M3FN, "float8_e4m3fn", NPY_NOTYPE},
    {ElementType::kFloat8E4M3FNUZ, "float8_e4m3fnuz", NPY_NOTYPE},
    {ElementType::kFloat8E5M2, "float8_e5m2", NPY_NOTYPE},
    {ElementType::kFloat8E5M2FNUZ, "float8_e5m2fnuz", NPY_NOTYPE},
    {ElementType::kUint4, "uint4", NPY_NOTYPE},
    {ElementType::kInt4, "int4", NPY_NOTYPE},
    {ElementType::kFloat4E2M1, "float4_e2m1fn", NPY_NOTYPE},
    {ElementType::kFloat8E8M0, "float8_e8m0fnu", NPY_NOTYPE},
    {ElementType::kUint2, "uint2", NPY_NOTYPE},
    {ElementType::kInt2, "int2", NPY_NOTYPE},
    {ElementType::kFloat6E2M3, "float6_e2m3fn", NPY_NOTYPE},
    {ElementType::kFloat6E3M2, "float6_e3m2fn", NPY_NOTYPE},
};
static_assert(std::size(kArrayTypes) == kElementTypeCount - 1);

const ArrayType& array_type(ElementType type) {
    return kArrayTypes[static_cast<size_t>(type) - 1];
}

// Element types by the number of NumPy's dtype. Two of `int`, `long` and `long long` have one width
// and two numbers.
constexpr auto kTypesByNumber = [] {
    std::array<ElementType, NPY_NOTYPE> types{};
    constexpr ElementType kLong = sizeof(long) == 8 ? ElementType::kInt64 : ElementType::kInt32;
    constexpr ElementType kUlong = sizeof(long) == 8 ? ElementType::kUint64 : ElementType::kUint32;
    types[NPY_INT] = ElementType::kInt32;
    types[NPY_UINT] = ElementType::kUint32;
    types[NPY_LONG] = kLong;
    types[NPY_ULONG] = kUlong;
    types[NPY_LONGLONG] = ElementType::kInt64;
    types[NPY_ULONGLONG] = ElementType::kUint64;
    for (const ArrayType& row : kArrayTypes) {
        if (row.number != NPY_NOTYPE && row.type != ElementType::kString) {
            types[static_cast<size_t>(row.number)] = row.type;
        }
    }
    return types;
}();

// kUndefined: objects, texts, dates, and dtypes that others have added.
ElementType element_type_by_number(int number) {
    return number >= 0 && number < NPY_NOTYPE ? kTypesByNumber[static_cast<size_t>(number)]
                                              : ElementType::kUndefined;
}

ElementType element_type_from_name(std::string_view name) {
    for (const ArrayType& row : kArrayTypes) {
        if (name == row.name && row.type != ElementType::kString) {
            return row.type;
        }
    }
    return ElementType::kUndefined;
}

// sys.modules["numpy"], or an empty object.
nb::object loaded_numpy() {
    static nb::handle name = nb::handle(PyUnicode_InternFromString("numpy"));
    nb::object found = nb::steal(PyImport_GetModule(name.ptr()));
    PyErr_Clear();
    return found;
}

// Whether NumPy's C interface can be used. False until NumPy has been imported.
bool has_numpy() {
    static bool is_ready = false;
    if (!is_ready) {
        nb::object numpy = loaded_numpy();
        if (!numpy.is_valid() || !nb::hasattr(numpy, "ndarray")) {
            return false;
        }
        if (_import_array() < 0) {
            throw nb::python_error();
        }
        is_ready = true;
    }
    return true;
}

// numpy, imported if necessary.
nb::module_ numpy_module() {
    nb::module_ numpy = nb::module_::import_("numpy");
    has_numpy();
    return numpy;
}

PyArrayObject* as_array(nb::handle array) {
    return reinterpret_cast<PyArrayObject*>(array.ptr());
}

// Keeps a Python object alive; the last tensor on its storage may go on any thread.
std::shared_ptr<const void> keep_alive(nb::handle object) {
    return {object.inc_ref().ptr(), [](PyObject* kept) {
                if (Py_IsInitialized()) {
                    nb::gil_scoped_acquire gil;
                    Py_DECREF(kept);
                }
            }};
}

Dims dims_of(PyArrayObject* array) {
    const npy_intp* dims = PyArray_DIMS(array);
    return {dims, dims + PyArray_NDIM(array)};
}

// A tensor on the elements of an array of NPY_ARRAY_CARRAY_RO in native byte order.
Tensor tensor_on_array(PyArrayObject* array, ElementType type) {
    Dims dims = dims_of(array);
    size_t size = byte_size(type, element_count(dims).value_or(0));
    std::span<const std::byte> bytes(static_cast<const std::byte*>(PyArray_DATA(array)), size);
    return Tensor::view_of(type, std::move(dims), bytes,
                           keep_alive(reinterpret_cast<PyObject*>(array)));
}

// Kinds of dtype: Python objects (strings, to us) and NumPy's own strings.
bool is_text(char kind) {
    return kind == 'O' || kind == 'U' || kind == 'S' || kind == 'T';
}

// For loops over Python objects, which are slow: checks for signals from time to time, and raises
// the exception of their handler.
void raise_signals(size_t count) {
    constexpr size_t kOften = 1 << 16;
    if (count % kOften == 0 && PyErr_CheckSignals() != 0) {
        throw nb::python_error();
    }
}

// Of an array in C order.
Tensor tensor_of_strings(nb::handle array) {
    std::vector<std::string> strings;
    auto add = [&](nb::handle item) {
        if (!PyUnicode_Check(item.ptr()) && !PyBytes_Check(item.ptr())) {
            raise(PyExc_TypeError,
                  "an array of objects must hold strings alone, found `" + kind_of(item) + "`");
        }
        strings.push_back(text_from_python(item));
        raise_signals(strings.size());
    };
    auto count = static_cast<size_t>(PyArray_SIZE(as_array(array)));
    strings.reserve(count);
    if (PyArray_DESCR(as_array(array))->type_num == NPY_OBJECT) {
        auto** items = static_cast<PyObject**>(PyArray_DATA(as_array(array)));
        for (size_t i = 0; i < count; ++i) {
            add(items[i] != nullptr ? items[i] : Py_None);
        }
    } else {
        for (nb::handle item : array.attr("ravel")().attr("tolist")()) {
            add(item);
        }
    }
    return Tensor::of_strings(dims_of(as_array(array)), std::move(strings));
}

// Everything that must be converted: other layouts, scalars, strings, ml_dtypes.
Tensor tensor_from_other_array(nb::handle object) {
    nb::object array = nb::steal(PyArray_CheckFromAny(
        object.ptr(), nullptr, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED, nullptr));
    if (!array.is_valid()) {
        throw nb::python_error();
    }
    PyArray_Descr* dtype = PyArray_DESCR(as_array(array));
    if (is_text(dtype->kind)) {
        return tensor_of_strings(array);
    }
    ElementType type = element_type_by_number(dtype->type_num);
    nb::handle dtype_object(reinterpret_cast<PyObject*>(dtype));
    if (type == ElementType::kUndefined) {
        type = element_type_from_name(text_from_python(dtype_object.attr("name")));
    }
    if (type == ElementType::kUndefined) {
        raise(PyExc_TypeError, "ONNX has no element type for NumPy's `" +
                                   text_from_python(nb::str(dtype_object)) + "`");
    }
    if (info(type).bits >= 8) {
        return tensor_on_array(as_array(array), type);
    }
    Tensor tensor = Tensor::zeros(type, dims_of(as_array(array)));
    pack_codes({static_cast<const uint8_t*>(PyArray_DATA(as_array(array))),
                static_cast<size_t>(tensor.count())},
               info(type).bits, tensor.mutable_bytes());
    return tensor;
}

constexpr size_t kMaxRank = 64;  // NumPy's own limit

// A new array of these dims: on `data`, or on storage of its own that is not filled.
nb::object new_array(const Tensor& tensor, void* data, int flags) {
    nb::object dtype = dtype_of(tensor.element_type());
    std::array<npy_intp, kMaxRank> dims;
    if (tensor.dims().size() > dims.size()) {
        raise(PyExc_ValueError, "NumPy has no arrays of rank " + std::to_string(tensor.rank()));
    }
    std::copy(tensor.dims().begin(), tensor.dims().end(), dims.begin());
    nb::object array = nb::steal(
        PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype.release().ptr()),
                             tensor.rank(), dims.data(), nullptr, data, flags, nullptr));
    if (!array.is_valid()) {
        throw nb::python_error();
    }
    return array;
}

// The bytes up to which a copy costs less than an array that shares the storage.
constexpr size_t kCopied = 4096;

}  // namespace

bool is_ndarray(nb::handle object) {
    return has_numpy() && PyArray_Check(object.ptr());
}

bool is_array(nb::handle object) {
    return has_numpy() && (PyArray_Check(object.ptr()) || PyArray_IsScalar(object.ptr(), Generic));
}

Tensor tensor_from_array(nb::handle object) {
    if (PyArray_Check(object.ptr())) {
        PyArrayObject* array = as_array(object);
        ElementType type = element_type_by_number(PyArray_TYPE(array));
        if (type != ElementType::kUndefined && PyArray_ISCARRAY_RO(array)) {
            return tensor_on_array(array, type);
        }
    }
    return tensor_from_other_array(object);
}

nb::object dtype_of(ElementType type) {
    static std::array<nb::handle, kElementTypeCount> dtypes;
    nb::handle& dtype = dtypes[static_cast<size_t>(type)];
    if (!dtype.is_valid()) {
        const ArrayType& row = array_type(type);
        nb::module_ numpy = numpy_module();
        nb::object scalar = nb::str(row.name);
        if (row.number == NPY_NOTYPE) {
            nb::object module = nb::steal(PyImport_ImportModule("ml_dtypes"));
            scalar = module.is_valid() ? attribute_or_none(module, row.name) : module;
        }
        if (!scalar.is_valid()) {
            PyErr_Clear();
            raise(eval_error(), "NumPy has no dtype for " + std::string(name(type)) +
                                    ": install a recent ml_dtypes (`pip install ml_dtypes`)");
        }
        dtype = numpy.attr("dtype")(scalar).release();
    }
    return nb::borrow(dtype);
}

ElementType element_type_from_dtype(nb::handle object) {
    if (!has_numpy()) {
        return ElementType::kUndefined;
    }
    nb::object dtype = nb::borrow(object);
    if (PyType_Check(object.ptr())) {
        if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object.ptr()),
                             &PyGenericArrType_Type) == 0) {
            return ElementType::kUndefined;
        }
        dtype = numpy_module().attr("dtype")(object);
    }
    if (!PyArray_DescrCheck(dtype.ptr())) {
        return ElementType::kUndefined;
    }
    if (is_text(reinterpret_cast<PyArray_Descr*>(dtype.ptr())->kind)) {
        return ElementType::kString;
    }
    return element_type_from_name(text_from_python(dtype.attr("name")));
}

nb::object array_from_tensor(Tensor tensor) {
    const ElementTypeInfo& type = info(tensor.element_type());
    if (tensor.element_type() == ElementType::kString) {
        nb::object array = new_array(tensor, nullptr, 0);
        auto** place = static_cast<PyObject**>(PyArray_DATA(as_array(array)));
        size_t i = 0;
        for (const std::string& text : tensor.elements<std::string>()) {
            PyObject* before = std::exchange(*place++, text_to_python(text).release().ptr());
            Py_XDECREF(before);
            raise_signals(++i);
        }
        return array;
    }
    if (type.bits < 8) {
        nb::object array = new_array(tensor, nullptr, 0);
        unpack_numbers(tensor.bytes(), tensor.element_type(),
                       {static_cast<uint8_t*>(PyArray_DATA(as_array(array))),
                        static_cast<size_t>(tensor.count())});
        return array;
    }
    std::span<const std::byte> bytes = tensor.bytes();
    bool is_unique = tensor.is_unique();
    if (bytes.empty() || (is_unique && bytes.size() <= kCopied)) {
        nb::object array = new_array(tensor, nullptr, 0);
        std::copy(bytes.begin(), bytes.end(),
                  static_cast<std::byte*>(PyArray_DATA(as_array(array))));
        return array;
    }
    nb::object array = new_array(tensor, const_cast<std::byte*>(bytes.data()),
                                 is_unique ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO);
    nb::capsule owner(new Tensor(std::move(tensor)),
                      [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
    if (PyArray_SetBaseObject(as_array(array), owner.release().ptr()) != 0) {
        throw nb::python_error();
    }
    return array;
}

nb::object own_array_from_tensor(Tensor&& tensor) {
    bool is_shared = tensor.element_type() != ElementType::kString && !tensor.is_unique() &&
                     info(tensor.element_type()).bits >= 8;
    if (!is_shared) {
        return array_from_tensor(std::move(tensor));
    }
    nb::object array = new_array(tensor, nullptr, 0);
    std::span<const std::byte> bytes = tensor.bytes();
    std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(PyArray_DATA(as_array(array))));
    return array;
}

}  // namespace sardonyx::python
