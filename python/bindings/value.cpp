// The Python class Value.
#include "bindings/call.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "ir/graph_walk.h"
#include "types/element_type.h"

namespace sardonyx::python {

namespace {

nb::object type_of(const PyValue& self) {
    settled(*self.state);
    return self.answer(0, [&](const ir::Value& value) { return self.state->type(value.type); });
}

void set_type(const PyValue& self, nb::handle given) {
    Type type = stated_type(given);
    edited(editor_of(*self.state).set_type(self.get(), std::move(type)));
}

nb::object dtype(const PyValue& self) {
    settled(*self.state);
    ElementType type = self.get().type.element_type();
    return type == ElementType::kUndefined ? nb::none() : dtype_of(type);
}

nb::object shape_of(ModelState& state, const Type& type) {
    if (!type.has_shape()) {
        return nb::none();
    }
    return state.shape(type.shape());
}

nb::object value_shape(const PyValue& self) {
    settled(*self.state);
    return self.answer(1,
                       [&](const ir::Value& value) { return shape_of(*self.state, value.type); });
}

nb::object const_value(const PyValue& self) {
    settled(*self.state);
    const ir::Value& value = self.get();
    return value.constant ? array_from_tensor(*value.constant) : nb::none();
}

void set_const_value(const PyValue& self, nb::handle given) {
    Tensor tensor = own_tensor_from_python(given);
    edited(editor_of(*self.state).set_tensor(self.get(), std::move(tensor)));
}

nb::object uses(const PyValue& self) {
    return self.kept_answer([&](const ir::Value& value) {
        Py_ssize_t count = 0;
        for (const ir::Use* use = value.first_use(); use != nullptr; use = use->next) {
            ++count;
        }
        return tuple_of_parts(static_cast<size_t>(count), [&](PyObject* rows) {
            // The list of uses is in reverse order.
            for (const ir::Use* use = value.first_use(); use != nullptr; use = use->next) {
                nb::object row = tuple_of_parts(2, [&](PyObject* items) {
                    PyTuple_SetItem(items, 0,
                                    part_to_python(self.state, use->user).release().ptr());
                    PyTuple_SetItem(items, 1, PyLong_FromSize_t(use->index));
                });
                PyTuple_SetItem(rows, --count, row.release().ptr());
            }
        });
    });
}

void replace_all_uses(const PyValue& self, nb::handle other) {
    ir::Value* value = value_from_argument(*self.state, other);
    edited(editor_of(*self.state).replace_uses(self.get(), *value));
}

std::string value_repr(const PyValue& self) {
    const ir::Value& value = *self.part;
    std::string name = text_from_python(nb::repr(text_to_python(value.name)));
    bool is_gone = is_removed(*self.state, value);
    std::string type = value.type.is_known() ? ": " + value.type.to_string() : "";
    return "<Value " + name + (is_gone ? ", removed>" : type + ">");
}

nb::object value_name(const PyValue& self) {
    return self.answer(2, [](const ir::Value& value) { return text_to_python(value.name); });
}

void set_value_name(const PyValue& self, nb::handle given) {
    edited(editor_of(*self.state).rename(self.get(), string_from_python(given)));
}

nb::object graph_of_value(const PyValue& self) {
    return part_to_python(self.state, self.get().graph());
}

nb::object producer(const PyValue& self) {
    return part_to_python(self.state, self.get().producer());
}

nb::object output_index(const PyValue& self) {
    const ir::Value& value = self.get();
    return value.producer() != nullptr ? nb::object(nb::int_(value.output_index())) : nb::none();
}

nb::object is_input(const PyValue& self) {
    return nb::bool_(self.get().is_graph_input());
}

nb::object is_initializer(const PyValue& self) {
    return nb::bool_(self.get().is_initializer());
}

nb::object is_output(const PyValue& self) {
    return nb::bool_(ir::is_graph_output(self.get()));
}

PyGetSetDef kValueAttributes[] = {
    {"name", slot_get<PyValue, value_name>, slot_set<PyValue, set_value_name>,
     "A string; empty where it has none.", nullptr},
    {"type", slot_get<PyValue, type_of>, slot_set<PyValue, set_type>,
     "A Type, such as `FLOAT[N, 4]`; None where it is not known.", nullptr},
    {"dtype", slot_get<PyValue, dtype>, nullptr,
     "The NumPy dtype of its elements; None where the type is not known, or no tensor.", nullptr},
    {"shape", slot_get<PyValue, value_shape>, nullptr,
     "A tuple of sizes, names and None; None where the rank is not known.", nullptr},
    {"graph", slot_get<PyValue, graph_of_value>, nullptr, "The Graph that it is a value of.",
     nullptr},
    {"producer", slot_get<PyValue, producer>, nullptr,
     "The Node that computes it; None of inputs and initializers.", nullptr},
    {"index", slot_get<PyValue, output_index>, nullptr,
     "Which of the outputs of its producer it is, from 0; None of inputs and initializers.",
     nullptr},
    {"uses", slot_get<PyValue, uses>, nullptr,
     "(node, index of its input) for each node that reads it.", nullptr},
    {"is_input", slot_get<PyValue, is_input>, nullptr, "Whether it is an input of its graph.",
     nullptr},
    {"is_initializer", slot_get<PyValue, is_initializer>, nullptr,
     "Whether it has a constant as an initializer of its graph.", nullptr},
    {"is_output", slot_get<PyValue, is_output>, nullptr, "Whether it is an output of its graph.",
     nullptr},
    {}};
PyType_Slot kValueSlots[] = {{Py_tp_getset, kValueAttributes}, {}};

}  // namespace

void bind_value(nb::module_& m) {
    nb::class_<PyValue> c(m, "Value", nb::type_slots(kValueSlots),
                          "A value of a graph: an input, an initializer or a result.");
    bind_notes(c);
    c.def_prop_rw("const_value", const_value, set_const_value)
        .def("replace_all_uses", replace_all_uses, nb::arg("other"),
             "Replaces the value by `other` everywhere, including outputs of graphs.")
        .def("__repr__", value_repr);
}

}  // namespace sardonyx::python
