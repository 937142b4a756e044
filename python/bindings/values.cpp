// Python objects <-> inputs and outputs of operators.
#include "bindings/dlpack.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "proto/proto.h"

namespace sardonyx::python {

namespace {

Tensor tensor_from_proto(nb::handle object) {
    auto bytes =
        std::make_shared<const std::string>(text_from_python(object.attr("SerializeToString")()));
    return unwrap(proto::read_tensor(std::as_bytes(std::span(*bytes)), bytes));
}

// Lists may contain themselves: beyond Python's recursion limit, raises RecursionError.
struct Nesting {
    Nesting() {
        if (Py_EnterRecursiveCall(" in a list of lists") != 0) {
            throw nb::python_error();
        }
    }
    ~Nesting() { Py_LeaveRecursiveCall(); }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
};

// The element type that is said of a tensor's elements, or of a map's keys.
ElementType said_of(const Type& declared) {
    return declared.is_tensor() || declared.kind() == TypeKind::kMap ? declared.element_type()
                                                                     : ElementType::kUndefined;
}

// Numbers, strings, scalars of NumPy; it would make texts of numbers that stand beside texts.
Tensor tensor_of_items(const nb::list& items, const Type& declared) {
    bool is_text = false;
    for (nb::handle item : items) {
        is_text = is_text || PyUnicode_Check(item.ptr()) || PyBytes_Check(item.ptr());
    }
    return is_text || is_literal(items)
               ? tensor_from_literal(items, said_of(declared))
               : tensor_from_python(nb::module_::import_("numpy").attr("asarray")(items));
}

// A map of ai.onnx.ml: its keys are all integers or all strings.
eval::RuntimeValue map_from_python(const nb::dict& dict, const Type& declared) {
    bool is_map = declared.kind() == TypeKind::kMap;
    auto map = eval::make_map(
        tensor_of_items(nb::list(dict.keys()), is_map ? declared : Type()),
        tensor_of_items(nb::list(dict.values()), is_map ? declared.element() : Type()));
    if (!map.ok()) {
        raise(PyExc_TypeError, map.error().message);
    }
    return std::move(*map);
}

// Whether an object is a sequence of tensors, and not the tensor that a list of numbers is.
bool means_sequence(nb::handle object, bool is_declared) {
    bool is_list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
    return is_list && (is_declared || nb::len(object) == 0 || !is_literal(object));
}

// The lists in it have the nesting of the type, or else that of Python.
eval::RuntimeValue sequence_from_python(nb::handle list, const Type& declared) {
    Nesting nesting;
    Type element = declared.kind() == TypeKind::kSequence ? declared.element() : Type();
    auto sequence = std::make_shared<eval::Sequence>();
    sequence->element_type = said_of(element);
    for (nb::handle item : nb::borrow<nb::object>(list)) {
        sequence->items.push_back(value_from_python(item, element));
        if (sequence->items.back().is_tensor()) {
            sequence->element_type = sequence->items.back().tensor().element_type();
        }
    }
    return std::shared_ptr<const eval::Sequence>(std::move(sequence));
}

}  // namespace

bool is_tensor_proto(nb::handle object) {
    return nb::hasattr(object, "SerializeToString") && nb::hasattr(object, "raw_data");
}

Tensor tensor_from_python(nb::handle object, ElementType type) {
    if (const PyTensor* tensor = as_tensor(object)) {
        return tensor->tensor();
    }
    if (is_array(object)) {
        return tensor_from_array(object);
    }
    if (is_literal(object)) {
        return tensor_from_literal(object, type);
    }
    if (is_tensor_proto(object)) {
        return tensor_from_proto(object);
    }
    if (has_dlpack(object)) {
        return tensor_from_dlpack(object);
    }
    if (nb::hasattr(object, "__array__")) {
        return tensor_from_array(nb::module_::import_("numpy").attr("asarray")(object));
    }
    raise(PyExc_TypeError, "`" + kind_of(object) +
                               "` cannot be a tensor: give a NumPy array, a number, a string or a "
                               "list of them");
}

eval::RuntimeValue value_from_python(nb::handle object, const Type& declared) {
    if (object.is_none()) {
        return {};
    }
    if (declared.kind() == TypeKind::kOptional) {
        return value_from_python(object, declared.element());
    }
    if (PyDict_Check(object.ptr())) {
        return map_from_python(nb::borrow<nb::dict>(object), declared);
    }
    // Of a tensor, also [], and floats of NumPy, which are Python's, too.
    if (declared.is_tensor() && is_literal(object)) {
        return tensor_from_literal(object, declared.element_type());
    }
    return means_sequence(object, declared.kind() == TypeKind::kSequence)
               ? sequence_from_python(object, declared)
               : tensor_from_python(object);
}

namespace {

// Makes dicts of maps. The maps of a sequence often share their keys, whose objects are made once.
class DictMaker {
  public:
    nb::dict make(const eval::Map& map) {
        const void* elements =
            map.keys.element_type() == ElementType::kString
                ? static_cast<const void*>(map.keys.elements<std::string>().data())
                : map.keys.bytes().data();
        if (elements != elements_ || static_cast<int64_t>(nb::len(keys_)) != map.keys.count()) {
            keys_ = nb::list(array_from_tensor(map.keys).attr("tolist")());
            elements_ = elements;
        }
        nb::dict dict;
        if (map.values.element_type() == ElementType::kFloat) {
            std::span<const float> values = map.values.elements<float>();
            for (size_t i = 0; i < values.size(); ++i) {
                dict[keys_[i]] = nb::float_(static_cast<double>(values[i]));
            }
        } else {
            nb::object values = array_from_tensor(map.values).attr("tolist")();
            for (int64_t i = 0; i < map.keys.count(); ++i) {
                dict[keys_[i]] = values[i];
            }
        }
        return dict;
    }

