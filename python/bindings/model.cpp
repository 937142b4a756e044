#include "bindings/model.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <span>

#include "base/screenful.h"
#include "bindings/interrupt.h"
#include "bindings/numpy.h"
#include "bindings/tensor.h"
#include "driver/decompile.h"
#include "driver/model_files.h"
#include "driver/picture.h"
#include "driver/progress_bar.h"
#include "infer/model_check.h"
#include "proto/proto.h"

namespace sardonyx::python {

namespace {

// Raises ModelError if a node uses a name that does not exist, or is not a valid call of its
// operator.
void check_nodes(ModelState& state) {
    if (std::string problem = infer::first_hopeless_node(settled(state)); !problem.empty()) {
        raise(model_error(), problem);
    }
    state.is_checked = true;
}

// The model that was read. If it is to be run, errors that would make every run fail are raised
// now.
PyModel checked(Result<std::unique_ptr<ir::Model>> read, FileStamps files, proto::Source source,
                bool check) {
    if (!read.ok()) {
        raise(model_error(), screenful(read.error().message));
    }
    PyModel model = make_model(std::move(*read), std::move(files), std::move(source));
    model.state->is_checked = false;
    if (check) {
        check_nodes(*model.state);
    }
    return model;
}

// The bytes of a model that is neither given as a path nor as bytes: an object of another library,
// or an open file.
nb::object bytes_of(nb::object given) {
    if (nb::isinstance<PyModel>(given)) {
        return given.attr("to_bytes")();
    }
    std::string module = text_from_python(nb::str(given.type().attr("__module__")));
    if (module.rfind("onnx_ir", 0) == 0 && nb::hasattr(given, "graph")) {
        given = nb::module_::import_("onnx_ir").attr("to_proto")(given);
    }
    if (nb::hasattr(given, "SerializeToString")) {
        return given.attr("SerializeToString")();
    }
    if (nb::hasattr(given, "read")) {
        if (nb::isinstance(given, nb::module_::import_("io").attr("TextIOBase"))) {
            raise(PyExc_TypeError, "a file with a model is opened in binary mode, as with \"rb\"");
        }
        given = given.attr("read")();
    }
    bool is_buffer = PyByteArray_Check(given.ptr()) || PyMemoryView_Check(given.ptr());
    return is_buffer ? nb::steal(PyBytes_FromObject(given.ptr())) : given;
}

// `source` is a path, the bytes of a ModelProto, or what bytes_of() takes.
PyModel load(nb::handle source, bool check) {
    nb::object given = bytes_of(nb::borrow(source));
    if (!PyBytes_Check(given.ptr())) {
        nb::object path = nb::steal(PyOS_FSPath(given.ptr()));
        if (!path.is_valid()) {
            throw nb::python_error();
        }
        if (text_from_python(path).find('\0') != std::string::npos) {
            raise(PyExc_ValueError, "embedded null byte");  // as `open` says it
        }
        FileStamps files;
        proto::Source from;
        return stoppable([&] {
            auto read =
                proto::read_model_file(text_from_python(path), {.stamps = &files, .source = &from});
            if (!read.ok()) {
                check_readable(text_from_python(path));
            }
            return checked(std::move(read), std::move(files), std::move(from), check);
        });
    }
    auto bytes = std::make_shared<const std::string>(text_from_python(given));
    std::span<const std::byte> view = std::as_bytes(std::span(*bytes));
    return stoppable([&] {
        return checked(proto::read_model(view, bytes), {}, {bytes, view}, check);
    });
}

const ir::Graph& main_graph(const PyModel& self) {
    const ir::Graph* graph = self.state->model->graph;
    if (graph == nullptr) {
        raise(eval_error(), "a file with functions alone has no graph to run");
    }
    return *graph;
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
    ModelState& state = *self.state;
    MappedReading reading(state.files);
    check_files(state);
    const ir::Model& model = settled(state);
    Reading going_on(state);  // from here on: signals are handled, and inputs may be Python's, too
    if (state.plan == nullptr) {
        stoppable(interrupt, [&] {
            if (!state.is_checked) {
                check_nodes(state);
            }
            state.plan = unwrap(eval::prepare(model));
        });
    }
    std::vector<std::string> names;
    std::vector<eval::RuntimeValue> values;
    bool has_tensor = false;
    for (auto [name, value] : inputs) {
        names.push_back(text_from_python(nb::str(name)));
        auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&](const ir::Value* one) { return one->name == names.back(); });
        values.push_back(
            value_from_python(value, input != graph.inputs.end() ? (*input)->type : Type()));
        has_tensor = has_tensor || holds_tensor(value);
    }
    std::vector<std::pair<std::string_view, eval::RuntimeValue>> arguments;
    for (size_t i = 0; i < names.size(); ++i) {
        arguments.emplace_back(names[i], std::move(values[i]));
    }
    auto evaluated = [&] {
        nb::gil_scoped_release release;
        return eval::run(*state.plan, arguments, options);
    }();
    if (!evaluated.ok() && !interrupt.get()->is_stopped()) {
        check_files(state);
    }
    nb::list results;
    for (eval::RuntimeValue& result : unwrap(interrupt, std::move(evaluated))) {
        results.append(value_to_python(std::move(result), !has_tensor));
    }
    check_files(state);
    return results;
}

