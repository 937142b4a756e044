// The Python classes Node and Attributes.
#include <algorithm>

#include "bindings/call.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "calls/check.h"
#include "calls/implied_list.h"
#include "ops/ops.h"
#include "types/domain.h"

namespace sardonyx::python {

namespace {

// The mapping node.attributes: a live view, which reads the node at each access.
struct PyAttributes {
    std::shared_ptr<ModelState> state;
    ir::Node* part;

    ir::Node& node() const;
};

// An attribute that refers to the parameter of this name of the enclosing function.
struct AttributeReference {
    std::string name;
    std::string type;
};

using State = std::shared_ptr<ModelState>;

template <typename T, typename Convert>
nb::object list_of_items(const std::vector<T>& items, Convert convert) {
    nb::list list;
    for (const T& item : items) {
        list.append(convert(item));
    }
    return list;
}

nb::object sparse_to_python(const ir::SparseTensor& tensor) {
    return nb::make_tuple(array_from_tensor(tensor.values), array_from_tensor(tensor.indices),
                          nb::tuple(list_of_items(tensor.dims, [](int64_t dim) { return dim; })));
}

nb::object type_to_python(const Type& type) {
    return text_to_python(type.to_string());
}

nb::object attribute_of_state(const State& state, const ir::Attribute& attribute) {
    if (attribute.is_reference()) {
        return nb::cast(AttributeReference{std::string(attribute.reference),
                                           std::string(sardonyx::name(attribute.type))});
    }
    if (ir::Graph* const* graph = attribute.get<ir::Graph*>()) {
        return part_to_python(state, *graph);
    }
    if (const auto* graphs = attribute.get<std::vector<ir::Graph*>>()) {
        return list_of_items(*graphs,
                             [&](ir::Graph* graph) { return part_to_python(state, graph); });
    }
    if (const auto* tensors = attribute.get<std::vector<Tensor>>()) {
        return list_of_items(*tensors, array_from_tensor);
    }
    if (const Type* type = attribute.get<Type>()) {
        return type_to_python(*type);
    }
    if (const auto* types = attribute.get<std::vector<Type>>()) {
        return list_of_items(*types, type_to_python);
    }
    if (const auto* tensor = attribute.get<ir::SparseTensor>()) {
        return sparse_to_python(*tensor);
    }
    if (const auto* tensors = attribute.get<std::vector<ir::SparseTensor>>()) {
        return list_of_items(*tensors, sparse_to_python);
    }
    if (attribute.get<std::monostate>() != nullptr) {
        return nb::none();
    }
    return attribute_to_python(attribute);
}

[[noreturn]] void refuse_value(const std::string& name, nb::handle value) {
    raise(PyExc_TypeError, "attribute `" + name + "` cannot be `" +
                               text_from_python(nb::repr(value)) +
                               "`: it is a number, a string, a tensor, a type, or a list of one "
                               "kind of them");
}

calls::ListItem kind_of_item(nb::handle item) {
    return PyUnicode_Check(item.ptr()) || PyBytes_Check(item.ptr()) ? calls::ListItem::kText
           : PyIndex_Check(item.ptr())                              ? calls::ListItem::kInt
           : PyNumber_Check(item.ptr())                             ? calls::ListItem::kFloat
                                                                    : calls::ListItem::kOther;
}

template <typename T, typename Convert>
std::vector<T> items_of(const nb::object& list, const Convert& convert) {
    std::vector<T> items;
    for (nb::handle item : list) {
        items.push_back(convert(item));
    }
    return items;
}

ir::AttributeValue implied_list(const std::string& name, nb::handle value) {
    nb::object list = nb::borrow(value);
    switch (calls::implied_list_type(list, kind_of_item)) {
        case AttributeType::kInts:
            return items_of<int64_t>(list, int_from_python);
        case AttributeType::kFloats:
            return items_of<float>(
                list, [](nb::handle item) { return static_cast<float>(float_from_python(item)); });
        case AttributeType::kStrings:
            return items_of<std::string>(list, text_from_python);
        default:
            break;
    }
    if (nb::len(list) == 0) {
        raise(PyExc_TypeError, "attribute `" + name + "`: the type of an empty list is not known");
    }
    refuse_value(name, value);
}

ir::Attribute reference_to(const std::string& name, const AttributeReference& reference) {
    ir::Attribute attribute;
    attribute.name = name;
    attribute.reference = reference.name;
    attribute.type = attribute_type_from_name(reference.type);
    if (attribute.type != ir::AttributeType::kUndefined) {
        return attribute;
    }
    raise(PyExc_ValueError, "`" + reference.type +
                                "` is not a type of an attribute: it is one of " +
                                "FLOAT, INT, STRING, TENSOR, FLOATS, INTS, STRINGS ...");
}

void set_attribute(const State& state, ir::Node& node, nb::handle name, nb::handle value) {
    std::string text = text_from_python(name);
    ir::Editor& editor = editor_of(*state);
    edited(editor.set_attribute(
        node, attribute_for(*state->model, node.domain, node.op_type, text, value)));
}

const ir::Attribute* find(const PyAttributes& self, nb::handle name) {
    return PyUnicode_Check(name.ptr()) ? self.node().find_attribute(text_from_python(name))
                                       : nullptr;
}

nb::object get_item(const PyAttributes& self, nb::handle name) {
    const ir::Attribute* found = find(self, name);
    if (found == nullptr) {
        PyErr_SetObject(PyExc_KeyError, name.ptr());
        throw nb::python_error();
    }
    return attribute_of_state(self.state, *found);
}

void delete_item(const PyAttributes& self, nb::handle name) {
    get_item(self, name);  // KeyError
    edited(editor_of(*self.state).remove_attribute(self.node(), text_from_python(name)));
}

nb::list keys(const PyAttributes& self) {
    nb::list names;
    for (const ir::Attribute& attribute : self.node().attributes) {
        names.append(text_to_python(attribute.name));
    }
    return names;
}

nb::dict as_dict(const PyAttributes& self) {
    nb::dict items;
    for (const ir::Attribute& attribute : self.node().attributes) {
        items[text_to_python(attribute.name)] = attribute_of_state(self.state, attribute);
    }
    return items;
}

nb::object pop(const PyAttributes& self, nb::handle name, const nb::args& other) {
    if (other.size() > 1) {
        raise(PyExc_TypeError, "pop takes a name and a default");
    }
    const ir::Attribute* found = find(self, name);
    if (found == nullptr && other.size() == 1) {
        return other[0];
    }
    nb::object value = get_item(self, name);
    delete_item(self, name);
    return value;
}

nb::tuple pop_last(const PyAttributes& self) {
    nb::list names = keys(self);
    if (names.size() == 0) {
        raise(PyExc_KeyError, "the node has no attributes");
    }
    nb::object name = names[names.size() - 1];
    return nb::make_tuple(name, pop(self, name, nb::args()));
}

void clear_attributes(const PyAttributes& self) {
    for (nb::handle name : keys(self)) {
        delete_item(self, name);
    }
}

nb::object set_default(const PyAttributes& self, const nb::str& name, nb::handle value) {
    if (find(self, name) == nullptr) {
        set_attribute(self.state, self.node(), name, value);
    }
    return get_item(self, name);
}

void update(const PyAttributes& self, nb::handle entries, const nb::kwargs& more) {
    for (auto [name, value] : dict_from_python(entries)) {
        set_attribute(self.state, self.node(), text_to_python(string_from_python(name)), value);
    }
    for (auto [name, value] : more) {
        set_attribute(self.state, self.node(), name, value);
    }
}

nb::object equal_attributes(const PyAttributes& self, nb::handle other) {
    if (!PyMapping_Check(other.ptr()) || !nb::hasattr(other, "keys")) {
        return nb::borrow(Py_NotImplemented);
    }
    return nb::bool_(as_dict(self).equal(dict_from_python(other)));
}

void bind_attributes(nb::module_& m) {
    nb::class_<AttributeReference>(
        m, "AttributeReference",
        "An attribute of a node in a function that is the function's parameter `name`.")
        .def(
            "__init__",
            [](AttributeReference* self, const nb::str& name, const nb::str& type) {
                new (self) AttributeReference{text_from_python(name), text_from_python(type)};
            },
            nb::arg("name"), nb::arg("type"))
        .def_prop_ro("name", [](const AttributeReference& self) { return self.name; })
        .def_prop_ro("type", [](const AttributeReference& self) { return self.type; })
        .def("__eq__",
             [](const AttributeReference& self, nb::handle other) {
                 if (!nb::isinstance<AttributeReference>(other)) {
                     return false;
                 }
                 const auto& one = *nb::inst_ptr<AttributeReference>(other);
                 return self.name == one.name && self.type == one.type;
             })
        .def("__hash__",
             [](const AttributeReference& self) {
                 return nb::hash(nb::make_tuple(self.name, self.type));
             })
        .def("__reduce__",
             [](nb::handle self) {
                 const auto& one = *nb::inst_ptr<AttributeReference>(self);
                 return nb::make_tuple(self.type(), nb::make_tuple(one.name, one.type));
             })
        .def("__repr__", [](const AttributeReference& self) {
            return "AttributeReference(" + text_from_python(nb::repr(text_to_python(self.name))) +
                   ", '" + self.type + "')";
        });
    nb::class_<PyAttributes>(m, "Attributes", "The attributes of a node, by name.")
        .def("__getitem__", get_item, nb::arg("name"))
        .def(
            "__setitem__",
            [](const PyAttributes& self, nb::str name, nb::handle value) {
                set_attribute(self.state, self.node(), name, value);
            },
            nb::arg("name"), nb::arg("value"))
        .def("__delitem__", delete_item, nb::arg("name"))
        .def("__contains__",
             [](const PyAttributes& self, nb::handle name) { return find(self, name) != nullptr; })
        .def("__len__", [](const PyAttributes& self) { return self.node().attributes.size(); })
        .def("__iter__", [](const PyAttributes& self) { return nb::iter(keys(self)); })
        .def("keys", keys)
        .def("values", [](const PyAttributes& self) { return nb::list(as_dict(self).values()); })
        .def("items", [](const PyAttributes& self) { return nb::list(as_dict(self).items()); })
        .def(
            "get",
            [](const PyAttributes& self, nb::handle name, nb::object other) {
                const ir::Attribute* found = find(self, name);
                return found != nullptr ? attribute_of_state(self.state, *found) : other;
            },
            nb::arg("name"), nb::arg("default") = nb::none())
        .def("pop", pop, nb::arg("name"), nb::arg("default"))
        .def("popitem", pop_last)
        .def("clear", clear_attributes)
        .def("setdefault", set_default, nb::arg("name"), nb::arg("default"))
        .def("update", update, nb::arg("entries") = nb::tuple(), nb::arg("kwargs"))
        .def("__ior__",
             [](nb::object self, nb::handle entries) {
                 update(*nb::inst_ptr<PyAttributes>(self), entries, nb::kwargs());
                 return self;
             })
        .def("__eq__", [](const PyAttributes& self,
                          nb::handle other) { return equal_attributes(self, other); })
        .def("__repr__", [](const PyAttributes& self) { return nb::repr(as_dict(self)); });
    m.attr("Attributes").attr("__hash__") = nb::none();  // as those of any mapping that changes
    nb::module_::import_("_collections_abc")
        .attr("MutableMapping")
        .attr("register")(m.attr("Attributes"));
}

nb::object subgraphs(const PyNode& self) {
    nb::dict graphs;
    for (const ir::Attribute& attribute : self.get().attributes) {
        if (attribute.get<ir::Graph*>() != nullptr ||
            attribute.get<std::vector<ir::Graph*>>() != nullptr) {
            graphs[text_to_python(attribute.name)] = attribute_of_state(self.state, attribute);
        }
    }
    return graphs;
}

nb::object inputs(const PyNode& self) {
    return self.answer(0, [&](const ir::Node& node) {
        return tuple_of_parts(node.input_count(), [&](PyObject* values) {
            for (size_t i = 0; i < node.input_count(); ++i) {
                PyTuple_SetItem(values, static_cast<Py_ssize_t>(i),
                                part_to_python(self.state, node.input(i)).release().ptr());
            }
        });
    });
}

nb::object outputs(const PyNode& self) {
    return self.answer(1, [&](const ir::Node& node) {
        return tuple_of_parts(node.output_count(), [&](PyObject* values) {
            for (size_t i = 0; i < node.output_count(); ++i) {
                PyTuple_SetItem(values, static_cast<Py_ssize_t>(i),
                                part_to_python(self.state, node.output(i)).release().ptr());
            }
        });
    });
}

void set_inputs(const PyNode& self, nb::handle values) {
    std::vector<ir::Value*> inputs = values_or_nones_from_arguments(*self.state, values);
    edited(editor_of(*self.state).set_inputs(self.get(), inputs));
}

void set_input(const PyNode& self, nb::handle at, nb::handle value) {
    int64_t index = int_from_python(at);
    ir::Node& node = self.get();
    index += index < 0 ? static_cast<int64_t>(node.input_count()) : 0;
    if (index < 0 || index >= static_cast<int64_t>(node.input_count())) {
        raise(PyExc_IndexError, "node `" + std::string(node.op_type) + "` has " +
                                    std::to_string(node.input_count()) + " inputs");
    }
    edited(editor_of(*self.state)
               .set_input(node, static_cast<size_t>(index),
                          value_or_none_from_argument(*self.state, value)));
}

std::string name_of(const ir::Value* value) {
    return value == nullptr || value->name.empty() ? "_" : std::string(value->name);
}

nb::object node_repr(const PyNode& self) {
    const ir::Node& node = *self.part;
    std::string text = "<Node ";
    text += node.name.empty() ? "" : text_from_python(nb::repr(text_to_python(node.name))) + " ";
    for (size_t i = 0; i < node.output_count(); ++i) {
        text += (i > 0 ? ", " : "") + name_of(node.output(i));
    }
    text += node.output_count() > 0 ? " = " : "";
    text += node.domain.empty() ? "" : std::string(node.domain) + ".";
    text += std::string(node.op_type) + "(";
    for (size_t i = 0; i < node.input_count(); ++i) {
        text += (i > 0 ? ", " : "") + name_of(node.input(i));
    }
    return text_to_python(text + (node.graph() != nullptr ? ")>" : "), removed>"));
}

void set_operator(const PyNode& self, nb::handle domain, nb::handle op_type, nb::handle overload) {
    std::string words[] = {string_from_python(domain), string_from_python(op_type),
                           string_from_python(overload)};
    edited(editor_of(*self.state)
               .set_operator(self.get(), normal_domain(words[0]), words[1], words[2]));
}

nb::object op_type(const PyNode& self) {
    return self.answer(2, [&](const ir::Node& node) { return self.state->text(node.op_type); });
}

nb::object domain(const PyNode& self) {
    return self.state->text(self.get().domain);
}

nb::object overload(const PyNode& self) {
    return self.state->text(self.get().overload);
}

nb::object node_name(const PyNode& self) {
    return self.answer(3, [](const ir::Node& node) { return text_to_python(node.name); });
}

nb::object graph_of_node(const PyNode& self) {
    return part_to_python(self.state, self.get().graph());
}

void set_op_type(const PyNode& self, nb::handle given) {
    set_operator(self, domain(self), given, overload(self));
}

void set_domain(const PyNode& self, nb::handle given) {
    set_operator(self, given, op_type(self), overload(self));
}

void set_overload(const PyNode& self, nb::handle given) {
    set_operator(self, domain(self), op_type(self), given);
}

void set_node_name(const PyNode& self, nb::handle given) {
    std::string text = string_from_python(given);
    editor_of(*self.state);
    self.get().name = self.state->model->intern(text);
}

PyGetSetDef kNodeAttributes[] = {
    {"op_type", slot_get<PyNode, op_type>, slot_set<PyNode, set_op_type>,
     "The name of its operator or function, such as `Relu`.", nullptr},
    {"domain", slot_get<PyNode, domain>, slot_set<PyNode, set_domain>,
     "The domain of its operator or function; empty for ai.onnx.", nullptr},
    {"overload", slot_get<PyNode, overload>, slot_set<PyNode, set_overload>,
     "Which of the functions of this name it calls; empty for most.", nullptr},
    {"name", slot_get<PyNode, node_name>, slot_set<PyNode, set_node_name>,
     "A string; empty where it has none.", nullptr},
    {"graph", slot_get<PyNode, graph_of_node>, nullptr, "The Graph that it stands in.", nullptr},
    {"inputs", slot_get<PyNode, inputs>, slot_set<PyNode, set_inputs>,
     "A tuple of Values, and of None for omitted inputs.", nullptr},
    {"outputs", slot_get<PyNode, outputs>, nullptr, "A tuple of Values.", nullptr},
    {}};
PyType_Slot kNodeSlots[] = {{Py_tp_getset, kNodeAttributes}, {}};

}  // namespace

ir::Attribute implied_attribute(const std::string& name, nb::handle value) {
    if (nb::isinstance<PyGraph>(value)) {
        return ir::make_attribute(name, nb::inst_ptr<PyGraph>(value)->part);  // to be refused
    }
    if (PyIndex_Check(value.ptr()) && !is_ndarray(value) && as_tensor(value) == nullptr) {
        return ir::make_attribute(name, int_from_python(value));
    }
    if (PyFloat_Check(value.ptr())) {
        return ir::make_attribute(name, static_cast<float>(float_from_python(value)));
    }
    if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) {
        return ir::make_attribute(name, text_from_python(value));
    }
    if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
        return ir::make_attribute(name, implied_list(name, value));
    }
    if (as_tensor(value) != nullptr || is_array(value) || is_tensor_proto(value)) {
        return ir::make_attribute(name, own_tensor_from_python(value));
    }
    if (Type type = type_from_python(value); type.is_known()) {
        return ir::make_attribute(name, std::move(type));
    }
    refuse_value(name, value);
}

