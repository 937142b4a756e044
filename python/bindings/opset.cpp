// The Python classes Opset and Op.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bindings/bindings.h"
#include "bindings/call.h"
#include "bindings/numpy.h"
#include "bindings/opset.h"
#include "bindings/tensor.h"
#include "calls/unknown.h"
#include "eager/call.h"
#include "ops/signature.h"
#include "types/domain.h"

namespace sardonyx::python {

namespace {

Opset make_opset(nb::handle domain, nb::handle version) {
    if (!PyUnicode_Check(domain.ptr()) || !PyIndex_Check(version.ptr())) {
        raise(PyExc_TypeError, "an Opset has a domain (a string) and a version (an int)");
    }
    Opset opset{text_from_python(domain), int_from_python(version)};
    opset.domain = normal_domain(opset.domain);
    if (opset.version < 1) {
        raise(PyExc_ValueError, "the version of an Opset is at least 1");
    }
    return opset;
}

std::string opset_repr(const Opset& self) {
    return "Opset(" + text_from_python(nb::repr(text_to_python(self.domain))) + ", " +
           std::to_string(self.version) + ")";
}

// One object for each opset, kept until the process ends.
nb::object interned(Opset opset) {
    nb::object key = nb::make_tuple(text_to_python(opset.domain), opset.version);
    nb::object all = nb::module_::import_("sardonyx._core").attr("_opsets");
    nb::dict made = nb::borrow<nb::dict>(all);
    if (!made.contains(key)) {
        made[key] = nb::cast(std::move(opset));
    }
    return made[key];
}

nb::object get_operator(nb::handle self, const char* name) {
    const Opset& opset = *nb::inst_ptr<Opset>(self);
    const ops::Schema* schema = ops::find_schema(opset.domain, name, opset.version);
    bool is_private = std::string_view(name).substr(0, 1) == "_";
    if (is_private || (schema == nullptr && ops::find_domain(opset.domain) != nullptr)) {
        nb::object error = nb::borrow(PyExc_AttributeError)(
            text_to_python(calls::unknown_operator(opset.domain, opset.version, name)));
        // Without the object, tracebacks do not add a second "Did you mean".
        error.attr("name") = name;
        PyErr_SetObject(PyExc_AttributeError, error.ptr());
        throw nb::python_error();
    }
    Operator op = make_operator(opset.domain, name, opset.version);
    if (op.entry == nullptr && !has_evaluator()) {
        raise(PyExc_AttributeError, eager::no_implementation(opset.domain, name));
    }
    bool is_known = op.entry != nullptr;
    nb::object found = nb::cast(std::move(op));
    if (!is_known) {
        return found;  // while the evaluator is in force
    }
    nb::setattr(self, name, found);  // found without us from now on
    return found;
}

nb::list operator_names(const Opset& self) {
    nb::list names;
    for (const ops::Schema* schema : ops::operators_in_force(self.domain, self.version)) {
        names.append(text_to_python(schema->name));
    }
    return names;
}

template <typename T, typename Convert>
nb::object tuple_of(std::span<const T> values, Convert convert) {
    nb::list list;
    for (const T& value : values) {
        list.append(convert(value));
    }
    return nb::tuple(list);
}

// The shortest number that gives this float32.
nb::object float_to_python(float value) {
    return nb::float_(std::strtod(fmt::format("{}", value).c_str(), nullptr));
}

// The default value of an attribute; None: there is none.
nb::object default_of(const ops::AttributeSchema& attribute) {
    if (!attribute.has_default) {
        return nb::none();
    }
    switch (attribute.type) {
        case ops::AttributeType::kInt:
            return nb::int_(attribute.default_int);
        case ops::AttributeType::kFloat:
            return float_to_python(attribute.default_float);
        case ops::AttributeType::kString:
            return text_to_python(attribute.default_string);
        case ops::AttributeType::kInts:
            return tuple_of(attribute.default_ints, [](int64_t one) { return nb::int_(one); });
        case ops::AttributeType::kFloats:
            return tuple_of(attribute.default_floats, float_to_python);
        case ops::AttributeType::kStrings:
            return tuple_of(attribute.default_strings,
                            [](std::string_view one) { return text_to_python(one); });
        default:
            return nb::none();
    }
}

// "TopK(X, K, *, axis=-1, largest=1, sorted=1)".
std::string signature(const Operator& self) {
    return self.schema() == nullptr ? self.name + "(...)" : ops::shown_signature(*self.schema());
}

// inspect.Signature. _signatures.py makes it of (name, form, is_required, default) of each
// parameter.
nb::object signature_object(const Operator& self) {
    nb::list rows;
    if (self.schema() == nullptr) {
        rows.append(nb::make_tuple("inputs", "variadic", true, nb::none()));
        rows.append(nb::make_tuple("attributes", "named", true, nb::none()));
    } else {
        for (const ops::ShownParameter& one : ops::shown_parameters(*self.schema())) {
            if (!one.name.empty()) {
                rows.append(nb::make_tuple(
                    text_to_python(one.name),
                    one.is_attribute  ? "attribute"
                    : one.is_variadic ? "variadic"
                                      : "input",
                    one.is_required,
                    one.is_attribute ? default_of(*self.schema()->find_attribute(one.name))
                                     : nb::none()));
            }
        }
    }
    return nb::module_::import_("sardonyx._signatures").attr("signature")(rows);
}

nb::object doc(const Operator& self) {
    return self.schema() == nullptr
               ? nb::none()
               : text_to_python(signature(self) + "\n\n" + std::string(self.schema()->doc));
}

// The schema as the onnx package gives it.
nb::object op_schema(const Operator& self) {
    if (self.schema() == nullptr) {
        return nb::none();
    }
    return nb::module_::import_("onnx.defs")
        .attr("get_schema")(text_to_python(self.name), self.schema()->since_version,
                            text_to_python(self.domain));
}

nb::list input_names(const Operator& self) {
    nb::list names;
    for (const ops::Parameter& input :
         self.schema() ? self.schema()->inputs : std::span<const ops::Parameter>()) {
        names.append(text_to_python(input.name));
    }
    return names;
}

PyObject* call_slot(PyObject* self, PyObject* args, PyObject* kwargs) {
    return guarded([&] {
        if (!nb::inst_ready(self)) {
            raise(PyExc_TypeError, "an Op without a name: `Op.__init__` was not called");
        }
        return call(self, *nb::inst_ptr<Operator>(self), nb::borrow<nb::args>(args), kwargs);
    });
}

// CPython calls an Op directly, without nanobind.
const PyType_Slot kOpSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_slot)}, {0, nullptr}};

