// The class Script: a Python function decorated with @script, and what it is compiled to.
#pragma once

#include <memory>
#include <string>

#include "bindings/bindings.h"
#include "bindings/environment.h"
#include "diagnostics/diagnostic.h"
#include "driver/prepared.h"
#include "syntax/tree.h"

namespace sardonyx::python {

// `function` points into the other members: an object of this type stays where it is.
struct Script {
    std::shared_ptr<syntax::Tree> tree;  // methods of several objects share it
    PythonEnvironment environment;
    elaborate::ScriptFunction function;
    std::shared_ptr<ops::SchemaSet> schemas;  // of operators of other domains; null: none
    diagnostics::Span whole = {};             // its text, decorators included
    std::shared_ptr<Script> method = {};      // of an object: the function of the class
    const PyObject* self = nullptr;           // the object, which `function.self` holds
    driver::Finish finish = {};               // of its models
};

struct PyScript {
    std::shared_ptr<Script> script;
    driver::PreparedModel prepared = {};  // by `prepare`
};

// What a parser or a compiler has found, as text and as JSON after the result of it: None if there
// are errors.
nb::tuple report(nb::object result, const diagnostics::Diagnostics& found);

// The members that compile, and the function that compiles a text (compilation.cpp).
void bind_compilations(nb::class_<PyScript>& script);

void bind_compile_text(nb::module_& m);

}  // namespace sardonyx::python
