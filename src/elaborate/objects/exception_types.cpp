// The classes of exceptions that are built into Python, and those that are derived from them.

#include "elaborate/objects/exception_types.h"

#include <algorithm>
#include <iterator>

#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"

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

std::optional<std::string_view> inherited_exception(const std::vector<const Namespace*>& bases) {
    std::string_view found;
    for (const Namespace* base : bases) {
        found = found.empty() ? base->exception : found;
        if (!base->exception.empty() && base->exception != found) {
            return std::nullopt;
        }
    }
    return found;
}

std::string_view exception_name(std::string_view name) {
    const ExceptionRow* row = find_row(name);
    return row != nullptr ? row->name : std::string_view();
}

bool is_subclass(const ExceptionType& type, const ExceptionType& base) {
    if (base.own != nullptr) {
        return type.own != nullptr && is_derived(type.own, base.own);
    }
    for (const ExceptionRow* row = find_row(type.builtin); row != nullptr;
         row = find_row(row->base)) {
        if (row->name == base.builtin) {
            return true;
        }
    }
    return false;
}

ExceptionType exception_type(const Object& object) {
    if (object.is(ObjectKind::kPythonType)) {
        return {exception_name(object.get<PythonType>().name)};
    }
    const Namespace* own = as_namespace(object);
    bool is_known = own != nullptr && is_class(object) && own->unknown_all == nullptr &&
                    !own->exception.empty();
    return is_known ? ExceptionType{own->exception, own} : ExceptionType();
}

ExceptionType exception_of(const Object& object) {
    const Namespace* found = as_namespace(object);
    const Namespace* type = found != nullptr && found->unknown_all == nullptr &&
                                    found->kind == Namespace::Kind::kInstance
                                ? found->of
                                : nullptr;
    return type == nullptr || type->exception.empty()
               ? ExceptionType()
               : ExceptionType{type->exception, type->is_pythons ? nullptr : type, object};
}

Object raises(Context& c, std::string_view type) {
    return raises(c, ExceptionType{type});
}

Object raises(Context& c, const ExceptionType& type) {
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