nb::list domains() {
    nb::list rows;
    for (const ops::DomainInfo& row : ops::domains()) {
        rows.append(
            nb::make_tuple(text_to_python(row.domain), row.oldest_version, row.newest_version));
    }
    return rows;
}

void bind_op(nb::module_& m) {
    nb::class_<Operator>(m, "Op", nb::type_slots(kOpSlots),
                         "An operator of an opset; a call evaluates it.")
        .def(
            "__init__",
            [](Operator* self, const Opset& opset, nb::str name) {
                new (self)
                    Operator(make_operator(opset.domain, text_from_python(name), opset.version));
            },
            nb::arg("opset"), nb::arg("name"))
        .def_prop_ro("name", [](const Operator& self) { return text_to_python(self.name); })
        .def_prop_ro("domain", [](const Operator& self) { return text_to_python(self.domain); })
        .def_prop_ro("opset",
                     [](const Operator& self) {
                         return the_opset(Opset{self.domain, self.version});
                     })
        .def_prop_ro("since_version",
                     [](const Operator& self) {
                         return self.schema() ? nb::object(nb::int_(self.schema()->since_version))
                                              : nb::object(nb::none());
                     })
        .def_prop_ro("input_names", input_names)
        .def_prop_ro("op_schema", op_schema, "onnx.defs.OpSchema, of the onnx package.")
        .def_prop_ro("__doc__", doc)
        .def_prop_ro("__signature__", signature_object)
        .def("__reduce__",
             [](nb::handle self) {
                 const Operator& op = *nb::inst_ptr<Operator>(self);
                 return nb::make_tuple(self.type(),
                                       nb::make_tuple(Opset{op.domain, op.version}, op.name));
             })
        .def("__repr__", [](const Operator& self) {
            return opset_repr(Opset{self.domain, self.version}) + "." + signature(self);
        });
}

}  // namespace

