// What a Script is compiled to.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/call.h"
#include "bindings/interrupt.h"
#include "bindings/model.h"
#include "bindings/script.h"
#include "bindings/sources.h"
#include "driver/finish.h"
#include "driver/model_files.h"
#include "driver/options.h"
#include "driver/progress_bar.h"
#include "driver/report.h"
#include "elaborate/objects/plain.h"
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
                                       "`" + help_for_type(type));
        }
    }
    for (nb::handle type : output_types) {
        options.output_types.push_back(type_from_python(type));
    }
    for (auto [name, value] : attributes) {
        options.attributes.emplace_back(text_from_python(name), object_from_python(value));
    }
    if (Result<void> known = driver::check_versions(opset, ir_version); !known.ok()) {
        raise(PyExc_ValueError, known.error().message);
    }
    options.opset = opset;
    options.ir_version = ir_version;
    return options;
}

nb::object bytes_to_python(const std::string& bytes) {
    return nb::bytes(bytes.data(), bytes.size());
}

driver::ReportedModel compile_model(const PyScript& self, const driver::ScriptRequest& wanted) {
    OwnProgram own;
    Result<std::unique_ptr<ir::Model>> model =
        driver::compile_script(own.program(), self.script->function, wanted);
    if (!model.ok()) {
        raise(PyExc_NotImplementedError, model.error().message);
    }
    return {std::move(*model), driver::report_of(sources(), own.found())};
}

// What `prepare` has compiled, if it is what is wanted; it is given once.
driver::ReportedModel take_or_compile(PyScript& self, const driver::ScriptRequest& wanted) {
    std::optional<driver::ReportedModel> prepared = self.prepared.take(wanted);
    return prepared ? std::move(*prepared) : compile_model(self, wanted);
}

// Compiles a model for whoever asks for it first; the findings as JSON.
nb::object prepare(PyScript& self, const driver::ScriptRequest& wanted) {
    self.prepared.forget();
    driver::ReportedModel compiled = compile_model(self, wanted);
    nb::object found = text_to_python(compiled.report.json);
    self.prepared.keep(wanted, std::move(compiled));
    return found;
}

// (result, text, json): None in place of the result if there are errors.
nb::tuple reported(const driver::Report& report, nb::object result) {
    return nb::make_tuple(std::move(result), text_to_python(report.text),
                          text_to_python(report.json));
}

nb::tuple compile_to_bytes(PyScript& self, const driver::ScriptRequest& wanted) {
    driver::ReportedModel made = take_or_compile(self, wanted);
    return reported(made.report, made.model == nullptr
                                     ? nb::none()
                                     : bytes_to_python(unwrap(proto::write_model(*made.model))));
}

// The same to a file, with large initializers beside it; the size of both in bytes.
nb::tuple compile_to_file(PyScript& self, const std::string& path, size_t external_bytes,
                          bool quiet, const driver::ScriptRequest& wanted) {
    driver::ReportedModel made = take_or_compile(self, wanted);
    driver::SavingBar bar(quiet);
    driver::SaveOptions how;
    how.external_bytes = external_bytes;
    how.watch = bar.watch();
    return reported(
        made.report,
        made.model == nullptr
            ? nb::none()
            : nb::object(nb::int_(edited(driver::write_model_files(*made.model, path, how)))));
}

// The model itself, without the detour through bytes. Arrays of Python may change afterwards.
nb::tuple compile_to_model(PyScript& self, const driver::ScriptRequest& wanted) {
    driver::ReportedModel made = take_or_compile(self, wanted);
    if (made.model == nullptr) {
        return reported(made.report, nb::none());
    }
    driver::make_lasting(*made.model);
    nb::object model = nb::cast(make_model(std::move(made.model)));
    return reported(made.report, std::move(model));
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
            driver::ScriptRequest wanted{
                driver::Form::kModel,
                options_of(input_types, output_types, attributes, opset, ir_version),
                self.script->finish};
            wanted.options.schemas = self.script->schemas.get();
            wanted.finish.producer_name = producer_name;
            wanted.finish.producer_version = producer_version;
            return stoppable([&] { return compile(self, before..., wanted); });
        },
        names..., nb::arg("input_types"), nb::arg("output_types"), nb::arg("attributes"),
        nb::arg("opset"), nb::arg("ir_version"), nb::arg("producer_name"),
        nb::arg("producer_version"));
}

