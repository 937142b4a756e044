#include "bindings/named_tuples.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/classes.h"
#include "bindings/environment.h"
#include "bindings/sources.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::python {

namespace {

using elaborate::Namespace;
using elaborate::Object;

constexpr const char* kNamedTuples = "sardonyx._named_tuples";

Object make_class(nb::handle kind, const nb::object& parts) {
    nb::object base = nb::object(parts[3]);
    std::optional<Object> of = base.is_none() ? std::nullopt : named_tuple_class(base);
    auto made = std::make_unique<PythonClass>(kNamedTuples, kind, Namespace::Kind::kNamedTuple,
                                              text_from_python(nb::object(parts[0])), of);
    for (nb::handle field : nb::object(parts[1])) {
        made->fields.push_back(text_from_python(field));
    }
    for (nb::handle value : nb::object(parts[2])) {
        made->defaults.push_back(object_from_python(value));
    }
    return keep_class(std::move(made), kind, kind);
}

}  // namespace

std::optional<Object> named_tuple_class(nb::handle kind) {
    bool is_tuple =
        PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(kind.ptr()), &PyTuple_Type) != 0;
    if (!is_tuple || kind.ptr() == reinterpret_cast<PyObject*>(&PyTuple_Type) || !has_program()) {
        return std::nullopt;
    }
    if (const Object* known = known_in_program(kind)) {
        return elaborate::as_namespace(*known) != nullptr ? std::optional(*known) : std::nullopt;
    }
    nb::object parts = nb::module_::import_(kNamedTuples).attr("parts_of")(kind);
    return parts.is_none() ? std::nullopt : std::optional(make_class(kind, parts));
}

nb::object named_tuple_to_python(const Object& tuple, const nb::object& items) {
    const Object& kind = tuple.tuple_class()->outside;
    return kind.is_error() || !items.is_valid() ? nb::object()
                                                : object_to_python(kind).attr("_make")(items);
}

}  // namespace sardonyx::python