// model(x, y) or model(x=..., y=...): one result is given itself, several as a tuple.
nb::object call_model(PyModel& self, const nb::args& positional, const nb::kwargs& named) {
    const ir::Graph& graph = main_graph(self);
    if (positional.size() > graph.inputs.size()) {
        std::string names;
        for (const ir::Value* input : graph.inputs) {
            names += (names.empty() ? ": `" : ", `") + std::string(input->name) + "`";
        }
        raise(PyExc_TypeError, std::to_string(positional.size()) + " arguments for the " +
                                   std::to_string(graph.inputs.size()) +
                                   (graph.inputs.size() == 1 ? " input" : " inputs") +
                                   " of the model" + names);
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

// The weights are copied directly to the Python bytes object.
nb::object to_bytes(const PyModel& self) {
    MappedReading reading(self.state->files);
    proto::ModelParts written = read_model(*self.state, [&](const ir::Model& model) {
        return edited(proto::write_parts_as_read(model, self.state->source));
    });
    nb::object bytes =
        nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(written.size())));
    if (!bytes.is_valid()) {
        throw nb::python_error();
    }
    char* next = PyBytes_AsString(bytes.ptr());
    for (std::string_view part : written.parts()) {
        next = std::copy(part.begin(), part.end(), next);
    }
    check_files(*self.state);
    return bytes;
}

// Returns the number of bytes written.
size_t save(const PyModel& self, const std::string& path, std::optional<size_t> external_bytes,
            size_t file_bytes, size_t alignment, bool safetensors, bool share_equal, bool quiet) {
    return edited(read_model(*self.state, [&](const ir::Model& model) {
        nb::gil_scoped_release release;
        driver::SavingBar bar(quiet);
        return driver::write_model_files(
            model, path,
            {external_bytes, alignment, file_bytes, safetensors, share_equal, std::nullopt,
             self.state->source, self.state->files, bar.watch()});
    }));
}

// The text of a model's script. Large weights go to the file `weights`, which the text names as it
// is given here; without it they are taken from the model's own `path`, or are literals.
nb::str decompile_model(const PyModel& self, const std::string& path, const std::string& weights,
                        bool outline, bool exact) {
    decompile::Options options = driver::decompile_options(path, weights);
    driver::ScriptStyle style = outline ? driver::ScriptStyle::kOutlined
                                : exact ? driver::ScriptStyle::kExact
                                        : driver::ScriptStyle::kPlain;
    Result<decompile::Script> script = read_model(*self.state, [&](const ir::Model& model) {
        nb::gil_scoped_release release;
        Result<decompile::Script> made =
            driver::decompile_as(style, model, options, self.state->source);
        if (made.ok() && !weights.empty()) {
            if (Result<void> done = driver::write_script(*made, {}, weights); !done.ok()) {
                return Result<decompile::Script>(done.error());
            }
        }
        return made;
    });
    return nb::str(unwrap(std::move(script)).text.c_str());
}

}  // namespace

void check_files(const ModelState& state) {
    unwrap(check_unchanged(state.files));
}

PyModel make_model(std::unique_ptr<ir::Model> model, FileStamps files, proto::Source source) {
    auto state = std::make_shared<ModelState>(
        ModelState{std::move(model), std::move(files), nullptr, nullptr});
    state->source = std::move(source);
    auto keeper = std::make_shared<Keeper>(state);
    return {std::move(state), std::move(keeper)};
}

