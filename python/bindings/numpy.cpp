#include "bindings/numpy.h"

#include <array>
#include <cstring>

namespace sardonyx::python {

namespace {

// How NumPy knows an element type: its name (of numpy or ml_dtypes) and the format of its buffer;
// no format: NumPy hands out no buffer for it.
struct ArrayType {
    ElementType type;
    const char* name;
    const char* format;
};
constexpr ArrayType kArrayTypes[] = {
    {ElementType::kFloat, "float32", "f"},
    {ElementType::kUint8, "uint8", "B"},
    {ElementType::kInt8, "int8", "b"},
    {ElementType::kUint16, "uint16", "H"},
    {ElementType::kInt16, "int16", "h"},
    {ElementType::kInt32, "int32", "i"},
    {ElementType::kInt64, "int64", "q"},
    {ElementType::kString, "object", nullptr},
    {ElementType::kBool, "bool", "?"},
    {ElementType::kFloat16, "float16", "e"},
    {ElementType::kDouble, "float64", "d"},
    {ElementType::kUint32, "uint32", "I"},
    {ElementType::kUint64, "uint64", "Q"},
    {ElementType::kComplex64, "complex64", "Zf"},
    {ElementType::kComplex128, "complex128", "Zd"},
    {ElementType::kBfloat16, "bfloat16", nullptr},
    {ElementType::kFloat8E4M3FN, "float8_e4m3fn", nullptr},
    {ElementType::kFloat8E4M3FNUZ, "float8_e4m3fnuz", nullptr},
    {ElementType::kFloat8E5M2, "float8_e5m2", nullptr},
    {ElementType::kFloat8E5M2FNUZ, "float8_e5m2fnuz", nullptr},
    {ElementType::kUint4, "uint4", nullptr},
    {ElementType::kInt4, "int4", nullptr},
    {ElementType::kFloat4E2M1, "float4_e2m1fn", nullptr},
    {ElementType::kFloat8E8M0, "float8_e8m0fnu", nullptr},
    {ElementType::kUint2, "uint2", nullptr},
    {ElementType::kInt2, "int2", nullptr},
    {ElementType::kFloat6E2M3, "float6_e2m3fn", nullptr},
    {ElementType::kFloat6E3M2, "float6_e3m2fn", nullptr},
};
static_assert(std::size(kArrayTypes) == kElementTypeCount - 1);

const ArrayType& array_type(ElementType type) {
    return kArrayTypes[static_cast<size_t>(type) - 1];
}

// `l` and `L` are what NumPy calls the platform's 64-bit integers.
ElementType element_type_from_format(std::string_view format, Py_ssize_t item_size) {
    if (format == "l" || format == "L") {
        bool is_signed = format == "l";
        if (item_size == 8) {
            return is_signed ? ElementType::kInt64 : ElementType::kUint64;
        }
        return is_signed ? ElementType::kInt32 : ElementType::kUint32;
    }
    for (const ArrayType& row : kArrayTypes) {
        if (row.format != nullptr && format == row.format) {
            return row.type;
        }
    }
    return ElementType::kUndefined;
}

ElementType element_type_from_name(std::string_view name) {
    for (const ArrayType& row : kArrayTypes) {
        if (name == row.name && row.type != ElementType::kString) {
            return row.type;
        }
    }
    return ElementType::kUndefined;
}

// sys.modules["numpy"], or nothing.
nb::object loaded_numpy() {
    static nb::handle name = nb::handle(PyUnicode_InternFromString("numpy"));
    nb::object found = nb::steal(PyImport_GetModule(name.ptr()));
    PyErr_Clear();
    return found;
}

struct ArrayClasses {
    nb::handle ndarray, generic;
};

// Null until NumPy has been imported by someone; kept for good, as NumPy itself is.
const ArrayClasses* array_classes() {
    static ArrayClasses classes;
    if (!classes.ndarray.is_valid()) {
        nb::object numpy = loaded_numpy();
        if (!numpy.is_valid() || !nb::hasattr(numpy, "ndarray")) {
            return nullptr;
        }
        classes = {nb::object(numpy.attr("ndarray")).release(),
                   nb::object(numpy.attr("generic")).release()};
    }
    return &classes;
}

bool is_instance(nb::handle object, nb::handle type) {
    return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()));
}

// Holds a buffer that Python lent; the last tensor on it may go on any thread.
struct LentBuffer {
    Py_buffer view{};
    ~LentBuffer() {
        if (view.obj != nullptr && Py_IsInitialized()) {
            nb::gil_scoped_acquire gil;
            PyBuffer_Release(&view);
        }
    }
};

