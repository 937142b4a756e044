#include "bindings/named_tuples.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/environment.h"
#include "bindings/sources.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::python {

namespace {

using elaborate::Namespace;
using elaborate::Object;

nb::module_ helpers() {
    return nb::module_::import_("sardonyx._named_tuples");
}

// Its members are those that the class has when they are asked for.
class PythonTupleClass final : public Namespace {
  public:
    PythonTupleClass(nb::handle kind, std::string name, const Namespace* of)
        : Namespace(Kind::kNamedTuple, std::move(name), of), kind_(nb::borrow(kind)) {}

    std::optional<Object> lookup(std::string_view name) override {
        nb::object found = helpers().attr("member_of")(kind_, text_to_python(name));
        if (found.is_none()) {
            return Namespace::lookup(name);
        }
        Object value = object_from_python(found[1]);
        std::string how = text_from_python(nb::object(found[0]));
        return how.empty() ? value
                           : Object::make(elaborate::ObjectKind::kMethod,
                                          elaborate::MethodObject{value, how});
    }

    std::vector<std::string> names() override {
        std::vector<std::string> names;
        for (nb::handle name : nb::object(helpers().attr("names_of")(kind_))) {
            names.push_back(text_from_python(name));
        }
        return names;
    }

  private:
    nb::object kind_;
};

Object make_class(nb::handle kind, const nb::object& parts) {
    nb::object base = nb::object(parts[3]);
    std::optional<Object> of = base.is_none() ? std::nullopt : named_tuple_class(base);
    auto made = std::make_unique<PythonTupleClass>(kind, text_from_python(nb::object(parts[0])),
                                                   of ? elaborate::as_namespace(*of) : nullptr);
    for (nb::handle field : nb::object(parts[1])) {
        made->fields.push_back(text_from_python(field));
    }
    for (nb::handle value : nb::object(parts[2])) {
        made->defaults.push_back(object_from_python(value));
    }
    made->outside = opaque_from_python(kind);
    Object object = made->object();
    keep_in_program(std::move(made));
    know_in_program(kind, object);
    return object;
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
    nb::object parts = helpers().attr("parts_of")(kind);
    return parts.is_none() ? std::nullopt : std::optional(make_class(kind, parts));
}

nb::object named_tuple_to_python(const Object& tuple, const nb::object& items) {
    const Object& kind = tuple.tuple_class()->outside;
    return kind.is_error() || !items.is_valid() ? nb::object()
                                                : object_to_python(kind).attr("_make")(items);
}

}  // namespace sardonyx::python
