// The class Script: a Python function decorated with @script, parsed, ready to be compiled.
// sardonyx.OnnxFunction is the Python object around it.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/write_file.h"
#include "bindings/bindings.h"
#include "bindings/interrupt.h"
#include "bindings/opset.h"
#include "bindings/schemas.h"
#include "bindings/script.h"
#include "bindings/sources.h"
#include "bindings/tensor.h"
#include "bindings/torch_file.h"
#include "driver/definition.h"
#include "elaborate/objects/script_keywords.h"
#include "elaborate/objects/special_names.h"
#include "elaborate/objects/type_text.h"
#include "ops/substitutes.h"

namespace sardonyx::python {

namespace {

using elaborate::Object;

// The current defaults of the parameters in Python.
std::vector<std::pair<std::string, Object>> live_defaults(nb::handle function) {
    std::vector<std::pair<std::string, Object>> defaults;
    nb::object values = function.attr("__defaults__");
    if (!values.is_none()) {
        nb::object names = function.attr("__code__").attr("co_varnames");
        auto count = nb::cast<size_t>(function.attr("__code__").attr("co_argcount"));
        size_t first = count - nb::len(values);
        for (size_t i = first; i < count; ++i) {
            defaults.emplace_back(text_from_python(names[i]),
                                  object_from_python(values[i - first]));
        }
    }
    nb::object keyword_only = function.attr("__kwdefaults__");
    if (!keyword_only.is_none()) {
        for (auto [name, value] : nb::borrow<nb::dict>(keyword_only)) {
            defaults.emplace_back(text_from_python(name), object_from_python(value));
        }
    }
    return defaults;
}

// None, or an opset, also one of another package.
Object opset_object(nb::handle opset) {
    if (opset.is_none() || nb::isinstance<Opset>(opset)) {
        return object_from_python(opset);
    }
    if (!nb::hasattr(opset, "domain") || !nb::hasattr(opset, "version")) {
        raise(PyExc_TypeError, "`" + kind_of(opset) + "` is not an Opset");
    }
    return Object::make(elaborate::ObjectKind::kOpset,
                        elaborate::OpsetObject{text_from_python(opset.attr("domain")),
                                               int_from_python(opset.attr("version"))});
}

void set_keyword(elaborate::ScriptFunction& function, std::string_view name, const Object& value) {
    if (auto mistake = elaborate::set_script_keyword(function, name, value)) {
        raise(PyExc_TypeError, mistake->message + "; " + mistake->help);
    }
}

void set_keywords(elaborate::ScriptFunction& function, const nb::dict& keywords) {
    for (auto [key, value] : keywords) {
        set_keyword(function, text_from_python(key), object_from_python(value));
    }
}

diagnostics::FileId find_source(nb::handle function, const std::string& path) {
    diagnostics::FileId file = source_cache().of_file(path);
    if (file.valid()) {
        return file;
    }
    nb::object text = nb::module_::import_("sardonyx._sources").attr("text_of_command")(function);
    if (!text.is_none()) {
        return source_cache().of_text(path, path, text_from_python(text));
    }
    // All texts of `exec` have this name; since Python 3.13, linecache has that of `python -c`
    // there.
    if (path == "<string>") {
        return {};
    }
    // Notebooks, doctests and the interactive prompt keep their text in linecache.
    nb::object lines = nb::module_::import_("linecache")
                           .attr("getlines")(text_to_python(path), function.attr("__globals__"));
    if (nb::len(lines) == 0) {
        return {};
    }
    nb::object name = nb::module_::import_("sardonyx._sources").attr("shown_name")(path);
    return source_cache().of_text(path, text_from_python(name),
                                  text_from_python(nb::str("").attr("join")(lines)));
}

[[noreturn]] void no_source(nb::handle function, const std::string& why) {
    raise(PyExc_OSError, "the source of `" + text_from_python(function.attr("__name__")) +
                             "` cannot be read: " + why);
}

std::shared_ptr<ops::SchemaSet> schema_set(nb::handle schemas) {
    if (schemas.is_none()) {
        return nullptr;
    }
    if (!nb::isinstance<Schemas>(schemas)) {
        raise(PyExc_TypeError,
              "`schemas` is what `load_schemas` gives, not `" + kind_of(schemas) + "`");
    }
    return nb::inst_ptr<Schemas>(schemas)->set;
}

// The first function among the constants of the enclosing code; other constants are defaults.
nb::object first_code(const nb::object& around) {
    for (nb::handle constant : around.attr("co_consts")) {
        if (nb::hasattr(constant, "co_code")) {
            return nb::borrow(constant);
        }
    }
    return nb::none();
}

bool is_same_code(nb::handle a, nb::handle b);

// Constants of two codes. Python's == would find 1 in the place of True, and 0.0 in that of -0.0.
bool are_same_constants(nb::handle a, nb::handle b) {
    if (!a.type().is(b.type())) {
        return false;
    }
    if (nb::hasattr(a, "co_code")) {
        return is_same_code(a, b);
    }
    if (!PyTuple_Check(a.ptr())) {
        return nb::repr(a).equal(nb::repr(b));
    }
    bool all = nb::len(a) == nb::len(b);
    for (size_t i = 0; all && i < nb::len(a); ++i) {
        all = are_same_constants(nb::object(a[i]), nb::object(b[i]));
    }
    return all;
}

// Whether two codes do the same, wherever they stand.
bool is_same_code(nb::handle a, nb::handle b) {
    constexpr const char* kParts[] = {"co_code",     "co_names",          "co_varnames",
                                      "co_freevars", "co_argcount",       "co_kwonlyargcount",
                                      "co_cellvars", "co_posonlyargcount"};
    auto flags = [](nb::handle one) {
        constexpr int kNested = 0x10;  // whether a function is around it
        return nb::cast<int>(one.attr("co_flags")) & ~kNested;
    };
    return flags(a) == flags(b) &&
           std::ranges::all_of(
               kParts, [&](const char* part) { return a.attr(part).equal(b.attr(part)); }) &&
           are_same_constants(a.attr("co_consts"), b.attr("co_consts"));
}

// Whether Python compiles this text to the code of the function. The line where a lambda begins may
// be in the middle of a statement, and may hold other lambdas.
bool is_code_of(nb::handle code, std::string_view text) {
    nb::object inner;
    try {
        // The text is compiled inside a function that has the variables of its closure.
        nb::object names = nb::str(", ").attr("join")(code.attr("co_freevars"));
        std::string around = "lambda " + text_from_python(names) + ": (";
        // With the `from __future__ import ...` of its file, and not those of the file that called.
        constexpr int kFutures = 0x1fe0000;
        int futures = nb::cast<int>(code.attr("co_flags")) & kFutures;
        nb::object whole = nb::module_::import_("builtins")
                               .attr("compile")(text_to_python(around + std::string(text) + ")"),
                                                "<lambda>", "eval", futures, true);
        inner = first_code(first_code(whole));
    } catch (const nb::python_error& error) {
        pass_on_exits(error);
        return false;
    }
    return !inner.is_none() && is_same_code(inner, code);
}

// The method of an object, whose class has the function.
std::shared_ptr<Script> bind_method(const std::shared_ptr<Script>& method, nb::handle self) {
    auto bound = std::make_shared<Script>(*method);
    bound->function.tree = bound->tree.get();
    bound->function.environment = &bound->environment;
    bound->function.self = object_from_python(self);
    bound->method = method;
    bound->self = self.ptr();
    return bound;
}

// Null after a syntax error, and for a lambda, unless `is_lambda` knows it.
std::shared_ptr<Script> read_function(nb::object function, OwnProgram& own,
                                      const driver::IsLambda& is_lambda = {}) {
    nb::object code = function.attr("__code__");
    std::string path = text_from_python(code.attr("co_filename"));
    diagnostics::FileId file = find_source(function, path);
    // The names that IPython gives to what these magics run, whose text nobody has.
    std::string_view magic = path == "<timed exec>"     ? "%%time"
                             : path == "<magic-timeit>" ? "%%timeit"
                                                        : "";
    if (!file.valid() && !magic.empty()) {
        no_source(function, "`" + std::string(magic) +
                                "` runs a text that Python does not keep; define the script in a "
                                "cell without it, and measure calls of it");
    }
    if (!file.valid()) {
        no_source(function, "there is no file or notebook cell `" + path +
                                "`; put the script into a file, or create it from its text with "
                                "`script.from_source(text)`");
    }
    Result<driver::Definition> found = driver::read_definition(
        own.program(), file, nb::cast<uint32_t>(code.attr("co_firstlineno")),
        text_from_python(code.attr("co_name")), is_lambda);
    if (!found.ok()) {
        no_source(function, found.error().message);
    }
    if (found->function == nullptr) {
        return nullptr;
    }
    auto script = std::make_shared<Script>(
        Script{std::move(found->tree), PythonEnvironment(function), {}, {}, found->whole});
    elaborate::ScriptFunction& made = script->function;
    made.name = std::move(found->name);
    made.tree = script->tree.get();
    made.definition = found->function;
    made.environment = &script->environment;
    made.defaults = live_defaults(function);
    return script;
}

// (Script, text, json): None in place of the Script after a mistake.
nb::tuple parse(nb::object function, nb::handle opset, nb::handle default_opset,
                const nb::dict& keywords, nb::handle schemas) {
    OwnProgram own;
    std::shared_ptr<Script> script = read_function(std::move(function), own);
    if (script == nullptr) {
        return report(nb::none(), own.found());
    }
    script->schemas = schema_set(schemas);
    driver::check_definition(
        own.program(), script->function, script->schemas.get(),
        [&script](std::string_view name) { return script->environment.opset(name); });
    set_keyword(script->function, "opset", opset_object(opset));
    set_keyword(script->function, "default_opset", opset_object(default_opset));
    set_keywords(script->function, keywords);
    return report(nb::cast(PyScript{std::move(script)}), own.found());
}

// The models of the script are made fit for a release of ONNX Runtime.
void set_runtime(const PyScript& self, const std::string& target) {
    Result<models::Runtime> runtime = models::read_runtime(target);
    if (!runtime.ok()) {
        raise(PyExc_ValueError, runtime.error().message);
    }
    self.script->finish.runtime = *runtime;
}

// Nodes of the script's models have metadata: where in the program they come from.
void set_program(const PyScript& self, const PyTorchProgram& program) {
    self.script->finish.metadata =
        std::make_shared<driver::LineMetadata>(driver::metadata_of(script_of(program)));
}

// A script holds a Python function, whose globals hold the script: the collector must see it.
int traverse(PyObject* self, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
    Py_VISIT(Py_TYPE(self));
#endif
    if (nb::inst_ready(self)) {
        Py_VISIT(nb::inst_ptr<PyScript>(self)->script->environment.function().ptr());
    }
    return 0;
}

int clear_script(PyObject* self) {
    if (nb::inst_ready(self)) {
        nb::inst_ptr<PyScript>(self)->script->environment.clear();
    }
    return 0;
}

const PyType_Slot kSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_script)},
                              {0, nullptr}};

}  // namespace

