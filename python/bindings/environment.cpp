#include "bindings/environment.h"

#include "bindings/classes.h"
#include "bindings/opset.h"
#include "bindings/sources.h"
#include "driver/definition.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/library.h"
#include "elaborate/library/python_names.h"
#include "elaborate/objects/plain.h"

namespace sardonyx::python {

using elaborate::Object;
using elaborate::ObjectKind;

namespace {

// "ValueError: math domain error"; the exception is taken.
std::string words_of(const nb::python_error& error) {
    return text_from_python(error.type().attr("__name__")) + ": " +
           text_from_python(nb::str(error.value()));
}

// The result of `ask`; an exception of Python becomes its error, except KeyboardInterrupt.
template <typename Ask>
elaborate::Environment::Answer answer(Ask ask) {
    try {
        return {object_from_python(ask()), {}};
    } catch (const nb::python_error& error) {
        pass_on_exits(error);
        return {std::nullopt, words_of(error)};
    }
}

// The contents of the closure cell of this name, for a function that has a closure; an empty object
// when there is none.
nb::object closure_value(nb::handle function, nb::handle name) {
    nb::object cells = function.attr("__closure__");
    size_t i = 0;
    for (nb::handle free : function.attr("__code__").attr("co_freevars")) {
        if (free.equal(name)) {
            nb::object value =
                nb::steal(PyObject_GetAttrString(nb::object(cells[i]).ptr(), "cell_contents"));
            PyErr_Clear();  // a cell that is still empty
            return value;
        }
        ++i;
    }
    return {};
}

// Whether Python keeps a list, dict or set of the object: something refers to it besides the
// caller. Python does not tell what refers to an object without a walk over all that there are, and
// a list that Python may change later must not become the compiler's own: the reference count is
// what is left to ask. One too many, as in a debugger, leaves the object to Python.
bool is_kept_by_python(nb::handle object, bool is_part_of_held, int depth) {
    constexpr int kMaxDepth = 16;  // below that, objects stay Python's
    PyObject* o = object.ptr();
    bool is_list = PyList_CheckExact(o), is_dict = PyDict_CheckExact(o);
    bool is_tuple = PyTuple_Check(o), is_changeable = is_list || is_dict || PySet_Check(o);
    bool is_held = is_part_of_held || Py_REFCNT(o) > 1;
    if (is_changeable && is_held) {
        return true;
    }
    if (depth == kMaxDepth) {
        return false;
    }
    Py_ssize_t size = is_list ? PyList_Size(o) : is_tuple ? PyTuple_Size(o) : 0;
    for (Py_ssize_t i = 0; i < size; ++i) {
        PyObject* item = is_list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
        if (is_kept_by_python(item, is_held, depth + 1)) {
            return true;
        }
    }
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (is_dict && PyDict_Next(o, &at, &key, &value) != 0) {
        if (is_kept_by_python(value, is_held, depth + 1)) {
            return true;
        }
    }
    return false;
}

}  // namespace

PythonEnvironment::PythonEnvironment(nb::object function)
    : function_(std::move(function)),
      globals_(nb::object(function_.attr("__globals__"))),
      has_closure_(!function_.attr("__closure__").is_none()) {}

nb::object PythonEnvironment::value(nb::handle key) const {
    nb::object found = has_closure_ ? closure_value(function_, key) : nb::object();
    return found.is_valid() ? found
                            : nb::borrow(PyDict_GetItemWithError(globals_.ptr(), key.ptr()));
}

std::optional<elaborate::OpsetObject> PythonEnvironment::opset(std::string_view name) const {
    nb::object found = value(text_to_python(name));
    if (!found.is_valid() || !found.type().is(nb::type<Opset>())) {
        return std::nullopt;
    }
    const Opset& opset = *nb::inst_ptr<Opset>(found);
    return elaborate::OpsetObject{opset.domain, opset.version};
}

std::optional<Object> PythonEnvironment::lookup(std::string_view name) {
    if (!function_.is_valid()) {
        return std::nullopt;
    }
    nb::object key = text_to_python(name);
    nb::object found = value(key);
    if (found.is_valid()) {
        return object_from_python(found);
    }
    std::optional<Object> builtin = elaborate::library_name(name);
    if (builtin && !elaborate::is_left_to_python(*builtin)) {
        return builtin;
    }
    found = nb::steal(PyObject_GetAttr(nb::module_::import_("builtins").ptr(), key.ptr()));
    PyErr_Clear();
    return found.is_valid() ? std::optional<Object>(object_from_python(found)) : std::nullopt;
}

std::vector<std::string> PythonEnvironment::names() {
    std::vector<std::string> names;
    if (!function_.is_valid()) {
        return names;
    }
    for (nb::handle name : function_.attr("__code__").attr("co_freevars")) {
        names.push_back(text_from_python(name));
    }
    for (nb::handle name : nb::borrow<nb::dict>(function_.attr("__globals__")).keys()) {
        if (PyUnicode_Check(name.ptr())) {
            names.push_back(text_from_python(name));
        }
    }
    for (std::string_view name : elaborate::library_names()) {
        names.emplace_back(name);
    }
    return names;
}

bool PythonEnvironment::is_for_onnxscript() const {
    // What `python -m sardonyx FILE.py` has set (_run.py).
    nb::object names = nb::module_::import_("sardonyx").attr("__dict__");
    return nb::borrow<nb::dict>(names).contains("_missing");
}

std::vector<int64_t> PythonEnvironment::opset_versions() {
    std::vector<int64_t> versions;
    auto see = [&versions](nb::handle value) {
        if (nb::isinstance<Opset>(value) && nb::inst_ptr<Opset>(value)->domain.empty()) {
            versions.push_back(nb::inst_ptr<Opset>(value)->version);
        }
    };
    if (!function_.is_valid()) {
        return versions;
    }
    for (nb::handle name : function_.attr("__code__").attr("co_freevars")) {
        nb::object cell = closure_value(function_, name);
        if (cell.is_valid()) {
            see(cell);
        }
    }
    for (nb::handle value : nb::borrow<nb::dict>(function_.attr("__globals__")).values()) {
        see(value);
    }
    return versions;
}

elaborate::Environment::Answer PythonEnvironment::attribute(const Object& opaque,
                                                            std::string_view name) {
    nb::object object = object_to_python(opaque);
    if (PyModule_Check(object.ptr())) {
        // Members that the compiler implements itself need no Python: math.sqrt, np.float32.
        std::string module = text_from_python(object.attr("__name__"));
        if (std::optional<Object> known = elaborate::member_of_module(module, name)) {
            nb::object now = nb::getattr(object, text_to_python(name), nb::none());
            bool is_other =
                known->is_number()
                    ? !equal(*known, object_from_python(now))
                    : nb::cast<bool>(nb::module_::import_("sardonyx._live")
                                         .attr("is_replaced")(module, text_to_python(name), now));
            if (!is_other) {
                return {std::move(known), {}};
            }
        }
    }
    nb::object key = text_to_python(name);
    nb::object kept;
    if (!PyModule_CheckExact(object.ptr())) {  // modules have no properties
        kept = nb::steal(PyObject_GetAttr(object.type().ptr(), key.ptr()));
        PyErr_Clear();
    }
    if (!kept.is_valid() || Py_TYPE(kept.ptr()) != &PyProperty_Type) {
        return answer([&] { return nb::getattr(object, key); });
    }
    nb::object watched = watch(object);
    elaborate::Environment::Answer answered = answer([&] { return nb::getattr(object, key); });
    if (nb::cast<bool>(watched.attr("has_changed")())) {
        watched.attr("take_back")();
        return {std::nullopt, "reading this property changes objects"};
    }
    return answered;
}

// What a call of the object may change, as it is now.
nb::object PythonEnvironment::watch(nb::handle object) const {
    return nb::module_::import_("sardonyx._live")
        .attr("Watched")(object, function_.attr("__code__").attr("co_filename"));
}

elaborate::Environment::Answer PythonEnvironment::text_of(const Object& opaque,
                                                          std::string_view how,
                                                          std::string_view spec) {
    nb::object object = object_to_python(opaque);
    nb::object watched = watch(object);
    elaborate::Environment::Answer answered = answer([&]() -> nb::object {
        nb::object function = nb::module_::import_("builtins").attr(text_to_python(how).ptr());
        nb::object text =
            how == "format" ? function(object, text_to_python(spec)) : function(object);
        nb::object place = nb::module_::import_("builtins")
                               .attr("hex")(nb::module_::import_("builtins").attr("id")(object));
        if (nb::cast<bool>(text.attr("__contains__")(
                place.attr("__getitem__")(nb::slice(nb::int_(2), nb::none(), nb::none()))))) {
            raise(PyExc_TypeError, "its text has its address in memory");
        }
        return text;
    });
    if (nb::cast<bool>(watched.attr("has_changed")())) {
        watched.attr("take_back")();
        return {std::nullopt, "its text changes objects"};
    }
    return answered;
}

elaborate::Environment::Answer PythonEnvironment::item(const Object& opaque, const Object& index) {
    nb::object key = object_to_python(index);
    if (!key.is_valid()) {
        return {std::nullopt, "the index is not known at compile time"};
    }
    nb::object object = object_to_python(opaque);
    return answer([&] { return nb::object(object[key]); });
}

elaborate::Environment::Answer PythonEnvironment::items(const Object& opaque, int64_t limit) {
    nb::object object = object_to_python(opaque);
    return answer([&] {
        nb::object iterator = nb::iter(object);
        if (iterator.is(object) || PyAnySet_Check(object.ptr())) {
            raise(PyExc_TypeError, "its items have no order, or are used up by a loop");
        }
        nb::list items;
        for (nb::handle item :
             nb::module_::import_("itertools").attr("islice")(iterator, limit + 1)) {
            items.append(item);
        }
        if (static_cast<int64_t>(items.size()) > limit) {
            raise(PyExc_ValueError, "too many items");
        }
        return nb::object(items);
    });
}

std::optional<Object> PythonEnvironment::own_class(const Object& opaque) {
    nb::object type = object_to_python(opaque);
    return type.is_valid() && function_.is_valid()
               ? class_of_program(type,
                                  text_from_python(function_.attr("__code__").attr("co_filename")))
               : std::nullopt;
}

PythonEnvironment::OwnFunction PythonEnvironment::own_function(const Object& opaque) const {
    nb::object called = object_to_python(opaque), self;
    if (!called.is_valid()) {
        return {};
    }
    // Their type checks in C are not part of Python's stable interface.
    nb::object types = nb::module_::import_("types"), plain = types.attr("FunctionType");
    if (called.type().is(types.attr("MethodType"))) {
        self = called.attr("__self__");
        called = called.attr("__func__");
    } else if (!called.type().is(plain) && !PyType_Check(called.ptr())) {
        self = called;  // an instance that is called
        called = nb::getattr(called.type(), "__call__", nb::none());
    }
    if (!called.type().is(plain)) {
        return {};
    }
    auto path_of = [](nb::handle function) {
        return text_from_python(function.attr("__code__").attr("co_filename"));
    };
    if (!driver::is_of_program(path_of(called), path_of(function_))) {
        return {};
    }
    return {called, self};
}

std::optional<Object> PythonEnvironment::library_function(const Object& opaque) {
    nb::object function = object_to_python(opaque);
    nb::object module = nb::getattr(function, "__module__", nb::none());
    nb::object name = nb::getattr(function, "__name__", nb::none());
    return PyUnicode_Check(module.ptr()) && PyUnicode_Check(name.ptr()) &&
                   !own_function(opaque).function.is_valid()
               ? elaborate::function_called(text_from_python(module), text_from_python(name))
               : std::nullopt;
}

bool PythonEnvironment::is_generator(const Object& opaque) {
    constexpr int kGenerator = 0x20;  // inspect.CO_GENERATOR
    nb::object function = own_function(opaque).function;
    return function.is_valid() &&
           (nb::cast<int>(function.attr("__code__").attr("co_flags")) & kGenerator) != 0;
}

std::optional<Object> PythonEnvironment::inline_script(const Object& opaque) {
    auto [called, self] = own_function(opaque);
    if (!called.is_valid()) {
        return std::nullopt;
    }
    std::shared_ptr<void> script = script_of_function(std::move(called));
    if (script == nullptr) {
        return std::nullopt;
    }
    Object function = Object::from_pointer(ObjectKind::kScript, std::move(script));
    return self.is_valid() ? elaborate::bind_arguments(function, {object_from_python(self)}, {})
                           : function;
}

elaborate::Environment::Answer PythonEnvironment::call(
    const Object& opaque, std::span<const Object> arguments,
    std::span<const std::pair<std::string, Object>> keywords) {
    constexpr const char* kNotKnown = "an argument is not known at compile time";
    nb::list positional, lent;
    for (const Object& argument : arguments) {
        nb::object converted = object_to_python(argument);
        if (!converted.is_valid()) {
            return {std::nullopt, kNotKnown};
        }
        positional.append(converted);
        if (!elaborate::is_held_by_call(argument)) {
            lent.append(converted);
        }
    }
    nb::dict named;
    for (const auto& [name, argument] : keywords) {
        nb::object converted = object_to_python(argument);
        if (!converted.is_valid()) {
            return {std::nullopt, kNotKnown};
        }
        named[text_to_python(name)] = converted;
        if (!elaborate::is_held_by_call(argument, 2)) {
            lent.append(converted);
        }
    }
    nb::object object = object_to_python(opaque);
    nb::object reason = nb::module_::import_("sardonyx._moments")
                            .attr("of_call")(object, !arguments.empty() || !keywords.empty());
    if (!reason.is_none()) {
        return {std::nullopt, text_from_python(reason)};
    }
    nb::object watched = watch(object);
    reason = watched.attr("reason");
    if (!reason.is_none()) {
        return {std::nullopt, text_from_python(reason)};
    }
    // The lists among the arguments are copies of the script's: what the call does to them, or
    // where it keeps them, would be lost.
    watched.attr("lend")(lent);
    bool is_lost = false, is_held = false;
    elaborate::Environment::Answer answered = answer([&] {
        nb::object result =
            nb::steal(PyObject_Call(object.ptr(), nb::tuple(positional).ptr(), named.ptr()));
        if (!result.is_valid()) {
            throw nb::python_error();
        }
        is_lost = nb::cast<bool>(watched.attr("has_used_lent")());
        is_held = is_kept_by_python(result, false, 0);
        return result;
    });
    answered.is_held = is_held;
    if (is_lost) {
        answered = {std::nullopt, "it changes a list, dict or set of its arguments, or keeps it"};
    }
    if (nb::cast<bool>(watched.attr("has_changed")())) {
        nb::object take_back = watched.attr("take_back");
        if (!answered.value) {
            take_back();
        } else {
            take_back_at_end(take_back);
            answered.take_back = [take_back] { take_back(); };
        }
    }
    return answered;
}

}  // namespace sardonyx::python
