// The classes of exceptions that are built into Python.

#include "elaborate/objects/exception_types.h"

#include <algorithm>
#include <iterator>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

namespace {

struct ExceptionRow {
    std::string_view name, base;
};

constexpr ExceptionRow kExceptions[] = {
    {"BaseException", ""},
    {"Exception", "BaseException"},
    {"ArithmeticError", "Exception"},
    {"FloatingPointError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"},
    {"ZeroDivisionError", "ArithmeticError"},
    {"AssertionError", "Exception"},
    {"AttributeError", "Exception"},
    {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"},
    {"LookupError", "Exception"},
    {"IndexError", "LookupError"},
    {"KeyError", "LookupError"},
    {"NameError", "Exception"},
    {"UnboundLocalError", "NameError"},
    {"OSError", "Exception"},
    {"FileNotFoundError", "OSError"},
    {"RuntimeError", "Exception"},
    {"NotImplementedError", "RuntimeError"},
    {"RecursionError", "RuntimeError"},
    {"StopIteration", "Exception"},
    {"TypeError", "Exception"},
    {"ValueError", "Exception"},
    {"UnicodeError", "ValueError"},
    {"KeyboardInterrupt", "BaseException"},
    {"SystemExit", "BaseException"},
};

const ExceptionRow* find_row(std::string_view name) {
    const auto* row = std::find_if(std::begin(kExceptions), std::end(kExceptions),
                                   [name](const ExceptionRow& one) { return one.name == name; });
    return row != std::end(kExceptions) ? row : nullptr;
}

}  // namespace

bool is_subclass(std::string_view type, std::string_view base) {
    for (const ExceptionRow* row = find_row(type); row != nullptr; row = find_row(row->base)) {
        if (row->name == base) {
            return true;
        }
    }
    return false;
}

std::string_view exception_type(const Object& object) {
    const ExceptionRow* row =
        object.is(ObjectKind::kPythonType) ? find_row(object.get<PythonType>().name) : nullptr;
    return row != nullptr ? row->name : std::string_view();
}

Object raises(Context& c, std::string_view type) {
    const Context::Raising& around = c.raising;
    // What only some runs of a graph come to is caught by nobody.
    if (around.errors + 1 == c.program.diagnostics.error_count() && around.graph == c.graph) {
        c.raising.type = type;
    }
    return Object::error();
}

bool is_exception_type(std::string_view name) {
    return find_row(name) != nullptr;
}

}  // namespace sardonyx::elaborate