// As sparse_to_python() gives it, or a SparseTensorProto.
ir::SparseTensor sparse_from_python(const std::string& name, nb::handle value) {
    bool is_proto = !PyTuple_Check(value.ptr()) && nb::hasattr(value, "values") &&
                    nb::hasattr(value, "indices") && nb::hasattr(value, "dims");
    if (!is_proto && (!PyTuple_Check(value.ptr()) || nb::len(value) != 3)) {
        raise(PyExc_TypeError, "attribute `" + name + "` is a sparse tensor, and cannot be `" +
                                   text_from_python(nb::repr(value)) +
                                   "`: give (values, indices, dims) or a SparseTensorProto");
    }
    auto part = [&](int i, const char* member) -> nb::object {
        return is_proto ? nb::object(value.attr(member)) : nb::object(value[i]);
    };
    return {own_tensor_from_python(part(0, "values")), own_tensor_from_python(part(1, "indices")),
            items_of<int64_t>(part(2, "dims"), int_from_python)};
}

ir::Attribute attribute_for(const ir::Model& model, std::string_view domain,
                            std::string_view op_type, const std::string& name, nb::handle value) {
    if (nb::isinstance<AttributeReference>(value)) {
        return reference_to(name, *nb::inst_ptr<AttributeReference>(value));
    }
    const ops::Schema* schema = ops::find_schema(domain, op_type, model.opset_version(domain));
    if (schema == nullptr || nb::isinstance<PyGraph>(value)) {
        return implied_attribute(name, value);
    }
    const ops::AttributeSchema* row = schema->find_attribute(name);
    if (row == nullptr) {
        raise(model_error(), calls::unknown_keyword(*schema, name).text());
    }
    if (row->type == ir::AttributeType::kSparseTensor) {
        return ir::make_attribute(name, sparse_from_python(name, value));
    }
    ir::Attribute attribute = attribute_from_python(*row, value);
    if (attribute.get<Tensor>() != nullptr) {
        attribute.value = own_tensor_from_python(value);
    }
    return attribute;
}