  private:
    nb::list keys_;
    const void* elements_ = nullptr;
};

}  // namespace

nb::object value_to_python(eval::RuntimeValue&& value, Given given) {
    if (value.is_none()) {
        return nb::none();
    }
    if (value.is_tensor()) {
        switch (given) {
            case Given::kTensors:
                return make_tensor(std::move(value.tensor()));
            case Given::kArrays:
                return own_array_from_tensor(std::move(value.tensor()));
            case Given::kViews:
                return array_from_tensor(std::move(value.tensor()));
        }
    }
    if (value.is_map()) {
        return DictMaker().make(value.map());
    }
    nb::list items;
    DictMaker dicts;
    for (const eval::RuntimeValue& item : value.sequence().items) {
        items.append(item.is_map() ? nb::object(dicts.make(item.map()))
                                   : value_to_python(eval::RuntimeValue(item), given));
    }
    return items;
}

nb::object argument(nb::handle object, int element_type, bool is_sequence) {
    if (object.is_none() || PyDict_Check(object.ptr())) {
        return nb::borrow(object);
    }
    if (const PyTensor* tensor = as_tensor(object)) {
        // A separate object: x[0] = 1 does not change the original.
        return make_tensor(Tensor(tensor->tensor()), tensor->array);
    }
    if (means_sequence(object, is_sequence)) {
        Nesting nesting;
        nb::list items;
        for (nb::handle item : nb::borrow<nb::object>(object)) {
            items.append(argument(item, element_type, false));
        }
        return items;
    }
    return make_tensor(tensor_from_python(object, element_type_from_number(element_type)),
                       is_ndarray(object) ? nb::borrow(object) : nb::object());
}

// The elements of a result as a writable array. If this is the last reference (`is_last`), the
// array takes over the storage; small tensors are cheaper to copy.
nb::object own_array(PyTensor& tensor, bool is_last) {
    if (tensor.array.is_valid()) {  // the caller's own array, or a view of our elements
        bool is_writable = nb::cast<bool>(tensor.array.attr("flags").attr("writeable"));
        return is_writable ? tensor.array : nb::object(tensor.array.attr("copy")());
    }
    constexpr size_t kSmall = 4096;
    Tensor& held = tensor.value.tensor();
    bool is_text = held.element_type() == ElementType::kString;
    if (is_text || !is_last || !held.is_unique() || held.bytes().size() <= kSmall) {
        return own_array_from_tensor(Tensor(held));
    }
    nb::object array = own_array_from_tensor(std::move(held));
    held = tensor_from_array(array);
    return array;
}

// `holders` is the number of references that end with this call. Python tells nothing else of
// whether a body has kept its result, which must not change when the caller writes to the array:
// the alternative is to copy each result. Where the count is too high, as with debuggers and
// profilers, the elements are copied, and the result is the same.
nb::object result(nb::handle object, int element_type, bool as_arrays, Py_ssize_t holders) {
    if (object.is_none() || PyDict_Check(object.ptr())) {
        return nb::borrow(object);
    }
    // A list of Python numbers is one tensor.
    if (means_sequence(object, false)) {
        if (PyTuple_Check(object.ptr())) {
            raise(PyExc_TypeError,
                  "a tuple among the results: return its items one by one, or a list of tensors");
        }
        Nesting nesting;
        nb::list items;
        for (nb::handle item : nb::borrow<nb::object>(object)) {
            items.append(result(item, element_type, as_arrays, 0));
        }
        return items;
    }
    if (PyFloat_Check(object.ptr()) && !PyFloat_CheckExact(object.ptr())) {
        // np.float64 is a float of Python, and has no element type of its own.
        return result(nb::float_(PyFloat_AsDouble(object.ptr())), element_type, as_arrays, 0);
    }
    PyTensor* tensor = as_tensor(object);
    if (as_arrays && tensor != nullptr) {
        return own_array(*tensor, Py_REFCNT(object.ptr()) <= holders);
    }
    nb::object wrapped = argument(object, element_type);
    return as_arrays ? own_array(*as_tensor(wrapped), true) : wrapped;
}

nb::object results(nb::handle object, const nb::tuple& element_types, bool as_arrays) {
    as_arrays = as_arrays && !inside_script();
    auto type_of = [&](size_t i) {
        return i < element_types.size() ? nb::cast<int>(element_types[i]) : 0;
    };
    // The variable of OnnxFunction.__call__, and its place on Python's stack.
    constexpr Py_ssize_t kOfCaller = 2;
    if (!PyTuple_Check(object.ptr())) {
        return result(object, type_of(0), as_arrays, kOfCaller);
    }
    Py_ssize_t of_tuple = Py_REFCNT(object.ptr()) <= kOfCaller ? 1 : 0;
    nb::list items;
    for (nb::handle item : nb::borrow<nb::tuple>(object)) {
        items.append(result(item, type_of(nb::len(items)), as_arrays, of_tuple));
    }
    return nb::tuple(items);
}

}  // namespace sardonyx::python