nb::object the_opset(const Opset& opset) {
    return interned(opset);
}

void bind_opset(nb::module_& m) {
    m.attr("_opsets") = nb::dict();
    nb::class_<Opset>(m, "Opset", nb::dynamic_attr(),
                      "A domain and a version of it: its operators are its attributes.")
        .def(nb::new_([](nb::handle domain, nb::handle version) {
                 if (version.is_none()) {
                     raise(PyExc_TypeError,
                           "an Opset has a domain and a version, as in `Opset(\"my.domain\", 1)`; "
                           "those of ai.onnx are `sardonyx.opset21` and its like");
                 }
                 return interned(make_opset(domain, version));
             }),
             nb::arg("domain"), nb::arg("version").none() = nb::none())
        // For a subclass whose `__new__` has other parameters.
        .def("__init__", [](nb::handle, const nb::args&, const nb::kwargs&) {})
        .def_prop_ro("domain", [](const Opset& self) { return text_to_python(self.domain); })
        .def_prop_ro("version", [](const Opset& self) { return self.version; })
        .def("__getattr__", get_operator, nb::arg("name"))
        .def("__contains__",
             [](const Opset& self, nb::str name) {
                 return ops::find_schema(self.domain, text_from_python(name), self.version) !=
                        nullptr;
             })
        // The operator, or None, as onnxscript has it.
        .def("__getitem__",
             [](nb::handle self, const std::string& name) {
                 const Opset& opset = *nb::inst_ptr<Opset>(self);
                 bool is_known = ops::find_schema(opset.domain, name, opset.version) != nullptr;
                 return is_known ? get_operator(self, name.c_str()) : nb::object(nb::none());
             })
        .def("__dir__", operator_names)
        .def("__eq__",
             [](const Opset& self, nb::handle other) {
                 if (!nb::isinstance<Opset>(other)) {
                     return false;
                 }
                 const Opset& opset = *nb::inst_ptr<Opset>(other);
                 return self.domain == opset.domain && self.version == opset.version;
             })
        .def("__hash__",
             [](const Opset& self) {
                 return nb::hash(nb::make_tuple(text_to_python(self.domain), self.version));
             })
        .def("__reduce__",
             [](nb::handle self) {
                 const Opset& opset = *nb::inst_ptr<Opset>(self);
                 return nb::make_tuple(self.type(),
                                       nb::make_tuple(text_to_python(opset.domain), opset.version));
             })
        .def("__repr__", opset_repr);
    bind_op(m);
    m.def("domains", domains, "(domain, oldest version, newest version) of each that is known.");
    m.def("annotation_dims", dims_of_annotation, nb::arg("text"),
          "The dimensions that a string in an annotation says: sizes, expressions, None.");
    m.def(
        "element_type_number",
        [](nb::handle object) { return static_cast<int>(element_type_from_python(object)); },
        nb::arg("value").none(), "The number of what means an element type; 0 for all else.");
    m.def(
        "numpy_dtype", [](int type) { return dtype_of(element_type_from_number(type)); },
        nb::arg("element_type"));
    m.def("set_evaluator", set_evaluator, nb::arg("evaluator").none());
    m.def("set_evaluator_choice", set_evaluator_choice, nb::arg("choice"));
}

}  // namespace sardonyx::python
