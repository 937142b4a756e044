// The Python class Tensor.
#include "bindings/tensor.h"

#include <array>

#include "bindings/call.h"
#include "bindings/dlpack.h"
#include "bindings/element_types.h"
#include "bindings/numpy.h"

namespace sardonyx::python {

namespace {

thread_local int g_script_depth = 0;

nb::handle g_tensor_class;

PyTensor tensor_of(nb::handle object) {
    return {tensor_from_python(object), is_ndarray(object) ? nb::borrow(object) : nb::object()};
}

nb::object value(PyTensor& self) {
    if (!self.array.is_valid()) {
        self.array = array_from_tensor(self.tensor());
    }
    return self.array;
}

nb::object array(PyTensor& self, nb::handle dtype, nb::handle copy) {
    nb::object result = value(self);
    if (!dtype.is_none()) {
        result = result.attr("astype")(dtype);
    } else if (!copy.is_none() && PyObject_IsTrue(copy.ptr()) == 1) {
        result = result.attr("copy")();
    }
    return result;
}

nb::object tensor_shape(const PyTensor& self) {
    nb::list dims;
    for (int64_t dim : self.tensor().dims()) {
        dims.append(dim);
    }
    return nb::tuple(dims);
}

nb::object tensor_type(const PyTensor& self) {
    nb::object bare = nb::module_::import_("sardonyx.onnx_types")
                          .attr(std::string(name(self.tensor().element_type())).c_str());
    return self.tensor().rank() == 0 ? bare : nb::object(bare[tensor_shape(self)]);
}

// `y.dtype = FLOAT.dtype` is a hint for the compiler; it must agree with the tensor.
void check_dtype(const PyTensor& self, nb::handle dtype) {
    ElementType wanted = element_type_from_python(dtype);
    ElementType own = self.tensor().element_type();
    if (wanted != own) {
        raise(PyExc_TypeError, "the tensor is " + std::string(name(own)) + ", and the hint says " +
                                   text_from_python(nb::repr(dtype)));
    }
}

// TypeError, as NumPy and onnxscript have it, and ValueError: the value is what is wrong.
nb::handle one_element_error() {
    static nb::handle type = PyErr_NewExceptionWithDoc(
        "sardonyx._core.OneElementError", "A number is asked for, and the tensor is not one.",
        nb::make_tuple(nb::handle(PyExc_TypeError), nb::handle(PyExc_ValueError)).ptr(), nullptr);
    return type;
}

const Tensor& single(const PyTensor& self, std::string_view wanted) {
    if (self.tensor().count() != 1) {
        raise(one_element_error(), "a tensor of " + std::to_string(self.tensor().count()) +
                                       " elements is not " + std::string(wanted));
    }
    return self.tensor();
}

double as_double(const PyTensor& self) {
    std::optional<std::vector<double>> values = to_doubles(single(self, "a number"));
    if (!values) {
        raise(PyExc_TypeError, "a tensor of " + std::string(name(self.tensor().element_type())) +
                                   " is not a real number");
    }
    return values->front();
}

bool truth(const PyTensor& self) {
    if (self.tensor().count() != 1) {
        raise(PyExc_ValueError,
              "the truth value of a tensor of " + std::to_string(self.tensor().count()) +
                  " elements is ambiguous: reduce it to one first, as with op.ReduceMax");
    }
    if (self.tensor().element_type() == ElementType::kString) {
        return !self.tensor().elements<std::string>().front().empty();
    }
    return as_double(self) != 0.0;
}

nb::object index(const PyTensor& self) {
    const Tensor& tensor = single(self, "an index");
    ElementType type = tensor.element_type();
    if (!is_integer(type) && type != ElementType::kBool) {
        raise(PyExc_TypeError,
              "a tensor of " + std::string(name(type)) + " is not an integer: cast it first");
    }
    if (type == ElementType::kUint64) {
        return nb::int_(tensor.elements<uint64_t>().front());
    }
    return nb::int_(to_int64s(tensor)->front());
}

nb::object integer(PyTensor& self) {
    ElementType type = self.tensor().element_type();
    return is_integer(type) || type == ElementType::kBool ? index(self)
                                                          : nb::int_(nb::float_(as_double(self)));
}

nb::object complex(PyTensor& self) {
    single(self, "a number");
    nb::handle type(reinterpret_cast<PyObject*>(&PyComplex_Type));
    return type(value(self).attr("item")());
}

// Members without a meaning in a graph do not exist while a script runs.
void refuse_in_script(const char* name) {
    if (inside_script()) {
        no_member(name);
    }
}

nb::object numpy(PyTensor& self) {
    refuse_in_script("numpy");
    return value(self);
}

nb::object to_list(PyTensor& self) {
    refuse_in_script("tolist");
    return value(self).attr("tolist")();
}

nb::object item(PyTensor& self) {
    refuse_in_script("item");
    single(self, "a number");
    return value(self).attr("item")();
}

// f"{x:.2f}": of a number as Python has it; without a format, of any tensor.
nb::object format(nb::handle self, nb::handle spec) {
    PyTensor& tensor = self_tensor(self);
    if (nb::len(spec) == 0) {
        return nb::str(self);
    }
    if (tensor.tensor().rank() != 0) {
        raise(PyExc_TypeError, "the format `" + text_from_python(spec) +
                                   "` is for one number, and the tensor is " +
                                   tensor.tensor().type().to_string() +
                                   ": use numpy.array2string(tensor.numpy(), ...)");
    }
    return value(tensor).attr("item")().attr("__format__")(spec);
}

// DLPack's kDLCPU.
constexpr int kDlpackCpu = 1;

nb::object to_device(nb::handle self, nb::handle device, nb::handle stream) {
    if (!PyUnicode_Check(device.ptr()) || text_from_python(device) != "cpu" || !stream.is_none()) {
        raise(PyExc_ValueError, "a Tensor is on the CPU and stays there: give \"cpu\"");
    }
    return nb::borrow(self);
}

int64_t length(const PyTensor& self) {
    if (self.tensor().rank() == 0) {
        raise(PyExc_TypeError, "a tensor of rank 0 has no length");
    }
    return self.tensor().dims().front();
}

// Whether it has no rows, of numbers, and is iterated over by sum().
bool is_sum_of_nothing(const Tensor& tensor) {
    ElementType type = tensor.element_type();
    return tensor.rank() > 0 && tensor.dims()[0] == 0 && (is_floating(type) || is_integer(type)) &&
           nb::cast<bool>(nb::module_::import_("sardonyx._items").attr("is_summed")());
}

// Each row is read when it is reached, because the loop may assign to items. The sum of no rows has
// the tensor's type and the shape of a row, as in the graph; in Python it would be 0.
nb::object iterate(nb::handle self) {
    const PyTensor& tensor = self_tensor(self);
    length(tensor);
    if (is_sum_of_nothing(tensor.tensor())) {
        return nb::iter(nb::make_tuple(row_of_zeros(tensor)));
    }
    return nb::steal(PySeqIter_New(self.ptr()));
}

// The elements as NumPy prints them, and the type.
std::string tensor_repr(PyTensor& self) {
    nb::object numpy = nb::module_::import_("numpy");
    nb::object elements = numpy.attr("array2string")(value(self), nb::arg("separator") = ", ",
                                                     nb::arg("prefix") = "Tensor(");
    return "Tensor(" + text_from_python(elements) + ", " + self.tensor().type().to_string() + ")";
}

}  // namespace

PyTensor* as_tensor(nb::handle object) {
    // Looking up the bases of a type would take longer than an operator on a few elements.
    if (PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr())) {
        return nullptr;
    }
    bool is_tensor = PyObject_TypeCheck(object.ptr(),
                                        reinterpret_cast<PyTypeObject*>(g_tensor_class.ptr())) != 0;
    return is_tensor && nb::inst_ready(object) ? nb::inst_ptr<PyTensor>(object) : nullptr;
}

