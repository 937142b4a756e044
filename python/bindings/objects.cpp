// Python objects <-> objects of the compiler.
#include <algorithm>
#include <iterator>

#include "bindings/call.h"
#include "bindings/element_types.h"
#include "bindings/environment.h"
#include "bindings/integers.h"
#include "bindings/named_tuples.h"
#include "bindings/numpy.h"
#include "bindings/onnx_ir.h"
#include "bindings/opset.h"
#include "bindings/sources.h"
#include "bindings/tensor.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/methods.h"
#include "elaborate/library/python_names.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/object.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/signature.h"

namespace sardonyx::python {

namespace {

using elaborate::Object;
using elaborate::ObjectKind;

constexpr int kMaxDepth = 16;

// What Python compares its objects with: an instance of a dataclass that the compiler has made is
// made once more, of the same members. Invalid: Python has no such object.
nb::object compared_to_python(const Object& object) {
    elaborate::Namespace* own = elaborate::compared_by_fields(object);
    if (own == nullptr || own->of->outside.is_error()) {
        return object_to_python(object);
    }
    nb::object type = object_to_python(own->of->outside);
    nb::object base = nb::module_::import_("builtins").attr("object");
    nb::object made = base.attr("__new__")(type);
    for (const auto& [name, member] : own->own_values()) {
        nb::object value = compared_to_python(member);
        if (!value.is_valid()) {
            return {};
        }
        base.attr("__setattr__")(made, text_to_python(name), value);
    }
    return made;
}

struct PythonOpaque final : elaborate::OpaqueObject {
    explicit PythonOpaque(nb::handle python) : object(nb::borrow(python)) {}
    std::string describe() const override { return text_from_python(nb::repr(object)); }
    bool is_same(const elaborate::OpaqueObject& other) const override {
        return object.is(static_cast<const PythonOpaque&>(other).object);
    }
    // If the comparison raises, or its result has no truth value, the objects are not equal.
    bool equals(const Object& other) const override {
        nb::object value = compared_to_python(other);
        int same =
            value.is_valid() ? PyObject_RichCompareBool(object.ptr(), value.ptr(), Py_EQ) : 0;
        if (same < 0) {
            PyErr_Clear();
        }
        return same == 1;
    }
    bool is_hashable() const override {
        if (PyObject_Hash(object.ptr()) != -1) {
            return true;
        }
        PyErr_Clear();
        return false;
    }
    bool is_class() const override {
        return PyType_Check(object.ptr()) != 0 && PyType_GetSlot(Py_TYPE(object.ptr()), Py_nb_or) ==
                                                      PyType_GetSlot(&PyType_Type, Py_nb_or);
    }
    bool redefines(std::string_view method) const override {
        nb::object name = text_to_python(method);
        bool is_int = PyLong_Check(object.ptr()) != 0;
        nb::handle plain(reinterpret_cast<PyObject*>(is_int ? &PyLong_Type : &PyUnicode_Type));
        nb::object own = nb::getattr(object.type(), name);
        return !own.is(nb::getattr(plain, name, nb::none()));
    }
    std::optional<int> order(const Object& other) const override {
        nb::object settings = nb::getattr(object.type(), "__dataclass_params__", nb::none());
        nb::object value = settings.is_none() ? nb::object() : compared_to_python(other);
        if (!value.is_valid() || !value.type().is(object.type()) ||
            !nb::cast<bool>(settings.attr("order"))) {
            return std::nullopt;
        }
        // Neither of NaN and another number is the greater one.
        constexpr std::pair<int, int> kTests[] = {{Py_LT, -1}, {Py_GT, 1}, {Py_EQ, 0}};
        for (auto [test, answer] : kTests) {
            int holds = PyObject_RichCompareBool(object.ptr(), value.ptr(), test);
            if (holds == 1) {
                return answer;
            }
            if (holds < 0) {
                PyErr_Clear();
                return std::nullopt;
            }
        }
        return std::nullopt;
    }

