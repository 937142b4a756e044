// The Python classes Graph, Nodes and Function.
#include <list>

#include "bindings/call.h"
#include "bindings/interrupt.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "ir/graph_walk.h"
#include "ir/walk.h"
#include "types/domain.h"

namespace sardonyx::python {

namespace {

using State = std::shared_ptr<ModelState>;

// graph.nodes: a live view, which reads the graph at each access.
struct PyNodes {
    std::shared_ptr<ModelState> state;
    ir::Graph* graph;
    std::shared_ptr<Keeper> keeper;
};

struct NodesIterator {
    std::shared_ptr<ModelState> state;
    ir::NodeCursor cursor;
    std::shared_ptr<Keeper> keeper;
};

template <typename T>
nb::tuple parts(const State& state, const std::vector<T*>& all) {
    nb::list list;
    for (T* one : all) {
        list.append(part_to_python(state, one));
    }
    return nb::tuple(list);
}

nb::list node_list(const State& state, const ir::Graph& graph) {
    nb::list list;
    for (ir::Node& node : graph) {
        list.append(part_to_python(state, &node));
    }
    return list;
}

nb::object get_node(const PyNodes& self, nb::handle index) {
    if (PySlice_Check(index.ptr())) {
        nb::object nodes = node_list(self.state, *self.graph);
        return nb::object(nodes[index]);
    }
    int64_t at = int_from_python(index), size = static_cast<int64_t>(ir::node_count(*self.graph));
    at += at < 0 ? size : 0;
    if (at < 0 || at >= size) {
        raise(PyExc_IndexError, "graph `" + std::string(self.graph->name) + "` has " +
                                    std::to_string(size) + " nodes");
    }
    return part_to_python(self.state, &ir::node_at(*self.graph, static_cast<size_t>(at)));
}

// --- Edits ---------------------------------------------------------------------------------------

ir::Node* node_from_argument(const ModelState& state, nb::handle object) {
    if (!nb::isinstance<PyNode>(object)) {
        raise(PyExc_TypeError, "`" + text_from_python(nb::repr(object)) + "` is not a Node");
    }
    const PyNode& node = *nb::inst_ptr<PyNode>(object);
    if (node.state.get() != &state) {
        raise(model_error(), text_from_python(nb::repr(object)) + " is of another model");
    }
    return &node.get();
}

// What goes into a graph: a node of it, which moves, or an operator with its arguments.
struct Insertion {
    nb::object operator_or_node;
    nb::object inputs;
    nb::object attributes;
    nb::object outputs;
    std::string name;
    std::string domain;
    std::string overload;
};

nb::object insert(const PyGraph& self, ir::Node* position, const Insertion& wanted) {
    ir::Graph& graph = self.get();
    if (nb::isinstance<PyNode>(wanted.operator_or_node)) {
        ir::Node* node = node_from_argument(*self.state, wanted.operator_or_node);
        edited(ir::Editor::check_in(graph, *node));
        edited(editor_of(*self.state).move(*node, position));
        return wanted.operator_or_node;
    }
    if (!PyUnicode_Check(wanted.operator_or_node.ptr())) {
        raise(PyExc_TypeError,
              "what is put into a graph is the name of an operator, or a node "
              "of the graph, which moves");
    }
    std::string op_type = text_from_python(wanted.operator_or_node);
    std::vector<ir::Value*> inputs = values_or_nones_from_arguments(*self.state, wanted.inputs);
    ir::Editor::NewNode request;
    std::string_view domain = normal_domain(wanted.domain);
    request.domain = domain;
    request.op_type = op_type;
    request.overload = wanted.overload;
    request.name = wanted.name;
    request.inputs = inputs;
    request.outputs = output_names(wanted.outputs);
    std::list<std::string> attribute_names;
    if (!wanted.attributes.is_none()) {
        for (auto [name, value] : dict_from_python(wanted.attributes)) {
            attribute_names.push_back(string_from_python(name));
            request.attributes.push_back(
                attribute_for(*self.state->model, domain, op_type, attribute_names.back(), value));
        }
    }
    // Last, because iterables may run Python code that asks for uses.
    ir::Node* node = edited(editor_of(*self.state).insert(graph, position, request));
    return part_to_python(self.state, node);
}

template <typename Position>
auto inserter(Position position) {
    return [position](const PyGraph& self, nb::handle where, nb::object what, nb::object inputs,
                      nb::object attributes, nb::object outputs, const std::string& name,
                      const std::string& domain, const std::string& overload) {
        ir::Node* node = node_from_argument(*self.state, where);
        edited(ir::Editor::check_in(self.get(), *node));
        return insert(self, position(node),
                      {what, inputs, attributes, outputs, name, domain, overload});
    };
}

// A node, a value, or an iterable of nodes, which may read each other.
void remove(const PyGraph& self, nb::handle what) {
    if (nb::isinstance<PyValue>(what)) {
        ir::Value* value = value_from_argument(*self.state, what);
        edited(editor_of(*self.state).remove(*value));
        return;
    }
    std::vector<ir::Node*> nodes;
    if (nb::isinstance<PyNode>(what)) {
        nodes.push_back(node_from_argument(*self.state, what));
    } else if (nb::hasattr(what, "__iter__") && !PyUnicode_Check(what.ptr())) {
        for (nb::handle one : nb::borrow<nb::object>(what)) {
            nodes.push_back(node_from_argument(*self.state, one));
        }
    } else {
        raise(PyExc_TypeError, "`" + text_from_python(nb::repr(what)) + "` is not a Node or Value");
    }
    for (const ir::Node* node : nodes) {
        edited(ir::Editor::check_in(self.get(), *node));
    }
    edited(editor_of(*self.state).remove(nodes));
}

nb::object add_input(const PyGraph& self, const nb::str& name, nb::handle type) {
    Type given = stated_type(type);
    return part_to_python(
        self.state, edited(editor_of(*self.state)
                               .add_input(self.get(), text_from_python(name), std::move(given))));
}

nb::object add_initializer(const PyGraph& self, const nb::str& name, nb::handle value) {
    Tensor tensor = own_tensor_from_python(value);
    return part_to_python(
        self.state,
        edited(editor_of(*self.state)
                   .add_initializer(self.get(), text_from_python(name), std::move(tensor))));
}

nb::object find_value(const PyGraph& self, const nb::str& name) {
    ir::Value* found = ir::find_own_value(self.get(), text_from_python(name));
    if (found == nullptr) {
        PyErr_SetObject(PyExc_KeyError, name.ptr());
        throw nb::python_error();
    }
    return part_to_python(self.state, found);
}

nb::list values(const PyGraph& self) {
    nb::list list;
    ir::for_each_own_value(
        self.get(), [&](ir::Value* value) { list.append(part_to_python(self.state, value)); });
    return list;
}

nb::list walk(const PyGraph& self) {
    nb::list nodes;
    ir::for_each_node(self.get(),
                      [&](ir::Node& node) { nodes.append(part_to_python(self.state, &node)); });
    return nodes;
}

nb::object graph_repr(const PyGraph& self) {
    const ir::Graph& graph = *self.part;
    bool is_gone = is_removed(*self.state, graph);
    std::string text = "<Graph " + text_from_python(nb::repr(text_to_python(graph.name)));
    text += is_gone ? ", removed>"
                    : ": " + std::to_string(graph.inputs.size()) + " inputs, " +
                          std::to_string(graph.outputs.size()) + " outputs, " +
                          std::to_string(ir::node_count(graph)) + " nodes>";
    return text_to_python(text);
}

PyObject* iterator_itself(PyObject* self) {
    return nb::borrow(self).release().ptr();
}

// Returns null without an error at the end.
PyObject* next_node(PyObject* self) noexcept {
    auto& iterator = *nb::inst_ptr<NodesIterator>(self);
    ir::Node* node = iterator.cursor.advance();
    return node == nullptr ? nullptr
                           : guarded([&] { return part_to_python(iterator.state, node); });
}

PyType_Slot kIteratorSlots[] = {
    {Py_tp_iter, reinterpret_cast<void*>(iterator_itself)},
    {Py_tp_iternext, reinterpret_cast<void*>(next_node)},
    {},
};

void bind_nodes(nb::module_& m) {
    nb::class_<NodesIterator>(m, "NodesIterator", nb::type_slots(kIteratorSlots));
    nb::class_<PyNodes>(m, "Nodes", "The nodes of a graph, in execution order.")
        .def("__len__", [](const PyNodes& self) { return ir::node_count(*self.graph); })
        .def("__getitem__", get_node, nb::arg("index"))
        .def("__iter__",
             [](const PyNodes& self) {
                 return NodesIterator{self.state, ir::NodeCursor(*self.graph), self.keeper};
             })
        .def("__reversed__",
             [](const PyNodes& self) {
                 nb::list nodes = node_list(self.state, *self.graph);
                 nodes.reverse();
                 return nb::iter(nodes);
             })
        .def("__contains__",
             [](const PyNodes& self, nb::handle node) {
                 return nb::isinstance<PyNode>(node) &&
                        nb::inst_ptr<PyNode>(node)->part->graph() == self.graph;
             })
        .def("__repr__",
             [](const PyNodes& self) { return nb::repr(node_list(self.state, *self.graph)); });
}

nb::object text_property(std::string_view text) {
    return text_to_python(text);
}

void bind_edits(nb::class_<PyGraph>& c) {
    auto before = [](ir::Node* node) { return node; };
    auto after = [](ir::Node* node) { return node->next(); };
    c.def("insert_before", inserter(before), nb::arg("position"), nb::arg("operator"),
          nb::arg("inputs") = nb::tuple(), nb::arg("attributes") = nb::none(), nb::kw_only(),
          nb::arg("outputs") = 1, nb::arg("name") = "", nb::arg("domain") = "",
          nb::arg("overload") = "",
          "Inserts a new node, or moves a node of the graph, before `position`.")
        .def("insert_after", inserter(after), nb::arg("position"), nb::arg("operator"),
             nb::arg("inputs") = nb::tuple(), nb::arg("attributes") = nb::none(), nb::kw_only(),
             nb::arg("outputs") = 1, nb::arg("name") = "", nb::arg("domain") = "",
             nb::arg("overload") = "",
             "Inserts a new node, or moves a node of the graph, after `position`.")
        .def(
            "append",
            [](const PyGraph& self, nb::object what, nb::object inputs, nb::object attributes,
               nb::object outputs, const std::string& name, const std::string& domain,
               const std::string& overload) {
                return insert(self, nullptr,
                              {what, inputs, attributes, outputs, name, domain, overload});
            },
            nb::arg("operator"), nb::arg("inputs") = nb::tuple(),
            nb::arg("attributes") = nb::none(), nb::kw_only(), nb::arg("outputs") = 1,
            nb::arg("name") = "", nb::arg("domain") = "", nb::arg("overload") = "",
            "Adds a new node, or moves a node of the graph, to the end.")
        .def("remove", remove, nb::arg("what"),
             "Removes a node, several nodes, or an input or initializer that is not used.")
        .def("add_input", add_input, nb::arg("name"), nb::arg("type").none() = nb::none())
        .def("add_initializer", add_initializer, nb::arg("name"), nb::arg("value"));
}

void bind_function(nb::module_& m) {
    nb::class_<PyFunction>(m, "Function", "A function of a model: nodes that a node calls.")
        .def_prop_ro("name", [](const PyFunction& self) { return text_property(self.get().name); })
        .def_prop_ro("domain",
                     [](const PyFunction& self) { return text_property(self.get().domain); })
        .def_prop_ro("overload",
                     [](const PyFunction& self) { return text_property(self.get().overload); })
        .def_prop_ro("doc", [](const PyFunction& self) { return text_property(self.get().doc); })
        .def_prop_ro(
            "body",
            [](const PyFunction& self) { return part_to_python(self.state, self.get().body); })
        .def_prop_ro(
            "attributes",
            [](const PyFunction& self) {
                nb::list names;
                for (std::string_view name : self.get().attributes) {
                    names.append(text_to_python(name));
                }
                for (const ir::Attribute& one : self.get().attribute_defaults) {
                    names.append(text_to_python(one.name));
                }
                return nb::tuple(names);
            },
            "The names of its attribute parameters.")
        .def_prop_ro(
            "opset_imports",
            [](const PyFunction& self) { return imports_to_python(self.get().opset_imports); })
        .def_prop_ro("metadata",
                     [](const PyFunction& self) { return metadata_to_python(self.get().metadata); })
        .def("__repr__", [](const PyFunction& self) {
            const ir::Function& one = *self.part;
            return "<Function " + (one.domain.empty() ? "" : std::string(one.domain) + "::") +
                   std::string(one.name) + ">";
        });
}

}  // namespace

std::vector<std::optional<std::string>> output_names(nb::handle outputs) {
    constexpr int64_t kMost = 1 << 16;
    if (PyIndex_Check(outputs.ptr())) {
        int64_t wanted = int_from_python(outputs);
        if (wanted < 0 || wanted > kMost) {
            raise(PyExc_ValueError, "a node cannot have " + std::to_string(wanted) + " outputs");
        }
        return std::vector<std::optional<std::string>>(static_cast<size_t>(wanted));
    }
    if (PyUnicode_Check(outputs.ptr())) {
        return {text_from_python(outputs)};
    }
    std::vector<std::optional<std::string>> names;
    for (nb::handle name : nb::borrow<nb::object>(outputs)) {
        if (name.is_none()) {
            names.emplace_back(std::nullopt);
        } else if (PyUnicode_Check(name.ptr())) {
            names.emplace_back(text_from_python(name));
        } else {
            raise(PyExc_TypeError, "`outputs` is a number, or a list of names");
        }
    }
    return names;
}

void bind_graph(nb::module_& m) {
    bind_nodes(m);
    nb::class_<PyGraph> c(m, "Graph", "Nodes with the values that go in and come out.");
    bind_notes(c);
    c.def_prop_rw(
         "name", [](const PyGraph& self) { return text_property(self.get().name); },
         [](const PyGraph& self, const nb::str& name) {
             editor_of(*self.state);
             self.get().name = self.state->model->intern(text_from_python(name));
         })
        .def_prop_ro("inputs",
                     [](const PyGraph& self) { return parts(self.state, self.get().inputs); })
        .def_prop_rw(
            "outputs", [](const PyGraph& self) { return parts(self.state, self.get().outputs); },
            [](const PyGraph& self, nb::handle given) {
                std::vector<ir::Value*> values = values_from_arguments(*self.state, given);
                edited(editor_of(*self.state).set_outputs(self.get(), values));
            })
        .def_prop_ro("initializers",
                     [](const PyGraph& self) { return parts(self.state, self.get().initializers); })
        .def_prop_ro("nodes",
                     [](const PyGraph& self) {
                         return PyNodes{self.state, &self.get(), self.keeper};
                     })
        .def_prop_ro("values", values,
                     "All values of the graph, in order, without those of subgraphs.")
        .def_prop_ro(
            "parent",
            [](const PyGraph& self) { return part_to_python(self.state, self.get().parent()); },
            "The graph that contains this subgraph, or None.")
        .def("__getitem__", find_value, nb::arg("name"), "The value with this name.")
        .def("__iter__",
             [](const PyGraph& self) {
                 return NodesIterator{self.state, ir::NodeCursor(self.get()), self.keeper};
             })
        .def("__len__", [](const PyGraph& self) { return ir::node_count(self.get()); })
        .def("__bool__", [](const PyGraph&) { return true; })
        .def("walk", walk, "The nodes of the graph and of all subgraphs.")
        .def("__str__",
             [](const PyGraph& self) {
                 settled(*self.state);
                 Reading going_on(*self.state);
                 return stoppable([&] { return text_to_python(ir::dump(self.get())); });
             })
        .def("__repr__", graph_repr);
    bind_edits(c);
    bind_function(m);
}

}  // namespace sardonyx::python