ir::Node& PyAttributes::node() const {
    if (state->editor != nullptr) {  // else nothing has been removed
        edited(state->editor->check_alive(*part));
    }
    return *part;
}

void bind_node(nb::module_& m) {
    bind_attributes(m);
    nb::class_<PyNode> c(m, "Node", nb::type_slots(kNodeSlots),
                         "An operator with its inputs, outputs and attributes in a graph.");
    bind_notes(c);
    c.def("set_input", set_input, nb::arg("index"), nb::arg("value").none())
        .def_prop_ro("attributes",
                     [](const PyNode& self) {
                         return PyAttributes{self.state, &self.get()};
                     })
        .def_prop_ro("subgraphs", subgraphs, "The attributes that are graphs, by name.")
        .def(
            "add_subgraph",
            [](const PyNode& self, const nb::str& attribute, const nb::str& name) {
                std::string key = text_from_python(attribute), given = text_from_python(name);
                ir::Graph* made =
                    edited(editor_of(*self.state)
                               .add_subgraph(self.get(), key, given.empty() ? key : given));
                return part_to_python(self.state, made);
            },
            nb::arg("attribute"), nb::arg("name") = "",
            "A new graph without nodes, as an attribute of the node.")
        .def("__repr__", node_repr);
}

}  // namespace sardonyx::python
