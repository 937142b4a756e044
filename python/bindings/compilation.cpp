// What a Script is compiled to.
#include <memory>
#include <string>
#include <utility>

#include "bindings/call.h"
#include "bindings/interrupt.h"
#include "bindings/model.h"
#include "bindings/script.h"
#include "bindings/sources.h"
#include "diagnostics/render.h"
#include "driver/model_files.h"
#include "driver/progress_bar.h"
#include "ir/own.h"
#include "models/fit_runtime.h"
#include "proto/proto.h"

namespace sardonyx::python {

namespace {

elaborate::Options options_of(const nb::dict& input_types, const nb::list& output_types,
                              const nb::dict& attributes, int64_t opset, int64_t ir_version) {
    elaborate::Options options;
    for (auto [name, type] : input_types) {
        options.input_types.emplace_back(text_from_python(name), type_from_python(type));
        if (!options.input_types.back().second.is_known()) {
            raise(PyExc_TypeError, "`" + text_from_python(nb::repr(type)) +
                                       "` is not a type for `" + options.input_types.back().first +
                                       "`");
        }
    }
    for (nb::handle type : output_types) {
        options.output_types.push_back(type_from_python(type));
    }
    for (auto [name, value] : attributes) {
        options.attributes.emplace_back(text_from_python(name), object_from_python(value));
    }
    options.opset = opset;
    options.ir_version = ir_version;
    return options;
}

nb::object to_bytes(const std::string& bytes) {
    return nb::bytes(bytes.data(), bytes.size());
}

// The findings as text and JSON.
Compiled with_findings(std::unique_ptr<ir::Model> model, const diagnostics::Diagnostics& found) {
    if (found.items().empty()) {
        return {std::move(model), "", "[]"};
    }
    return {std::move(model), diagnostics::render_terminal(sources(), found, {}),
            diagnostics::render_json(sources(), found)};
}

Compiled compile_model(const PyScript& self, ModelOptions& wanted) {
    OwnProgram own;
    wanted.options.schemas = self.script->schemas.get();
    std::unique_ptr<ir::Model> model = driver::compile_script(own.program(), self.script->function,
                                                              driver::Form::kModel, wanted.options);
    if (own.found().has_errors()) {
        return with_findings(nullptr, own.found());
    }
    if (!wanted.producer_name.empty()) {
        model->producer_name = model->intern(wanted.producer_name);
    }
    if (!wanted.producer_version.empty()) {
        model->producer_version = model->intern(wanted.producer_version);
    }
    if (!self.script->metadata.empty()) {
        driver::set_line_metadata(*model, sources(), self.script->whole.file,
                                  self.script->metadata);
    }
    if (self.script->runtime) {
        Result<void> fit = models::fit_runtime(*model, *self.script->runtime);
        if (!fit.ok()) {
            raise(PyExc_NotImplementedError, fit.error().message);
        }
    }
    return with_findings(std::move(model), own.found());
}

bool are_equal(const ModelOptions& a, const ModelOptions& b) {
    return a.is_plain() && b.is_plain() && a.options.opset == b.options.opset &&
           a.options.ir_version == b.options.ir_version && a.producer_name == b.producer_name &&
           a.producer_version == b.producer_version;
}

// What `prepare` has compiled, if it is what is wanted; it is given once.
Compiled take_or_compile(PyScript& self, ModelOptions& wanted) {
    std::unique_ptr<Prepared> prepared = std::move(self.prepared);
    return prepared != nullptr && are_equal(prepared->wanted, wanted)
               ? std::move(prepared->compiled)
               : compile_model(self, wanted);
}

// Compiles a model for whoever asks for it first; the findings as JSON.
nb::object prepare(PyScript& self, ModelOptions& wanted) {
    self.prepared = nullptr;
    Compiled compiled = compile_model(self, wanted);
    nb::object found = text_to_python(compiled.json);
    if (compiled.model != nullptr) {
        self.prepared = std::make_unique<Prepared>(Prepared{wanted, std::move(compiled)});
    }
    return found;
}

// (result, text, json): None in place of the result if there are errors.
nb::tuple reported(const Compiled& compiled, nb::object result) {
    return nb::make_tuple(std::move(result), text_to_python(compiled.text),
                          text_to_python(compiled.json));
}

nb::tuple compile_to_bytes(PyScript& self, ModelOptions& wanted) {
    Compiled made = take_or_compile(self, wanted);
    return reported(made, made.model == nullptr
                              ? nb::none()
                              : to_bytes(unwrap(proto::write_model(*made.model))));
}

// The same to a file, with large initializers beside it; the size of both in bytes.
nb::tuple compile_to_file(PyScript& self, const std::string& path, size_t external_bytes,
                          bool quiet, ModelOptions& wanted) {
    Compiled made = take_or_compile(self, wanted);
    driver::SavingBar bar(quiet);
    driver::SaveOptions how;
    how.external_bytes = external_bytes;
    how.watch = bar.watch();
    return reported(
        made,
        made.model == nullptr
            ? nb::none()
            : nb::object(nb::int_(edited(driver::write_model_files(*made.model, path, how)))));
}

// The model itself, without the detour through bytes. Arrays of Python may change afterwards.
nb::tuple compile_to_model(PyScript& self, ModelOptions& wanted) {
    Compiled made = take_or_compile(self, wanted);
    if (made.model == nullptr) {
        return reported(made, nb::none());
    }
    ir::own_tensors(*made.model);
    made.model->ir_version = proto::needed_ir_version(*made.model);
    nb::object model = nb::cast(make_model(std::move(made.model)));
    return reported(made, std::move(model));
}

// `names` are of the arguments, of the types `Before`, that `compile` takes before the options.
template <typename... Before, typename Compile, typename... Names>
void def_compilation(nb::class_<PyScript>& script, const char* name, Compile compile,
                     const Names&... names) {
    script.def(
        name,
        [compile](PyScript& self, Before... before, const nb::dict& input_types,
                  const nb::list& output_types, const nb::dict& attributes, int64_t opset,
                  int64_t ir_version, const std::string& producer_name,
                  const std::string& producer_version) {
            ModelOptions wanted{
                options_of(input_types, output_types, attributes, opset, ir_version), producer_name,
                producer_version};
            return stoppable([&] { return compile(self, before..., wanted); });
        },
        names..., nb::arg("input_types"), nb::arg("output_types"), nb::arg("attributes"),
        nb::arg("opset"), nb::arg("ir_version"), nb::arg("producer_name"),
        nb::arg("producer_version"));
}

nb::tuple compile_function(const PyScript& self) {
    elaborate::Options options;
    options.schemas = self.script->schemas.get();
    OwnProgram own;
    std::unique_ptr<ir::Model> model = driver::compile_script(own.program(), self.script->function,
                                                              driver::Form::kFunction, options);
    if (own.found().has_errors()) {
        return report(nb::none(), own.found());
    }
    return report(to_bytes(unwrap(proto::write_function(*model, *model->functions[0]))),
                  own.found());
}

// The findings as JSON: of a model where its annotations allow one, else of a function.
nb::object check(const PyScript& self) {
    elaborate::Options options;
    options.schemas = self.script->schemas.get();
    OwnProgram own;
    driver::compile_script(own.program(), self.script->function, driver::Form::kAsAnnotated,
                           options);
    return text_to_python(diagnostics::render_json(sources(), own.found()));
}

}  // namespace

nb::tuple report(nb::object result, const diagnostics::Diagnostics& found) {
    return reported(with_findings(nullptr, found),
                    found.has_errors() ? nb::object(nb::none()) : std::move(result));
}

void bind_compilations(nb::class_<PyScript>& script) {
    script.def("check", [](const PyScript& self) { return stoppable([&] { return check(self); }); })
        .def("forget", [](PyScript& self) { self.prepared = nullptr; })
        .def("compile_function", [](const PyScript& self) {
            return stoppable([&] { return compile_function(self); });
        });
    def_compilation(script, "prepare", prepare);
    def_compilation(script, "compile_model", compile_to_model);
    def_compilation(script, "compile_bytes", compile_to_bytes);
    def_compilation<const std::string&, size_t, bool>(script, "compile_file", compile_to_file,
                                                      nb::arg("path"), nb::arg("external_bytes"),
                                                      nb::arg("quiet"));
}

}  // namespace sardonyx::python
