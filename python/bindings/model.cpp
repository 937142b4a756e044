#include "bindings/model.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <span>

#include "bindings/interrupt.h"
#include "bindings/numpy.h"
#include "bindings/picture.h"
#include "bindings/tensor.h"
#include "driver/decompile.h"
#include "infer/model_check.h"
#include "proto/proto.h"

namespace sardonyx::python {

namespace {

using ModelPointer = std::shared_ptr<const ir::Model>;

// The model that was read, if each node names something: what no run can mend is said at once.
ModelPointer checked(Result<std::unique_ptr<ir::Model>> read) {
    std::unique_ptr<ir::Model> model = unwrap(std::move(read));
    if (std::string problem = infer::first_hopeless_node(*model); !problem.empty()) {
        return unwrap(Result<ModelPointer>(Error{std::move(problem)}));
    }
    return model;
}

// `source` is a path, the bytes of a ModelProto, or a ModelProto.
PyModel load(nb::handle source) {
    nb::object given = nb::borrow(source);
    if (nb::hasattr(given, "SerializeToString")) {
        given = given.attr("SerializeToString")();
    }
    if (!PyBytes_Check(given.ptr())) {
        nb::object path = nb::steal(PyOS_FSPath(given.ptr()));
        if (!path.is_valid()) {
            throw nb::python_error();
        }
        FileStamps files;
        auto read = proto::read_model_file(text_from_python(path), &files);
        if (!read.ok()) {
            check_readable(text_from_python(path));
        }
        ModelPointer model = checked(std::move(read));
        return {std::move(model), std::move(files), nullptr};
    }
    auto bytes = std::make_shared<std::string>(text_from_python(given));
    std::span<const std::byte> view(reinterpret_cast<const std::byte*>(bytes->data()),
                                    bytes->size());
    return {checked(proto::read_model(view, bytes)), {}, nullptr};
}

void check_files(const PyModel& self) {
    Result<void> unchanged = check_unchanged(self.files);
    if (!unchanged.ok()) {
        raise(unchanged.error());
    }
}

const ir::Graph& main_graph(const PyModel& self) {
    if (self.model->graph == nullptr) {
        raise(eval_error(), "a file with functions alone has no graph to run");
    }
    return *self.model->graph;
}

nb::list values_to_python(const std::vector<ir::Value*>& values) {
    nb::list rows;
    for (const ir::Value* value : values) {
        rows.append(
            nb::make_tuple(text_to_python(value->name), text_to_python(value->type.to_string())));
    }
    return rows;
}

nb::list run(PyModel& self, const nb::dict& inputs, eval::RunOptions options,
             nb::handle timeout = nb::none(), nb::handle cancel = nb::none()) {
    RunInterrupt interrupt;
    interrupt.set_limits(timeout, cancel);
    options.interrupt = interrupt.get();
    const ir::Graph& graph = main_graph(self);
    MappedReading reading(self.files);
    check_files(self);
    if (self.plan == nullptr) {
        self.plan = unwrap(eval::prepare(*self.model));
    }
    std::vector<std::string> names;
    std::vector<eval::RuntimeValue> values;
    bool has_tensor = false;
    for (auto [name, value] : inputs) {
        names.push_back(text_from_python(nb::str(name)));
        auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&](const ir::Value* one) { return one->name == names.back(); });
        bool is_literal_input = input != graph.inputs.end() && is_literal(value) &&
                                (*input)->type.kind() != TypeKind::kSequence;
        values.push_back(is_literal_input
                             ? tensor_from_literal(value, (*input)->type.element_type())
                             : value_from_python(value));
        has_tensor = has_tensor || holds_tensor(value);
    }
    std::vector<std::pair<std::string_view, eval::RuntimeValue>> arguments;
    for (size_t i = 0; i < names.size(); ++i) {
        arguments.emplace_back(names[i], std::move(values[i]));
    }
    auto evaluated = [&] {
        nb::gil_scoped_release release;
        return eval::run(*self.plan, arguments, options);
    }();
    if (!evaluated.ok() && !interrupt.get()->is_stopped()) {
        check_files(self);
    }
    nb::list results;
    for (eval::RuntimeValue& result : unwrap(interrupt, std::move(evaluated))) {
        results.append(value_to_python(std::move(result), !has_tensor));
    }
    check_files(self);
    return results;
}