// The script as `form`, without further types.
std::unique_ptr<ir::Model> compile_as(driver::Form form, const PyScript& self, OwnProgram& own) {
    driver::ScriptRequest wanted{form, {}, {}};
    wanted.options.schemas = self.script->schemas.get();
    return unwrap(driver::compile_script(own.program(), self.script->function, wanted));
}

nb::tuple compile_function(const PyScript& self) {
    OwnProgram own;
    std::unique_ptr<ir::Model> model = compile_as(driver::Form::kFunction, self, own);
    return report(
        model == nullptr
            ? nb::none()
            : bytes_to_python(unwrap(proto::write_function(*model, *model->functions[0]))),
        own.found());
}

// The findings as JSON: of a model where its annotations allow one, else of a function.
nb::object check(const PyScript& self) {
    OwnProgram own;
    (void)compile_as(driver::Form::kAsAnnotated, self, own);
    return text_to_python(driver::report_of(sources(), own.found()).json);
}

void add_globals(const nb::dict& globals, driver::Request& request) {
    for (auto [key, value] : globals) {
        std::string name = text_from_python(key);
        elaborate::Object object = object_from_python(value);
        if (!elaborate::is_plain(object)) {
            std::string type = text_from_python(nb::getattr(value.type(), "__qualname__"));
            raise(PyExc_TypeError, "`" + name + "` of `globals` is of type `" + type +
                                       "`, or holds what the compiler does not know: give numbers, "
                                       "texts, arrays, types, opsets, and lists, tuples and dicts "
                                       "of them; write scripts into the text, or import them from "
                                       "a folder of `library_path`");
        }
        request.globals.emplace_back(std::move(name), std::move(object));
    }
}

std::shared_ptr<const driver::LineMetadata> line_metadata_of(const nb::dict& given) {
    auto lines = std::make_shared<driver::LineMetadata>();
    for (auto [line, properties] : given) {
        driver::Properties read;
        for (auto [key, value] : nb::cast<nb::dict>(properties)) {
            read.emplace_back(text_from_python(key), text_from_python(value));
        }
        Result<void> added = driver::add_line(*lines, int_from_python(line), std::move(read));
        if (!added.ok()) {
            raise(PyExc_ValueError, added.error().message);
        }
    }
    return lines->empty() ? nullptr : lines;
}

std::vector<std::string> texts_of(const nb::list& given) {
    std::vector<std::string> texts;
    for (nb::handle one : given) {
        texts.push_back(text_from_python(one));
    }
    return texts;
}

// A text as the command line compiles a file: no Python runs it.
nb::tuple compile_text(driver::Request request) {
    driver::Compilation made = stoppable([&] { return driver::compile(request); });
    if (!made.complaint.empty()) {
        raise(PyExc_ValueError, made.complaint);
    }
    bool has_failed = made.has_failed();
    driver::Report report = driver::report_of(made.sources(), made.findings());
    if (has_failed) {
        return reported(report, nb::none());
    }
    driver::make_lasting(*made.model);
    nb::object model = nb::cast(make_model(std::move(made.model)));
    return reported(report, std::move(model));
}

}  // namespace

void bind_compile_text(nb::module_& m) {
    m.def(
        "compile_text",
        [](std::string text, const std::string& path, const std::string& script,
           const nb::dict& globals, const nb::list& schemas, const nb::list& library_path,
           const nb::dict& line_metadata, const nb::dict& input_types, const nb::dict& attributes,
           int64_t opset, int64_t ir_version) {
            driver::Request request;
            request.path = path;
            request.text = std::move(text);
            request.script = script;
            add_globals(globals, request);
            request.options = options_of(input_types, nb::list(), attributes, opset, ir_version);
            request.options.library_path = texts_of(library_path);
            request.schemas = texts_of(schemas);
            request.finish.metadata = line_metadata_of(line_metadata);
            return compile_text(std::move(request));
        },
        nb::arg("text"), nb::arg("path"), nb::arg("script"), nb::arg("globals"), nb::arg("schemas"),
        nb::arg("library_path"), nb::arg("line_metadata"), nb::arg("input_types"),
        nb::arg("attributes"), nb::arg("opset"), nb::arg("ir_version"));
}

nb::tuple report(nb::object result, const diagnostics::Diagnostics& found) {
    return reported(driver::report_of(sources(), found),
                    found.has_errors() ? nb::object(nb::none()) : std::move(result));
}

void bind_compilations(nb::class_<PyScript>& script) {
    script.def("check", [](const PyScript& self) { return stoppable([&] { return check(self); }); })
        .def("forget", [](PyScript& self) { self.prepared.forget(); })
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