namespace {

// What belongs to a model cannot be copied or pickled without it. `copy`, `deepcopy` and `pickle`
// all ask `__reduce__`.
void refuse_copies_of_parts(nb::module_& m) {
    struct Row {
        const char* name;
        const char* described;
        const char* instead;
    };
    static constexpr const char* kModel =
        "copy the model with `model.copy()`, or pickle the model, and find the part in the result";
    static constexpr const char* kBuilder =
        "copy or pickle the model that `builder.model()` returns";
    static constexpr Row kRows[] = {
        {"Graph", "a Graph is a part of its model", kModel},
        {"Node", "a Node is a part of its model", kModel},
        {"Value", "a Value is a part of its model", kModel},
        {"Function", "a Function is a part of its model", kModel},
        {"Nodes", "the nodes are a part of their model",
         "`list(graph.nodes)` is a list of them, and `model.copy()` copies the model"},
        {"NodesIterator", "the nodes are a part of their model",
         "`list(graph.nodes)` is a list of them, and `model.copy()` copies the model"},
        {"Attributes", "the attributes are a part of their node",
         "`dict(node.attributes)` is a copy of them, and `model.copy()` copies the model"},
        {"GraphBuilder", "a Builder fills one graph", kBuilder},
        {"Block", "a block is a part of its Builder", kBuilder},
    };
    for (const Row& row : kRows) {
        nb::object type = m.attr(row.name);
        type.attr("__reduce__") = nb::cpp_function(
            [&row](nb::handle /*self*/) -> nb::object {
                raise(PyExc_TypeError, std::string(row.described) +
                                           " and cannot be copied or pickled: " + row.instead);
            },
            nb::is_method(), nb::scope(type), nb::name("__reduce__"));
    }
}

}  // namespace