    nb::object object;
};

Object opaque(nb::handle object) {
    std::shared_ptr<elaborate::OpaqueObject> held = std::make_shared<PythonOpaque>(object);
    return Object::from_pointer(ObjectKind::kOpaque, std::move(held));
}

Object convert(nb::handle object, int depth);

bool is_attribute(nb::handle type, const char* name, std::string_view text) {
    nb::object found = nb::getattr(type, name, nb::none());
    return PyUnicode_Check(found.ptr()) && text_from_python(found) == text;
}

std::vector<Object> convert_items(nb::handle items, int depth) {
    std::vector<Object> converted;
    for (nb::handle item : nb::borrow<nb::object>(items)) {
        converted.push_back(convert(item, depth + 1));
    }
    return converted;
}

Object convert_dict(nb::handle object, int depth) {
    elaborate::DictObject dict;
    for (auto [key, value] : nb::borrow<nb::dict>(object)) {
        dict.items.emplace_back(convert(key, depth + 1), convert(value, depth + 1));
    }
    return Object::dict(std::move(dict));
}

// Whether the object is of a class of its own that gives the operators of `base` another meaning.
// Members of enumerations and NumPy's scalars do not count: the compiler knows their meaning.
bool changes_operators(nb::handle object, PyTypeObject& base) {
    if (Py_TYPE(object.ptr()) == &base || nb::hasattr(object.type(), "__members__") ||
        nb::hasattr(object, "__array_interface__")) {
        return false;
    }
    static constexpr int kSlots[] = {
        Py_tp_richcompare, Py_tp_iter,     Py_nb_add,      Py_nb_subtract,    Py_nb_multiply,
        Py_nb_remainder,   Py_nb_power,    Py_nb_negative, Py_nb_absolute,    Py_nb_bool,
        Py_nb_lshift,      Py_nb_rshift,   Py_nb_and,      Py_nb_xor,         Py_nb_or,
        Py_nb_int,         Py_nb_float,    Py_nb_index,    Py_nb_true_divide, Py_nb_floor_divide,
        Py_mp_subscript,   Py_sq_contains, Py_sq_length};
    return std::any_of(std::begin(kSlots), std::end(kSlots), [&](int slot) {
        return PyType_GetSlot(Py_TYPE(object.ptr()), slot) != PyType_GetSlot(&base, slot);
    });
}

Object convert_int(nb::handle object) {
    long long value = PyLong_AsLongLong(object.ptr());
    if (value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        std::optional<Int128> wide = wide_int_from_python(object);
        return wide ? Object::whole(*wide) : opaque(object);
    }
    if (!PyLong_CheckExact(object.ptr())) {  // a member of an IntEnum
        std::shared_ptr<elaborate::OpaqueObject> held = std::make_shared<PythonOpaque>(object);
        return Object::int_member(value, std::move(held));
    }
    return Object::integer(value);
}

// An element type of sardonyx.onnx_types is an int of a class of its own.
bool is_element_type(nb::handle object) {
    return !PyLong_CheckExact(object.ptr()) && !PyBool_Check(object.ptr()) &&
           nb::hasattr(object.type(), "is_onnx_element_type");
}

std::optional<Object> convert_scalar(nb::handle object) {
    PyObject* o = object.ptr();
    if (o == Py_None) {
        return Object::none();
    }
    if (PyBool_Check(o)) {
        return Object::boolean(o == Py_True);
    }
    if ((PyLong_Check(o) && !is_element_type(object) && changes_operators(object, PyLong_Type)) ||
        (PyFloat_Check(o) && changes_operators(object, PyFloat_Type)) ||
        (PyUnicode_Check(o) && changes_operators(object, PyUnicode_Type))) {
        return std::nullopt;
    }
    if (PyLong_Check(o)) {
        return is_element_type(object) ? Object::element_type(element_type_from_python(object))
                                       : convert_int(object);
    }
    using elaborate::ShownAs;
    if (PyFloat_Check(o)) {
        bool is_numpys = nb::hasattr(object, "__array_interface__");
        return Object::real(PyFloat_AsDouble(o))
            .shown(PyFloat_CheckExact(o) ? ShownAs::kPlain
                   : is_numpys           ? ShownAs::kNumpy
                                         : ShownAs::kOther);
    }
    if (PyUnicode_Check(o)) {
        if (nb::hasattr(object.type(), "__members__")) {  // a member of an enumeration
            std::shared_ptr<elaborate::OpaqueObject> held = std::make_shared<PythonOpaque>(object);
            return Object::text_member(text_from_python(object), std::move(held));
        }
        return Object::string(text_from_python(object))
            .shown(PyUnicode_CheckExact(o) ? ShownAs::kPlain : ShownAs::kOther);
    }
    if (PyBytes_Check(o)) {
        return Object::bytes(text_from_python(object))
            .shown(PyBytes_CheckExact(o) ? ShownAs::kPlain : ShownAs::kOther);
    }
    return o == Py_Ellipsis ? std::optional<Object>(Object::ellipsis()) : std::nullopt;
}

std::optional<Object> convert_container(nb::handle object, int depth) {
    PyObject* o = object.ptr();
    if (depth > kMaxDepth) {
        return std::nullopt;
    }
    if (PyTuple_CheckExact(o)) {
        return Object::tuple(convert_items(object, depth));
    }
    if (std::optional<Object> type =
            PyTuple_Check(o) ? named_tuple_class(object.type()) : std::nullopt) {
        // One with more than its items stays Python's.
        nb::object more = nb::getattr(object, "__dict__", nb::none());
        return more.is_none() || nb::len(more) == 0
                   ? std::optional(Object::named_tuple(elaborate::as_namespace(*type),
                                                       convert_items(object, depth)))
                   : std::nullopt;
    }
    if (PyList_CheckExact(o)) {
        return Object::list(convert_items(object, depth));
    }
    if (PyDict_CheckExact(o)) {
        return convert_dict(object, depth);
    }
    if (PyDict_Check(o) && is_attribute(object.type(), "__module__", "collections")) {
        if (std::optional<elaborate::DictClass> of = elaborate::dict_class(
                text_from_python(nb::getattr(object.type(), "__name__", nb::str(""))))) {
            Object dict = convert_dict(object, depth);
            dict.get<elaborate::DictObject>().of = *of;
            nb::object factory = nb::getattr(object, "default_factory", nb::none());
            dict.get<elaborate::DictObject>().factory = convert(factory, depth + 1);
            return dict;
        }
    }
    // Building a set compares its items pair by pair, which takes too long for a large one.
    constexpr Py_ssize_t kLargestSet = 1000;
    if (PyAnySet_CheckExact(o) && PySet_Size(o) <= kLargestSet) {
        return Object::set(convert_items(object, depth)).frozen(PyFrozenSet_CheckExact(o));
    }
    if (Py_TYPE(o) == &PyRange_Type) {
        return Object::make(ObjectKind::kRange,
                            elaborate::RangeObject{int_from_python(object.attr("start")),
                                                   int_from_python(object.attr("stop")),
                                                   int_from_python(object.attr("step"))});
    }
    if (PySlice_Check(o)) {
        return Object::make(ObjectKind::kSlice,
                            elaborate::SliceObject{convert(object.attr("start"), depth + 1),
                                                   convert(object.attr("stop"), depth + 1),
                                                   convert(object.attr("step"), depth + 1)});
    }
    return std::nullopt;
}

// typing.Annotated[FLOAT, "M", "N"].
std::optional<Object> convert_annotated(nb::handle object, int depth) {
    nb::object metadata = attribute_or_none(object, "__metadata__");
    if (!metadata.is_valid() || !PyTuple_Check(metadata.ptr()) || depth > kMaxDepth) {
        return std::nullopt;
    }
    std::vector<Object> arguments = convert_items(metadata, depth);
    arguments.insert(arguments.begin(), convert(object.attr("__origin__"), depth + 1));
    return elaborate::generic_class("Annotated", std::move(arguments));
}

bool is_class_of_none(nb::handle object) {
    return object.ptr() == reinterpret_cast<PyObject*>(Py_TYPE(Py_None));
}

// Classes of Python that annotations and isinstance() name: int, list, typing.Optional, and those
// with arguments: Optional[FLOAT["N"]].
std::optional<Object> convert_python_type(nb::handle object, int depth) {
    if (std::optional<Object> annotated = convert_annotated(object, depth)) {
        return annotated;
    }
    nb::object arguments = attribute_or_none(object, "__args__");
    nb::object origin = attribute_or_none(object, "__origin__");
    if (arguments.is_valid() && PyTuple_Check(arguments.ptr()) && depth <= kMaxDepth) {
        nb::handle head = origin.is_valid() ? nb::handle(origin) : object.type();
        nb::object name = attribute_or_none(head, "__name__");
        std::string text = name.is_valid()
                               ? text_from_python(name)
                               : text_from_python(nb::str(attribute_or_none(head, "_name")));
        std::vector<Object> items;
        for (nb::handle one : arguments) {
            // `typing` has the class of None where None is meant.
            items.push_back(is_class_of_none(one) ? Object::none() : convert(one, depth + 1));
        }
        return elaborate::generic_class(text, std::move(items));
    }
    nb::object module = attribute_or_none(object, "__module__");
    nb::object name = attribute_or_none(object, "__name__");
    if (!name.is_valid()) {
        name = attribute_or_none(object, "_name");
    }
    if (!module.is_valid() || !name.is_valid() || !PyUnicode_Check(module.ptr()) ||
        !PyUnicode_Check(name.ptr())) {
        return std::nullopt;
    }
    return elaborate::object_called(text_from_python(module), text_from_python(name));
}

std::optional<Object> convert_class(nb::handle object) {
    if (std::optional<Object> named = named_tuple_class(object)) {
        return named;
    }
    // numpy.float32 under another name is the same object as the member of the module.
    if (is_attribute(object, "__module__", "numpy")) {
        if (std::optional<Object> known = convert_python_type(object, 0);
            known && known->is(ObjectKind::kElementType)) {
            return known;
        }
    }
    Type type = type_from_python(object);
    if (type.is_known()) {
        bool explicit_shape = !object.attr("shape").is_none();
        return Object::make(ObjectKind::kType, elaborate::TypeObject{type, explicit_shape});
    }
    ElementType element = element_type_from_dtype(object);  // numpy.float32
    return element == ElementType::kUndefined ? std::nullopt
                                              : std::optional<Object>(Object::element_type(
                                                    element, elaborate::TypeForm::kNumpyClass));
}

// An opset of the onnxscript package: sources mix both.
bool is_peer_opset(nb::handle object) {
    nb::object module = attribute_or_none(object.type(), "__module__");
    return module.is_valid() && PyUnicode_Check(module.ptr()) &&
           text_from_python(module).rfind("onnxscript.", 0) == 0 && nb::hasattr(object, "domain") &&
           nb::hasattr(object, "version");
}

std::optional<Object> convert_own(nb::handle object) {
    if (const PyTensor* tensor = as_tensor(object)) {
        return Object::make(ObjectKind::kConstant, Tensor(tensor->tensor()));
    }
    if (nb::isinstance<Opset>(object)) {
        const Opset& opset = *nb::inst_ptr<Opset>(object);
        return Object::make(ObjectKind::kOpset,
                            elaborate::OpsetObject{opset.domain, opset.version});
    }
    if (nb::isinstance<Operator>(object)) {
        const Operator& op = *nb::inst_ptr<Operator>(object);
        return Object::make(ObjectKind::kOperator,
                            elaborate::OperatorObject{{op.domain, op.version}, op.name});
    }
    if (std::shared_ptr<void> script = script_of(object)) {
        return Object::from_pointer(ObjectKind::kScript, std::move(script));
    }
    if (is_peer_opset(object)) {
        return Object::make(ObjectKind::kOpset,
                            elaborate::OpsetObject{text_from_python(object.attr("domain")),
                                                   int_from_python(object.attr("version"))});
    }
    return std::nullopt;
}

// `push = xs.append`: a method that changes a list, dict or set, which the compiler follows.
std::optional<Object> convert_method(nb::handle object, int depth) {
    if (Py_TYPE(object.ptr()) != &PyCFunction_Type || depth > kMaxDepth) {
        return std::nullopt;
    }
    nb::object self = object.attr("__self__");
    PyObject* o = self.ptr();
    std::string name = text_from_python(object.attr("__name__"));
    bool is_open = PyList_CheckExact(o) || PyDict_CheckExact(o) || Py_TYPE(o) == &PySet_Type;
    return is_open && elaborate::is_changing_method(name)
               ? std::optional(Object::make(
                     ObjectKind::kMethod, elaborate::MethodObject{convert(self, depth + 1), name}))
               : std::nullopt;
}

// functools.partial.
std::optional<Object> convert_partial(nb::handle object, int depth) {
    if (depth > kMaxDepth || !is_attribute(object.type(), "__name__", "partial") ||
        !is_attribute(object.type(), "__module__", "functools")) {
        return std::nullopt;
    }
    elaborate::DictObject keywords;
    for (auto [name, value] : nb::borrow<nb::dict>(object.attr("keywords"))) {
        keywords.set(convert(name, depth + 1), convert(value, depth + 1));
    }
    return elaborate::bind_arguments(convert(object.attr("func"), depth + 1),
                                     convert_items(object.attr("args"), depth),
                                     std::move(keywords));
}

std::optional<Object> convert_array(nb::handle object) {
    // Of another library, such as a torch.Tensor.
    bool is_foreign =
        nb::hasattr(object.type(), "__array__") || nb::hasattr(object.type(), "__dlpack__");
    bool is_proto = is_tensor_proto(object);
    if (!is_array(object) && !is_proto && !is_foreign) {
        ElementType element = element_type_from_dtype(object);  // numpy.dtype("float32")
        return element == ElementType::kUndefined ? std::nullopt
                                                  : std::optional<Object>(Object::element_type(
                                                        element, elaborate::TypeForm::kNumpyDtype));
    }
    try {
        Object array = Object::make(ObjectKind::kConstant, tensor_from_python(object));
        return is_array(object) && !is_ndarray(object) ? elaborate::as_numpys_number(array) : array;
    } catch (nb::python_error& error) {
        pass_on_exits(error);
        return std::nullopt;  // a dtype that ONNX does not have
    }
}

// Whether a compilation need not look again what the object is: neither an array nor what holds
// other objects.
bool stays_the_same(const Object& object) {
    return object.is(ObjectKind::kScript) || object.is(ObjectKind::kType) ||
           object.is(ObjectKind::kOpset) || object.is(ObjectKind::kOperator) ||
           object.is(ObjectKind::kElementType) || object.is(ObjectKind::kBuiltin);
}

Object convert(nb::handle object, int depth) {
    std::optional<Object> found = convert_scalar(object);
    if (!found) {
        found = convert_container(object, depth);
    }
    if (found) {
        return std::move(*found);
    }
    if (PyModule_CheckExact(object.ptr())) {
        return opaque(object);
    }
    if (const Object* known = known_in_program(object)) {
        return *known;
    }
    found = convert_own(object);
    if (!found) {
        found = convert_partial(object, depth);
    }
    if (!found) {
        found = convert_method(object, depth);
    }
    if (!found) {
        found = PyType_Check(object.ptr()) ? convert_class(object) : convert_array(object);
    }
    if (!found) {
        found = convert_python_type(object, depth);
    }
    if (found && stays_the_same(*found)) {
        know_in_program(object, *found);
    }
    if (nb::object held = found ? nb::object() : value_of_attribute(object); held.is_valid()) {
        found = convert(held, depth);
    }
    return found ? std::move(*found) : opaque(object);
}

nb::object items_to_python(const std::vector<Object>& items) {
    nb::list list;
    for (const Object& item : items) {
        nb::object one = object_to_python(item);
        if (!one.is_valid()) {
            return {};
        }
        list.append(one);
    }
    return list;
}

nb::object dict_to_python(const elaborate::DictObject& dict) {
    nb::dict result;
    for (const auto& [key, value] : dict.items) {
        nb::object python_key = object_to_python(key), python_value = object_to_python(value);
        if (!python_key.is_valid() || !python_value.is_valid()) {
            return {};
        }
        result[python_key] = python_value;
    }
    if (dict.of == elaborate::DictClass::kDict) {
        return result;
    }
    nb::object of = nb::module_::import_("collections").attr(std::string(class_name(dict)).c_str());
    if (dict.of != elaborate::DictClass::kDefault) {
        return of(result);
    }
    nb::object factory = object_to_python(dict.factory);
    return factory.is_valid() ? of(factory, result) : nb::object();
}

nb::object type_object_to_python(const Object& object) {
    ElementType type = object.as_element_type();
    return object.is_type_number() ? element_type_to_python(type)
           : object.type_form() == elaborate::TypeForm::kNumpyClass
               ? nb::object(dtype_of(type).attr("type"))
               : dtype_of(type);
}

// np.float64, np.int64 or np.bool_; an int that is wider has come from Python's arithmetic.
nb::object number_of_numpy(const Object& object) {
    if (object.is(ObjectKind::kWideInt)) {
        return wide_int_to_python(object.as_whole());
    }
    ElementType type = object.is(ObjectKind::kFloat)  ? ElementType::kDouble
                       : object.is(ObjectKind::kBool) ? ElementType::kBool
                                                      : ElementType::kInt64;
    return dtype_of(type).attr("type")(object_to_python(object.shown(elaborate::ShownAs::kPlain)));
}

nb::object call_builtin(const char* name, nb::object a, nb::object b, nb::object c) {
    return nb::module_::import_("builtins").attr(name)(a, b, c);
}

}  // namespace

Object object_from_python(nb::handle object) {
    return convert(object, 0);
}

Object opaque_from_python(nb::handle object) {
    return opaque(object);
}

nb::object object_to_python(const Object& object) {
    if (object.is_number() && object.shown_as() == elaborate::ShownAs::kNumpy) {
        return number_of_numpy(object);
    }
    switch (object.kind()) {
        case ObjectKind::kNone:
            return nb::none();
        case ObjectKind::kBool:
            return nb::bool_(object.as_bool());
        case ObjectKind::kInt:
            return object.member() != nullptr ? static_cast<PythonOpaque&>(*object.member()).object
                                              : nb::object(nb::int_(object.as_int()));
        case ObjectKind::kWideInt:
            return wide_int_to_python(object.as_whole());
        case ObjectKind::kFloat:
            return nb::float_(object.as_double());
        case ObjectKind::kString:
            return object.member() != nullptr ? static_cast<PythonOpaque&>(*object.member()).object
                                              : text_to_python(object.text());
        case ObjectKind::kBytes:
            return nb::bytes(object.text().data(), object.text().size());
        case ObjectKind::kEllipsis:
            return nb::borrow(Py_Ellipsis);
        case ObjectKind::kTuple: {
            nb::object items = items_to_python(object.items());
            return object.tuple_class() != nullptr ? named_tuple_to_python(object, items)
                   : items.is_valid()              ? nb::object(nb::tuple(items))
                                                   : items;
        }
        case ObjectKind::kList:
            return items_to_python(object.items());
        case ObjectKind::kDict: {
            return dict_to_python(object.get<elaborate::DictObject>());
        }
        case ObjectKind::kRange: {
            const auto& range = object.get<elaborate::RangeObject>();
            return call_builtin("range", nb::int_(range.start), nb::int_(range.stop),
                                nb::int_(range.step));
        }
        case ObjectKind::kSlice: {
            const auto& slice = object.get<elaborate::SliceObject>();
            return call_builtin("slice", object_to_python(slice.lower),
                                object_to_python(slice.upper), object_to_python(slice.step));
        }
        case ObjectKind::kConstant:
            return array_from_tensor(object.get<Tensor>());
        case ObjectKind::kElementType:
            return type_object_to_python(object);
        case ObjectKind::kSet: {
            nb::object items = items_to_python(object.items());
            const char* kind = object.is_frozen() ? "frozenset" : "set";
            return items.is_valid() ? nb::module_::import_("builtins").attr(kind)(items) : items;
        }
        case ObjectKind::kOpaque:
            return static_cast<PythonOpaque&>(object.get<elaborate::OpaqueObject>()).object;
        case ObjectKind::kModule: {
            elaborate::Namespace* type = elaborate::as_namespace(object);
            return type != nullptr ? object_to_python(type->outside) : nb::object();
        }
        default:
            return {};
    }
}

}  // namespace sardonyx::python