Tensor tensor_on_buffer(std::shared_ptr<LentBuffer> buffer, ElementType type, Dims dims) {
    std::span<const std::byte> bytes(static_cast<const std::byte*>(buffer->view.buf),
                                     static_cast<size_t>(buffer->view.len));
    return Tensor::view_of(type, std::move(dims), bytes, std::move(buffer));
}

std::shared_ptr<LentBuffer> borrow_buffer(nb::handle object) {
    auto buffer = std::make_shared<LentBuffer>();
    if (PyObject_GetBuffer(object.ptr(), &buffer->view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
        PyErr_Clear();
        buffer->view.obj = nullptr;
        return nullptr;
    }
    return buffer;
}

// Python objects (strings, to us) and NumPy's own strings.
bool is_text(nb::handle dtype) {
    std::string kind = text_from_python(dtype.attr("kind"));
    return kind == "O" || kind == "U" || kind == "S" || kind == "T";
}

Dims dims_of(nb::handle array) {
    Dims dims;
    for (nb::handle dim : array.attr("shape")) {
        dims.push_back(nb::cast<int64_t>(dim));
    }
    return dims;
}

Tensor tensor_of_strings(nb::handle array) {
    std::vector<std::string> strings;
    for (nb::handle item : array.attr("ravel")().attr("tolist")()) {
        if (!PyUnicode_Check(item.ptr()) && !PyBytes_Check(item.ptr())) {
            raise(PyExc_TypeError,
                  "an array of objects must hold strings alone, found `" + kind_of(item) + "`");
        }
        strings.push_back(text_from_python(item));
    }
    return Tensor::of_strings(dims_of(array), std::move(strings));
}

// Elements below 8 bits lie one per byte in ml_dtypes, and packed from the low bits up in a tensor.
void pack(std::span<const uint8_t> items, int bits, std::span<std::byte> packed) {
    size_t position = 0;
    for (uint8_t item : items) {
        unsigned shifted = (item & ((1U << bits) - 1)) << (position % 8);
        packed[position / 8] |= static_cast<std::byte>(shifted & 0xFF);
        if (shifted > 0xFF) {
            packed[position / 8 + 1] |= static_cast<std::byte>(shifted >> 8);
        }
        position += static_cast<size_t>(bits);
    }
}

void unpack(std::span<const std::byte> packed, const ElementTypeInfo& info,
            std::span<uint8_t> items) {
    unsigned mask = (1U << info.bits) - 1;
    unsigned sign = info.element_class == ElementClass::kSigned ? 1U << (info.bits - 1) : 0;
    size_t position = 0;
    for (uint8_t& item : items) {
        unsigned word = static_cast<unsigned>(packed[position / 8]);
        if (position / 8 + 1 < packed.size()) {
            word |= static_cast<unsigned>(packed[position / 8 + 1]) << 8;
        }
        unsigned value = (word >> (position % 8)) & mask;
        item = static_cast<uint8_t>((value ^ sign) - sign);  // int4 and int2: extends the sign
        position += info.bits;
    }
}

// Whatever NumPy does not lend as it is: other layouts, strings, ml_dtypes.
Tensor tensor_from_other_array(nb::handle object) {
    nb::module_ numpy = nb::module_::import_("numpy");
    nb::object array = numpy.attr("asarray")(object, nb::arg("order") = "C");
    nb::object dtype = array.attr("dtype");
    if (is_text(dtype)) {
        return tensor_of_strings(array);
    }
    if (!nb::cast<bool>(dtype.attr("isnative"))) {
        array = array.attr("astype")(dtype.attr("newbyteorder")("="));
    }
    ElementType type = element_type_from_name(text_from_python(dtype.attr("name")));
    if (type == ElementType::kUndefined) {
        raise(PyExc_TypeError,
              "ONNX has no element type for NumPy's `" + text_from_python(nb::str(dtype)) + "`");
    }
    Dims dims = dims_of(array);
    nb::object flat = array.attr("reshape")(-1);
    const char* raw = info(type).bits == 16 ? "uint16" : info(type).bits <= 8 ? "uint8" : nullptr;
    std::shared_ptr<LentBuffer> buffer =
        borrow_buffer(array_type(type).format == nullptr ? flat.attr("view")(raw) : flat);
    if (buffer == nullptr) {
        raise(PyExc_TypeError, "a NumPy array that hands out no buffer");
    }
    if (info(type).bits >= 8) {
        return tensor_on_buffer(std::move(buffer), type, std::move(dims));
    }
    Tensor tensor = Tensor::zeros(type, std::move(dims));
    pack({static_cast<const uint8_t*>(buffer->view.buf), static_cast<size_t>(tensor.count())},
         info(type).bits, tensor.mutable_bytes());
    return tensor;
}

// Lends the bytes of a tensor to NumPy.
struct Storage {
    Tensor tensor;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    Tensor& tensor = nb::inst_ptr<Storage>(nb::handle(self))->tensor;
    std::span<const std::byte> bytes = tensor.bytes();
    return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(bytes.data()),
                             static_cast<Py_ssize_t>(bytes.size()), tensor.is_unique() ? 0 : 1,
                             flags);
}