PyTensor& self_tensor(nb::handle self) {
    PyTensor* tensor = as_tensor(self);
    if (tensor == nullptr) {
        raise(PyExc_TypeError, "a Tensor without elements: `Tensor.__init__` was not called");
    }
    return *tensor;
}

nb::object make_tensor(Tensor&& tensor, nb::object array) {
    nb::object made = nb::inst_alloc(g_tensor_class);
    new (nb::inst_ptr<PyTensor>(made)) PyTensor{std::move(tensor), std::move(array)};
    nb::inst_mark_ready(made);
    return made;
}

bool inside_script() {
    return g_script_depth > 0;
}
void enter_script() {
    ++g_script_depth;
}
void leave_script() {
    --g_script_depth;
}

nb::object element_type_to_python(ElementType type) {
    static std::array<nb::handle, kElementTypeCount> types;
    nb::handle& found = types[static_cast<size_t>(type)];
    if (!found.is_valid()) {
        found = nb::module_::import_("sardonyx.onnx_types")
                    .attr(std::string(name(type)).c_str())
                    .attr("dtype")
                    .inc_ref();
    }
    return nb::borrow(found);
}

void bind_tensor(nb::module_& m) {
    nb::class_<PyTensor> c(m, "Tensor", nb::type_slots(kOperatorSlots),
                           "A tensor of an ONNX element type, made from a NumPy array (whose "
                           "storage it shares), a number, a string or nested lists of them.",
                           nb::is_weak_referenceable());
    c.def(
         "__init__",
         [](PyTensor* self, nb::handle value) { new (self) PyTensor(tensor_of(value)); },
         nb::arg("value").none())
        .def_prop_ro("value", value, "The elements as a NumPy array.")
        .def_prop_ro("shape", tensor_shape, "The dimensions.")
        .def_prop_ro("rank", [](const PyTensor& self) { return self.tensor().rank(); })
        .def_prop_rw(
            "dtype",
            [](const PyTensor& self) {
                return element_type_to_python(self.tensor().element_type());
            },
            check_dtype, "The element type, which is equal to its NumPy dtype.")
        .def_prop_ro("type", tensor_type, "The type, as in an annotation.")
        .def_prop_ro(
            "onnx_dtype",
            [](const PyTensor& self) { return static_cast<int>(self.tensor().element_type()); },
            "The element type's number in TensorProto.DataType.")
        .def_prop_ro("is_scalar", [](const PyTensor& self) { return self.tensor().rank() == 0; })
        .def("__array__", array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
        .def("__dlpack__",
             [](const PyTensor& self, const nb::kwargs& options) {
                 return dlpack_from_tensor(self.tensor(), options);
             })
        .def("__dlpack_device__", [](const PyTensor&) { return nb::make_tuple(kDlpackCpu, 0); })
        .def_prop_ro("device", [](const PyTensor&) { return "cpu"; })
        .def("to_device", to_device, nb::arg("device"), nb::kw_only(),
             nb::arg("stream") = nb::none(), "The tensor itself: all are on the CPU.")
        .def("numpy", numpy, "The elements as a NumPy array.")
        .def("tolist", to_list, "The elements as Python numbers, in nested lists.")
        .def("item", item, "The only element as a Python number.")
        .def("__format__", format, nb::arg("spec"))
        .def("__array_ufunc__",
             [](nb::handle self, const nb::args& args, const nb::kwargs& keywords) {
                 return nb::module_::import_("sardonyx._ufuncs")
                     .attr("apply")(self, *args, **keywords);
             })
        .def("__array_function__",
             [](nb::handle self, const nb::args& args) {
                 return nb::module_::import_("sardonyx._ufuncs").attr("call")(self, *args);
             })
        .def("__complex__", complex)
        .def("__reduce__",
             [](nb::handle self) {
                 return nb::make_tuple(self.type(), nb::make_tuple(self.attr("value")));
             })
        .def("_repr_html_",
             [](nb::handle self) {
                 return nb::module_::import_("sardonyx._html").attr("table")(self);
             })
        .def("__bool__", truth)
        .def("__index__", index)
        .def("__int__", integer)
        .def("__float__", as_double)
        .def("__len__", length)
        .def("__iter__", iterate)
        .def("__repr__", tensor_repr);
    g_tensor_class = c;
    m.attr("OneElementError") = one_element_error();
    bind_operators(c);
    m.def("holds_tensor", holds_tensor, nb::arg("value").none());
    m.def("as_argument", argument, nb::arg("value").none(), nb::arg("element_type"),
          nb::arg("is_sequence") = false);
    m.def("as_result", results, nb::arg("value").none(), nb::arg("element_types"),
          nb::arg("as_arrays"));
    m.def("inside_script", inside_script);
    m.def("enter_script", enter_script);
    m.def("leave_script", leave_script);
}

}  // namespace sardonyx::python
