// The Python class Value.
#include "bindings/call.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "types/element_type.h"

namespace sardonyx::python {

namespace {

nb::object type_of(const PyValue& self) {
    settled(*self.state);
    const Type& type = self.get().type;
    return type.is_known() ? text_to_python(type.to_string()) : nb::none();
}

void set_type(const PyValue& self, nb::handle given) {
    Type type = given.is_none() ? Type() : type_from_python(given);
    if (!type.is_known() && !given.is_none()) {
        raise(PyExc_TypeError, "`" + text_from_python(nb::repr(given)) + "` is no type: write " +
                                   "`FLOAT[\"N\", 4]` of sardonyx, or \"FLOAT[N,4]\"");
    }
    edited(editor_of(*self.state).set_type(self.get(), std::move(type)));
}

nb::object dtype(const PyValue& self) {
    settled(*self.state);
    ElementType type = self.get().type.element_type();
    return type == ElementType::kUndefined ? nb::none() : dtype_of(type);
}

nb::object shape(const PyValue& self) {
    settled(*self.state);
    const Type& type = self.get().type;
    if (!type.has_shape()) {
        return nb::none();
    }
    nb::list dims;
    for (const Dim& dim : type.shape()) {
        dims.append(dim.is_static()     ? nb::object(nb::int_(dim.value()))
                    : dim.is_symbolic() ? text_to_python(dim.to_string())
                                        : nb::none());
    }
    return nb::tuple(dims);
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

nb::tuple uses(const PyValue& self) {
    nb::list rows;
    for (const ir::Use* use = self.get().first_use(); use != nullptr; use = use->next) {
        rows.append(nb::make_tuple(part_to_python(self.state, use->user), use->index));
    }
    rows.reverse();  // they are kept the other way round
    return nb::tuple(rows);
}

bool is_output(const PyValue& self) {
    const ir::Value& value = self.get();
    const std::vector<ir::Value*>& outputs = value.graph()->outputs;
    return std::find(outputs.begin(), outputs.end(), &value) != outputs.end();
}

void replace_all_uses(const PyValue& self, nb::handle other) {
    ir::Value* value = value_from_argument(*self.state, other, false);
    edited(editor_of(*self.state).replace_uses(self.get(), *value));
}

std::string repr(const PyValue& self) {
    const ir::Value& value = *self.part;
    std::string name = text_from_python(nb::repr(text_to_python(value.name)));
    bool is_gone = self.state->editor != nullptr && !self.state->editor->is_alive(value);
    std::string type = value.type.is_known() ? ": " + value.type.to_string() : "";
    return "<Value " + name + (is_gone ? ", removed>" : type + ">");
}

}  // namespace

void bind_value(nb::module_& m) {
    nb::class_<PyValue>(m, "Value", "A value of a graph: an input, an initializer or a result.")
        .def_prop_rw(
            "name", [](const PyValue& self) { return text_to_python(self.get().name); },
            [](const PyValue& self, const nb::str& name) {
                edited(editor_of(*self.state).rename(self.get(), text_from_python(name)));
            })
        .def_prop_rw("type", type_of, set_type, nb::for_setter(nb::arg("type").none()))
        .def_prop_ro("dtype", dtype)
        .def_prop_ro("shape", shape)
        .def_prop_rw("const_value", const_value, set_const_value)
        .def_prop_rw(
            "doc", [](const PyValue& self) { return text_to_python(self.get().doc); },
            [](const PyValue& self, const nb::str& text) {
                editor_of(*self.state);
                self.get().doc = self.state->model->intern(text_from_python(text));
            })
        .def_prop_rw(
            "metadata", [](const PyValue& self) { return metadata_to_python(self.get().metadata); },
            [](const PyValue& self, nb::handle entries) {
                editor_of(*self.state);
                self.get().metadata = metadata_from_python(*self.state->model, entries);
            })
        .def_prop_ro(
            "graph",
            [](const PyValue& self) { return part_to_python(self.state, self.get().graph()); })
        .def_prop_ro(
            "producer",
            [](const PyValue& self) { return part_to_python(self.state, self.get().producer()); })
        .def_prop_ro("index",
                     [](const PyValue& self) {
                         const ir::Value& value = self.get();
                         return value.producer() != nullptr
                                    ? nb::object(nb::int_(value.output_index()))
                                    : nb::none();
                     })
        .def_prop_ro("uses", uses, "(node, index of its input) for each node that reads it.")
        .def_prop_ro("is_input", [](const PyValue& self) { return self.get().is_graph_input(); })
        .def_prop_ro("is_initializer",
                     [](const PyValue& self) { return self.get().is_initializer(); })
        .def_prop_ro("is_output", is_output)
        .def("replace_all_uses", replace_all_uses, nb::arg("other"),
             "Makes all that reads the value read `other`; outputs of graphs, too.")
        .def("__repr__", repr);
}

}  // namespace sardonyx::python