void bind_model(nb::module_& m) {
    m.def("decompile_model", decompile_model, nb::arg("model"), nb::arg("path"), nb::arg("weights"),
          nb::arg("outline"), nb::arg("exact"));
    m.def("save_model", save, nb::arg("model"), nb::arg("path"), nb::arg("external_bytes").none(),
          nb::arg("file_bytes"), nb::arg("alignment"), nb::arg("safetensors"),
          nb::arg("share_equal"), nb::arg("quiet"));
    bind_model_types(m);
    bind_value(m);
    bind_node(m);
    bind_graph(m);
    nb::class_<PyModel> c(m, "Model", "A model, loaded from a path, bytes or a ModelProto.");
    c.def(
         "__init__",
         [](PyModel* self, nb::handle source, bool check) {
             new (self) PyModel(load(source, check));
         },
         nb::arg("source"), nb::kw_only(), nb::arg("check") = true)
        .def_prop_ro("inputs",
                     [](const PyModel& self) { return values_to_python(main_graph(self).inputs); })
        .def_prop_ro("outputs",
                     [](const PyModel& self) { return values_to_python(main_graph(self).outputs); })
        .def(
            "run",
            [](PyModel& self, nb::handle inputs, int threads, uint64_t seed,
               std::optional<int64_t> max_steps, nb::object timeout, nb::object cancel) {
                if (!PyDict_Check(inputs.ptr())) {
                    raise(PyExc_TypeError,
                          "`run` takes the inputs by name, as in `run({\"x\": x})`, and gives all "
                          "outputs; `model(x)` takes them by position");
                }
                eval::RunOptions options;
                options.threads = std::max(0, threads);
                options.seed = seed;
                options.max_steps = max_steps.value_or(options.max_steps);
                return run(self, nb::borrow<nb::dict>(inputs), options, timeout, cancel);
            },
            nb::arg("inputs").none(), nb::kw_only(), nb::arg("threads") = 0, nb::arg("seed") = 0,
            nb::arg("max_steps") = nb::none(), nb::arg("timeout") = nb::none(),
            nb::arg("cancel") = nb::none(),
            "Runs the model on {name: array} and returns the list of its outputs. The results do "
            "not "
            "depend on `threads` (0: one per core); `seed` is for random operators. After "
            "`max_steps` nodes and iterations the run ends with an error. It ends with "
            "TimeoutError after `timeout` seconds, with CancelledError if the CancelToken `cancel` "
            "is cancelled, and with KeyboardInterrupt after Ctrl-C. Afterwards, the model can run "
            "again.")
        .def("__call__", call_model,
             "Runs the model on inputs by position or by name. Several outputs are a tuple.")
        .def("_repr_svg_",
             [](const PyModel& self) {
                 std::optional<std::string> shown = read_model(*self.state, driver::picture);
                 return shown ? nb::object(nb::str(shown->c_str(), shown->size())) : nb::none();
             })
        .def("to_bytes", to_bytes, "The bytes of a ModelProto.")
        .def(
            "to_text",
            [](nb::handle self, nb::handle form) {
                return nb::module_::import_("sardonyx._model").attr("to_text")(self, form);
            },
            nb::arg("form") = "onnxtxt",
            "Returns the model as text that `from_text` reads: \"onnxtxt\" (the text form of "
            "onnx.parser), \"json\" (protobuf's JSON), or \"textproto\" (protobuf's text format). "
            "A model that the first form cannot express raises ModelError.")
        .def(
            "save",
            [](nb::handle self, nb::handle path, nb::handle external_bytes, nb::handle file_bytes,
               nb::handle alignment, nb::handle weights, nb::handle share_equal, nb::handle quiet) {
                nb::module_::import_("sardonyx._model")
                    .attr("save")(self, path, external_bytes, file_bytes, alignment, weights,
                                  share_equal, quiet);
            },
            nb::arg("path"), nb::kw_only(), nb::arg("external_bytes").none() = nb::none(),
            nb::arg("file_bytes") = 0, nb::arg("alignment") = 4096, nb::arg("weights") = "data",
            nb::arg("share_equal") = false, nb::arg("quiet") = false,
            "Writes the model to a file, completely or not at all, in the form of the file name's "
            "extension (.onnxtxt, .json and .textproto are text). Initializers of `external_bytes` "
            "and more (0: none; None: as before) are written to a file beside it. Its format is "
            "`weights`: \"data\", where each initializer starts at a multiple of `alignment`, or "
            "\"safetensors\", for which `external_bytes` is 1024 by default. A new file is started "
            "after `file_bytes` (0: never). With `share_equal`, equal tensors are written once. "
            "From "
            "1 GB, a progress bar is shown on a terminal, unless `quiet`.")
        // As bytes, including weights that are stored in separate files.
        .def("__reduce__",
             [](nb::handle self) {
                 nb::object make = nb::module_::import_("sardonyx._model").attr("unpickled");
                 return nb::make_tuple(make,
                                       nb::make_tuple(to_bytes(*nb::inst_ptr<PyModel>(self))));
             })
        .def(
            "info",
            [](nb::handle self, nb::handle dims) {
                return nb::module_::import_("sardonyx._model").attr("info")(self, dims);
            },
            nb::arg("dims") = nb::none(),
            "Describes the model and the cost of a run, with named dimensions of the sizes {name: "
            "size}. Returns the data that `sardonyx info --json` prints.")
        .def(
            "diff",
            [](nb::handle self, nb::handle other, bool names) {
                return nb::module_::import_("sardonyx._model").attr("diff")(self, other, names);
            },
            nb::arg("other"), nb::kw_only(), nb::arg("names") = false,
            "Returns the differences between the models, as a list of Change; with `names`, also "
            "those "
            "in the names of inner values and nodes and in documentation.")
        .def(
            "is_isomorphic",
            [](nb::handle self, nb::handle other) {
                return nb::module_::import_("sardonyx._core")
                    .attr("first_difference")(self, other)
                    .is_none();
            },
            nb::arg("other"),
            "Whether both models compute their results with the same nodes from the same values, "
            "regardless of names and the order of nodes (see docs/decompile.md).")
        .def(
            "to_proto",
            [](nb::handle self) {
                return nb::module_::import_("sardonyx._model").attr("to_proto")(self);
            },
            "The model as an onnx.ModelProto.")
        .def(
            "to_onnx_ir",
            [](nb::handle self) {
                return nb::module_::import_("sardonyx._model").attr("to_onnx_ir")(self);
            },
            "The model as an onnx_ir.Model.");
    bind_model_members(c);
    bind_builder(m);
    bind_model_tools(m);
    refuse_copies_of_parts(m);
}

}  // namespace sardonyx::python