PyType_Slot kStorageSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                               {0, nullptr}};

nb::object shape_tuple(const Tensor& tensor) {
    nb::list dims;
    for (int64_t dim : tensor.dims()) {
        dims.append(dim);
    }
    return nb::tuple(dims);
}

}  // namespace

void bind_storage(nb::module_& m) {
    nb::class_<Storage>(m, "Storage", nb::type_slots(kStorageSlots));
}

bool is_ndarray(nb::handle object) {
    const ArrayClasses* classes = array_classes();
    return classes != nullptr && is_instance(object, classes->ndarray);
}

bool is_array(nb::handle object) {
    const ArrayClasses* classes = array_classes();
    return classes != nullptr &&
           (is_instance(object, classes->ndarray) || is_instance(object, classes->generic));
}

Tensor tensor_from_array(nb::handle array) {
    std::shared_ptr<LentBuffer> buffer = borrow_buffer(array);
    if (buffer != nullptr && buffer->view.format != nullptr) {
        const Py_buffer& view = buffer->view;
        ElementType type = element_type_from_format(view.format, view.itemsize);
        if (type != ElementType::kUndefined) {
            Dims dims(view.shape, view.shape + view.ndim);
            return tensor_on_buffer(std::move(buffer), type, std::move(dims));
        }
    }
    return tensor_from_other_array(array);
}

nb::object dtype_of(ElementType type) {
    static std::array<nb::handle, kElementTypeCount> dtypes;
    nb::handle& dtype = dtypes[static_cast<size_t>(type)];
    if (!dtype.is_valid()) {
        const ArrayType& row = array_type(type);
        bool is_small = row.format == nullptr && type != ElementType::kString;
        nb::object module = nb::steal(PyImport_ImportModule(is_small ? "ml_dtypes" : "numpy"));
        nb::object scalar =
            module.is_valid() ? attribute_or_none(module, is_small ? row.name : "dtype") : module;
        if (!scalar.is_valid()) {
            PyErr_Clear();
            raise(eval_error(), "NumPy has no dtype for " + std::string(name(type)) +
                                    ": install a recent ml_dtypes (`pip install ml_dtypes`)");
        }
        nb::object numpy = nb::module_::import_("numpy");
        nb::object argument = is_small ? scalar : nb::object(nb::str(row.name));
        dtype = numpy.attr("dtype")(argument).release();
    }
    return nb::borrow(dtype);
}

ElementType element_type_from_dtype(nb::handle object) {
    nb::object numpy = loaded_numpy();
    if (!numpy.is_valid()) {
        return ElementType::kUndefined;
    }
    const ArrayClasses* classes = array_classes();
    nb::object dtype = nb::borrow(object);
    if (PyType_Check(object.ptr()) && classes != nullptr) {
        bool is_scalar_type =
            PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object.ptr()),
                             reinterpret_cast<PyTypeObject*>(classes->generic.ptr())) != 0;
        if (!is_scalar_type) {
            return ElementType::kUndefined;
        }
        dtype = numpy.attr("dtype")(object);
    }
    if (!nb::isinstance(dtype, numpy.attr("dtype"))) {
        return ElementType::kUndefined;
    }
    if (is_text(dtype)) {
        return ElementType::kString;
    }
    return element_type_from_name(text_from_python(dtype.attr("name")));
}

nb::object array_from_tensor(Tensor tensor) {
    nb::object dtype = dtype_of(tensor.element_type());
    nb::object shape = shape_tuple(tensor);
    nb::module_ numpy = nb::module_::import_("numpy");
    if (tensor.element_type() == ElementType::kString) {
        nb::object array = numpy.attr("empty")(tensor.count(), dtype);
        int64_t i = 0;
        for (const std::string& text : tensor.elements<std::string>()) {
            array[i++] = text_to_python(text);
        }
        return array.attr("reshape")(shape);
    }
    const ElementTypeInfo& type = info(tensor.element_type());
    if (type.bits < 8) {
        nb::object items = numpy.attr("empty")(tensor.count(), "uint8");
        std::shared_ptr<LentBuffer> buffer = borrow_buffer(items);
        unpack(tensor.bytes(), type,
               {static_cast<uint8_t*>(buffer->view.buf), static_cast<size_t>(tensor.count())});
        return items.attr("view")(dtype).attr("reshape")(shape);
    }
    if (tensor.count() == 0) {
        return numpy.attr("empty")(shape, dtype);
    }
    return array_classes()->ndarray(shape, dtype, nb::cast(Storage{std::move(tensor)}));
}

}  // namespace sardonyx::python
