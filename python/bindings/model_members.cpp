// What the objects of a model have in common, and the members of Model: graph, functions, edits.
#include <algorithm>

#include "bindings/interrupt.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "diagnostics/order.h"
#include "driver/check_model.h"
#include "ir/copy.h"
#include "ir/graph_walk.h"
#include "ir/own.h"
#include "models/versions.h"
#include "ops/schema_set.h"
#include "proto/proto.h"
#include "proto/same.h"
#include "types/domain.h"

namespace sardonyx::python {

namespace {

nb::list findings_to_python(std::vector<driver::ModelFinding> findings) {
    nb::object type = nb::module_::import_("sardonyx._model").attr("Finding");
    nb::list list;
    for (const driver::ModelFinding& finding : findings) {
        list.append(type(text_to_python(finding.kind->code),
                         text_to_python(diagnostics::severity_name(finding.kind->severity)),
                         text_to_python(finding.message), text_to_python(finding.help)));
    }
    return list;
}

nb::list infer(const PyModel& self) {
    editor_of(*self.state);
    ir::Model& model = settled(*self.state);
    Reading going_on(*self.state);
    return findings_to_python(stoppable([&] { return driver::infer_model(model, nullptr); }));
}

nb::list verify(const PyModel& self) {
    const ir::Model& model = settled(*self.state);
    Reading going_on(*self.state);
    return findings_to_python(stoppable([&] {
        std::unique_ptr<ir::Model> copied = ir::copy(model);
        return driver::check_model(*copied, nullptr);
    }));
}

bool same(const PyModel& a, const PyModel& b) {
    return unwrap(read_models(a, b, proto::is_same));
}

nb::object equal_models(const PyModel& self, nb::handle other) {
    if (!nb::isinstance<PyModel>(other)) {
        return nb::borrow(Py_NotImplemented);
    }
    const PyModel& model = *nb::inst_ptr<PyModel>(other);
    return nb::bool_(model.state == self.state || same(self, model));
}

PyModel copied(const PyModel& self) {
    Reading going_on(*self.state);
    return stoppable([&] {
        return make_model(ir::copy(*self.state->model), self.state->files, self.state->source);
    });
}

using Text = std::string_view ir::Model::*;

template <Text Field>
void bind_text(nb::class_<PyModel>& c, const char* name) {
    c.def_prop_rw(
        name, [](const PyModel& self) { return text_to_python((*self.state->model).*Field); },
        [](const PyModel& self, const nb::str& text) {
            editor_of(*self.state);
            (*self.state->model).*Field = self.state->model->intern(text_from_python(text));
        });
}

template <int64_t ir::Model::*Field>
void bind_number(nb::class_<PyModel>& c, const char* name) {
    c.def_prop_rw(
        name, [](const PyModel& self) { return (*self.state->model).*Field; },
        [](const PyModel& self, int64_t number) {
            editor_of(*self.state);
            (*self.state->model).*Field = number;
        });
}

void set_imports(const PyModel& self, nb::handle given) {
    ir::Editor& editor = editor_of(*self.state);
    std::vector<ir::OpsetImport> imports;
    for (auto [domain, version] : dict_from_python(given)) {
        imports.push_back({self.state->model->intern(normal_domain(text_from_python(domain))),
                           int_from_python(version)});
    }
    edited(models::set_opsets(*self.state->model, editor, imports));
}

}  // namespace

template <typename T>
T& Part<T>::get() const {
    if (state->editor != nullptr) {  // else nothing has been removed
        edited(state->editor->check_alive(*part));
    }
    return *part;
}
template struct Part<ir::Graph>;
template struct Part<ir::Node>;
template struct Part<ir::Value>;
template struct Part<ir::Function>;

nb::object ModelState::text(std::string_view interned) {
    Text& found = texts[interned.data()];
    if (!found.object.is_valid() || found.size != interned.size()) {
        found = {interned.size(), text_to_python(interned)};
    }
    return found.object;
}

ir::Editor& editor_of(ModelState& state) {
    if (state.readers > 0) {
        raise(PyExc_RuntimeError, "the model cannot be changed while it runs");
    }
    state.plan = nullptr;
    state.is_checked = false;
    ++state.edits;
    if (state.editor == nullptr) {
        state.editor = std::make_unique<ir::Editor>(*state.model);
    }
    return *state.editor;
}

ir::Model& settled(ModelState& state) {
    if (state.editor != nullptr && state.readers == 0) {
        state.editor->settle();
    }
    return *state.model;
}

ir::Value* value_from_argument(const ModelState& state, nb::handle object) {
    if (!nb::isinstance<PyValue>(object)) {
        std::string what = text_from_python(nb::repr(object));
        raise(PyExc_TypeError,
              "`" + what + "` is not a Value" +
                  (nb::isinstance<PyNode>(object) ? ": take one of its `outputs`" : ""));
    }
    const PyValue& value = *nb::inst_ptr<PyValue>(object);
    if (value.state.get() != &state) {
        raise(model_error(), "value `" + std::string(value.part->name) + "` is of another model");
    }
    return &value.get();
}

ir::Value* value_or_none_from_argument(const ModelState& state, nb::handle object) {
    return object.is_none() ? nullptr : value_from_argument(state, object);
}

namespace {

std::vector<ir::Value*> each_from_arguments(const ModelState& state, nb::handle objects,
                                            ir::Value* (*read)(const ModelState&, nb::handle)) {
    if (nb::isinstance<PyValue>(objects) || PyUnicode_Check(objects.ptr()) ||
        !nb::hasattr(objects, "__iter__")) {
        raise(PyExc_TypeError,
              "values come in a list, got `" + text_from_python(nb::repr(objects)) + "`");
    }
    std::vector<ir::Value*> values;
    for (nb::handle object : nb::borrow<nb::object>(objects)) {
        values.push_back(read(state, object));
    }
    return values;
}

}  // namespace

std::vector<ir::Value*> values_from_arguments(const ModelState& state, nb::handle objects) {
    return each_from_arguments(state, objects, value_from_argument);
}

std::vector<ir::Value*> values_or_nones_from_arguments(const ModelState& state,
                                                       nb::handle objects) {
    return each_from_arguments(state, objects, value_or_none_from_argument);
}

nb::object read_only(nb::dict items, const char* member) {
    return nb::module_::import_("sardonyx._entries").attr("Entries")(items, member);
}

nb::object metadata_to_python(const ir::Metadata& metadata) {
    nb::dict entries;
    for (const auto& [key, value] : metadata) {
        entries[text_to_python(key)] = text_to_python(value);
    }
    return read_only(entries, "metadata");
}

nb::object imports_to_python(const std::vector<ir::OpsetImport>& imports) {
    nb::dict versions;
    for (const ir::OpsetImport& import : imports) {
        versions[text_to_python(import.domain)] = import.version;
    }
    return read_only(versions, "opset_imports");
}

nb::dict dict_from_python(nb::handle entries) {
    nb::object type = nb::borrow(reinterpret_cast<PyObject*>(&PyDict_Type));
    return nb::borrow<nb::dict>(type(entries));
}

ir::Metadata metadata_from_python(ir::Model& model, nb::handle entries) {
    ir::Metadata metadata;
    for (auto [key, value] : dict_from_python(entries)) {
        if (!PyUnicode_Check(key.ptr()) || !PyUnicode_Check(value.ptr())) {
            raise(PyExc_TypeError, "metadata are strings by strings, got `" +
                                       text_from_python(nb::repr(nb::make_tuple(key, value))) +
                                       "`");
        }
        metadata.emplace_back(model.intern(text_from_python(key)),
                              model.intern(text_from_python(value)));
    }
    return metadata;
}

Tensor own_tensor_from_python(nb::handle object) {
    Tensor tensor = tensor_from_python(object);
    bool is_shared = as_tensor(object) == nullptr && !is_literal(object) &&
                     tensor.element_type() != ElementType::kString;
    if (is_ndarray(object)) {
        is_shared = nb::cast<bool>(object.attr("flags").attr("writeable"));
    }
    bool is_text = tensor.element_type() == ElementType::kString;
    return is_shared && !is_text ? ir::copy_of(tensor) : tensor;
}

void bind_model_members(nb::class_<PyModel>& c) {
    c.def_prop_ro(
         "graph",
         [](const PyModel& self) { return part_to_python(self.state, self.state->model->graph); })
        .def_prop_ro("functions",
                     [](const PyModel& self) {
                         nb::list functions;
                         for (ir::Function* function : self.state->model->functions) {
                             functions.append(part_to_python(self.state, function));
                         }
                         return nb::tuple(functions);
                     })
        .def(
            "remove_function",
            [](const PyModel& self, const PyFunction& function) {
                if (function.state != self.state) {
                    raise(model_error(), "the function is of another model");
                }
                edited(editor_of(*self.state).remove_function(function.get()));
            },
            nb::arg("function"))
        .def_prop_rw(
            "opset_imports",
            [](const PyModel& self) { return imports_to_python(self.state->model->opset_imports); },
            set_imports)
        .def_prop_rw(
            "metadata",
            [](const PyModel& self) { return metadata_to_python(self.state->model->metadata); },
            [](const PyModel& self, nb::handle entries) {
                editor_of(*self.state);
                self.state->model->metadata = metadata_from_python(*self.state->model, entries);
            })
        .def("infer", infer, "Infers the types of all values; returns a list of findings.")
        .def("verify", verify, "Checks the model; returns a list of findings.")
        .def("copy", copied, "Returns a copy of the model.")
        .def("__copy__", copied)
        .def(
            "__deepcopy__", [](const PyModel& self, nb::handle) { return copied(self); },
            nb::arg("memo"))
        .def("__eq__", equal_models)
        .def("__str__",
             [](const PyModel& self) {
                 // A model that cannot be written because it is being edited can still be shown.
                 const ir::Model& model = settled(*self.state);
                 Reading going_on(*self.state);
                 return stoppable([&] {
                     Result<std::string> text = proto::shown_text(model);
                     return text_to_python(text.ok() ? *text : ir::dump(model));
                 });
             })
        .def("__repr__", [](const PyModel& self) {
            const ir::Graph* graph = self.state->model->graph;
            size_t nodes = graph != nullptr ? ir::node_count(*graph) : 0;
            return "<Model " +
                   (graph != nullptr ? text_from_python(nb::repr(text_to_python(graph->name)))
                                     : "without a graph") +
                   ": " + std::to_string(nodes) + " nodes>";
        });
    c.attr("__hash__") = nb::none();  // models change
    bind_text<&ir::Model::producer_name>(c, "producer_name");
    bind_text<&ir::Model::producer_version>(c, "producer_version");
    bind_text<&ir::Model::domain>(c, "domain");
    bind_text<&ir::Model::doc>(c, "doc");
    c.def_prop_rw(
        "ir_version", [](const PyModel& self) { return self.state->model->ir_version; },
        [](const PyModel& self, int64_t version) {
            editor_of(*self.state);
            edited(models::set_ir_version(*self.state->model, version));
        });
    bind_number<&ir::Model::model_version>(c, "model_version");
}

}  // namespace sardonyx::python