std::shared_ptr<void> script_of(nb::handle object) {
    if (PyType_Check(object.ptr())) {
        return nullptr;
    }
    static nb::handle name = nb::handle(PyUnicode_InternFromString("_script"));
    nb::object held = attribute_or_none(object, name);
    if (!held.is_valid() || !nb::isinstance<PyScript>(held)) {
        return nullptr;
    }
    std::shared_ptr<Script> script = nb::inst_ptr<PyScript>(held)->script;
    if (script->method != nullptr) {
        script = std::static_pointer_cast<Script>(
            method_of_program(script->method.get(), script->self, script));
    }
    return {script, &script->function};
}

std::shared_ptr<void> script_of_function(nb::object function) {
    OwnProgram own;
    auto is_it = [&function](std::string_view text) {
        return is_code_of(function.attr("__code__"), text);
    };
    try {
        std::shared_ptr<Script> script = read_function(function, own, is_it);
        if (script == nullptr) {
            return nullptr;
        }
        script->function.is_inline = script->function.is_plain = true;
        return {script, &script->function};
    } catch (const nb::python_error& error) {
        pass_on_exits(error);
        return nullptr;  // there is no text
    }
}

void bind_script(nb::module_& m) {
    nb::class_<PyScript> script(m, "Script", nb::type_slots(kSlots));
    script
        .def_prop_ro(
            "name", [](const PyScript& self) { return text_to_python(self.script->function.name); })
        .def_prop_ro(
            "source",
            [](const PyScript& self) {
                diagnostics::Span whole = self.script->whole;
                return text_to_python(
                    sources().text(whole.file).substr(whole.begin, whole.end - whole.begin));
            })
        .def_prop_ro("place",
                     [](const PyScript& self) {
                         diagnostics::Span whole = self.script->whole;
                         return nb::make_tuple(text_to_python(sources().path(whole.file)),
                                               sources().position(whole.file, whole.begin).line);
                     })
        .def("set_program", set_program, nb::arg("program"))
        .def("set_runtime", set_runtime, nb::arg("target"))
        .def(
            "bind",
            [](const PyScript& self, nb::handle object) {
                return PyScript{bind_method(self.script, object)};
            },
            nb::arg("object"))
        .def_prop_ro("opset", [](const PyScript& self) {
            const elaborate::OpsetObject& opset = self.script->function.opset;
            return the_opset({opset.domain, opset.version});
        });
    bind_compilations(script);
    bind_compile_text(m);
    m.def(
        "write_file",
        [](const std::string& path, const nb::bytes& data) {
            Result<void> written = write_file(path, {data.c_str(), data.size()});
            if (!written.ok()) {
                raise(written.error());
            }
        },
        nb::arg("path"), nb::arg("data"));
    m.def(
        "type_text",
        [](nb::handle value) {
            const PyTensor* tensor = as_tensor(value);
            return text_to_python(tensor != nullptr
                                      ? tensor->tensor().type().to_string()
                                      : elaborate::type_text(object_from_python(value)));
        },
        nb::arg("value").none());
    m.def("special_methods", [] {
        nb::list names;
        for (std::string_view name : elaborate::special_methods()) {
            names.append(text_to_python(name));
        }
        return names;
    });
    m.def(
        "help_for_function",
        [](nb::handle name) {
            return text_to_python(ops::help_for_function(text_from_python(name)));
        },
        nb::arg("name"));
    m.def(
        "check_keywords",
        [](const nb::dict& keywords) {
            elaborate::ScriptFunction function;
            set_keywords(function, keywords);
        },
        nb::arg("keywords"));
    m.def(
        "parse",
        [](nb::object function, nb::handle opset, nb::handle default_opset,
           const nb::dict& keywords, nb::handle schemas) {
            return stoppable(
                [&] { return parse(function, opset, default_opset, keywords, schemas); });
        },
        nb::arg("function"), nb::arg("opset").none(), nb::arg("default_opset").none(),
        nb::arg("keywords"), nb::arg("schemas").none());
}

}  // namespace sardonyx::python
