#include "bindings/classes.h"

#include <utility>

#include "bindings/environment.h"
#include "bindings/sources.h"
#include "driver/definition.h"
#include "elaborate/library/python_names.h"
#include "elaborate/objects/exception_types.h"

namespace sardonyx::python {

namespace {

using elaborate::Namespace;
using elaborate::Object;

constexpr const char* kClasses = "sardonyx._classes";

std::vector<std::string> texts_from(const nb::object& texts) {
    std::vector<std::string> all;
    for (nb::handle text : texts) {
        all.push_back(text_from_python(text));
    }
    return all;
}

// The class of Python's exceptions that a class is derived from, directly or through its bases;
// empty: none. Nothing: one that the compiler does not know, or several.
std::optional<std::string_view> exception_of(const nb::object& parts,
                                             const std::vector<const Namespace*>& bases) {
    std::string name = text_from_python(nb::object(parts.attr("exception")));
    if (name.empty()) {
        return elaborate::inherited_exception(bases);
    }
    std::string_view found = elaborate::exception_name(name);  // then it is the only base
    return found.empty() ? std::nullopt : std::optional(found);
}

}  // namespace

PythonClass::PythonClass(const char* module, nb::handle type, Kind kind, std::string name,
                         const std::optional<Object>& of)
    : Namespace(kind, std::move(name), of ? elaborate::as_namespace(*of) : nullptr),
      module_(module),
      type_(nb::borrow(type)) {}

std::optional<Object> PythonClass::lookup_own(std::string_view name) {
    nb::module_ helpers = nb::module_::import_(module_);
    nb::object found = helpers.attr("member_of")(type_, text_to_python(name));
    if (found.is_none()) {
        return Namespace::lookup_own(name);
    }
    return elaborate::member_made_by(text_from_python(nb::object(found[0])),
                                     object_from_python(found[1]));
}

std::vector<std::string> PythonClass::names() {
    return texts_from(nb::module_::import_(module_).attr("names_of")(type_));
}

Object keep_class(std::unique_ptr<PythonClass> made, nb::handle type, nb::handle key) {
    made->outside = opaque_from_python(type);
    Object object = made->object();
    keep_in_program(std::move(made));
    know_in_program(key, object);
    return object;
}

std::optional<Object> class_of_program(nb::handle type, const std::string& path) {
    if (!PyType_Check(type.ptr()) || !has_program()) {
        return std::nullopt;
    }
    // By its table of members, as the class itself stays Python's.
    nb::object key = nb::borrow(type.attr("__mro__"));
    if (const Object* known = known_in_program(key)) {
        return *known;
    }
    nb::object parts = nb::module_::import_(kClasses).attr("parts_of")(type);
    if (parts.is_none()) {
        return std::nullopt;
    }
    nb::object file = parts.attr("place");
    if (!file.is_none() && !driver::is_of_program(text_from_python(file), path)) {
        return std::nullopt;
    }
    std::vector<const Namespace*> bases;
    std::optional<Object> of;  // the first one
    for (nb::handle base : nb::object(parts.attr("bases"))) {
        std::optional<Object> one = class_of_program(base, path);
        if (!one) {
            return std::nullopt;
        }
        of = of ? of : one;
        bases.push_back(elaborate::as_namespace(*one));
    }
    std::optional<std::string_view> exception = exception_of(parts, bases);
    if (!exception) {
        return std::nullopt;
    }
    auto says = [&parts](const char* name) { return nb::cast<bool>(parts.attr(name)); };
    Namespace::Kind kind = says("is_data") ? Namespace::Kind::kDataclass : Namespace::Kind::kClass;
    auto made = std::make_unique<PythonClass>(kClasses, type, kind,
                                              text_from_python(nb::object(parts.attr("name"))), of);
    made->is_frozen = says("is_frozen");
    made->has_eq = says("has_eq");
    made->has_order = says("has_order");
    made->has_repr = says("has_repr");
    made->is_protocol = says("is_protocol");
    made->exception = *exception;
    if (bases.size() > 1 && !made->set_bases(bases)) {
        return std::nullopt;
    }
    made->fields = texts_from(parts.attr("fields"));
    made->abstract = texts_from(parts.attr("abstract"));
    if (!nb::object(parts.attr("slots")).is_none()) {
        made->slots = texts_from(parts.attr("slots"));
    }
    for (nb::handle one : nb::object(parts.attr("parameters"))) {
        made->parameters.push_back({text_from_python(nb::object(one[0])), nb::cast<bool>(one[1]),
                                    nb::cast<bool>(one[2]), nb::cast<bool>(one[3])});
    }
    return keep_class(std::move(made), type, key);
}

}  // namespace sardonyx::python