// model(x, y) or model(x=..., y=...): one result is given itself, several as a tuple.
nb::object call(PyModel& self, const nb::args& positional, const nb::kwargs& named) {
    const ir::Graph& graph = main_graph(self);
    if (positional.size() > graph.inputs.size()) {
        throw nb::type_error((std::to_string(positional.size()) + " arguments for " +
                              std::to_string(graph.inputs.size()) + " inputs")
                                 .c_str());
    }
    nb::dict inputs;
    for (size_t i = 0; i < positional.size(); ++i) {
        inputs[text_to_python(graph.inputs[i]->name)] = positional[i];
    }
    for (auto [name, value] : named) {
        if (inputs.contains(name)) {
            throw nb::type_error(("input `" + text_from_python(name) + "` is given twice").c_str());
        }
        inputs[name] = value;
    }
    nb::list results = run(self, inputs, {});
    return results.size() == 1 ? nb::object(results[0]) : nb::tuple(results);
}

nb::bytes to_bytes(const PyModel& self) {
    MappedReading reading(self.files);
    check_files(self);
    std::string bytes = unwrap(proto::write_model(*self.model));
    check_files(self);
    return nb::bytes(bytes.data(), bytes.size());
}

// The text of a model's script. Large weights go to the file `weights`, which the text names as it
// is given here; without it they are taken from the model's own `path`, or are literals.
nb::str decompile_model(const PyModel& self, const std::string& path, const std::string& weights) {
    decompile::Options options;
    options.weights = !weights.empty() ? decompile::Weights::kFile
                      : !path.empty()  ? decompile::Weights::kReference
                                       : decompile::Weights::kLiterals;
    options.weights_path = !weights.empty() ? weights : path;
    options.source = path.substr(path.rfind('/') + 1);
    MappedReading reading(self.files);
    check_files(self);
    Result<decompile::Script> script = [&] {
        nb::gil_scoped_release release;
        Result<decompile::Script> made = driver::decompile_model(*self.model, options);
        if (made.ok() && !weights.empty()) {
            if (Result<void> done = driver::write_script(*made, {}, weights); !done.ok()) {
                return Result<decompile::Script>(done.error());
            }
        }
        return made;
    }();
    check_files(self);
    return nb::str(unwrap(std::move(script)).text.c_str());
}

}  // namespace

void bind_model(nb::module_& m) {
    m.def("decompile_model", decompile_model, nb::arg("model"), nb::arg("path"),
          nb::arg("weights"));
    nb::class_<PyModel>(m, "Model", "A model, loaded from a path, bytes or a ModelProto.")
        .def(
            "__init__", [](PyModel* self, nb::handle source) { new (self) PyModel(load(source)); },
            nb::arg("source"))
        .def_prop_ro("inputs",
                     [](const PyModel& self) { return values_to_python(main_graph(self).inputs); })
        .def_prop_ro("outputs",
                     [](const PyModel& self) { return values_to_python(main_graph(self).outputs); })
        .def(
            "run",
            [](PyModel& self, const nb::dict& inputs, int threads, uint64_t seed,
               std::optional<int64_t> max_steps, nb::object timeout, nb::object cancel) {
                eval::RunOptions options;
                options.threads = std::max(0, threads);
                options.seed = seed;
                options.max_steps = max_steps.value_or(options.max_steps);
                return run(self, inputs, options, timeout, cancel);
            },
            nb::arg("inputs"), nb::kw_only(), nb::arg("threads") = 0, nb::arg("seed") = 0,
            nb::arg("max_steps") = nb::none(), nb::arg("timeout") = nb::none(),
            nb::arg("cancel") = nb::none(),
            "Runs it on {name: array}; gives the list of its outputs. The results do not depend on "
            "`threads` (0: the cores); `seed` is for random operators, and beyond `max_steps` "
            "nodes and iterations the run ends with an error. A run of more than `timeout` seconds "
            "ends with TimeoutError, one whose CancelToken `cancel` is cancelled with "
            "CancelledError, and one during which Ctrl-C is pressed with KeyboardInterrupt; the "
            "model can run again.")
        .def("__call__", call,
             "Runs it on its inputs in order or by name; gives its output, several as a tuple.")
        .def("_repr_svg_",
             [](const PyModel& self) {
                 MappedReading reading(self.files);
                 check_files(self);
                 nb::object shown = picture(*self.model);
                 check_files(self);
                 return shown;
             })
        .def("to_bytes", to_bytes, "The bytes of a ModelProto.")
        // As bytes: weights in files of their own come along.
        .def("__reduce__",
             [](nb::handle self) {
                 return nb::make_tuple(self.type(),
                                       nb::make_tuple(to_bytes(*nb::inst_ptr<PyModel>(self))));
             })
        // Nothing changes a model.
        .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
        .def(
            "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); },
            nb::arg("memo"))
        .def("__str__", [](const PyModel& self) { return text_to_python(ir::dump(*self.model)); });
}

}  // namespace sardonyx::python
