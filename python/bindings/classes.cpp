#include "bindings/classes.h"

#include <memory>
#include <utility>
#include <vector>

#include "bindings/environment.h"
#include "bindings/sources.h"
#include "elaborate/objects/namespaces.h"

namespace sardonyx::python {

namespace {

using elaborate::Namespace;
using elaborate::Object;
using elaborate::ObjectKind;

nb::module_ helpers() {
    return nb::module_::import_("sardonyx._classes");
}

// Its members are those that the class has when they are asked for.
class PythonClass final : public Namespace {
  public:
    PythonClass(nb::handle type, Kind kind, std::string name, const Namespace* of)
        : Namespace(kind, std::move(name), of), type_(nb::borrow(type)) {}

    std::optional<Object> lookup(std::string_view name) override {
        nb::object found = helpers().attr("member_of")(type_, text_to_python(name));
        if (found.is_none()) {
            return Namespace::lookup(name);
        }
        Object value = object_from_python(found[1]);
        std::string how = text_from_python(nb::object(found[0]));
        if (how == elaborate::kField) {
            elaborate::DictObject keywords;
            keywords.set(Object::string("default_factory"), value);
            value = Object::dict(std::move(keywords));
        }
        return how.empty() ? value
                           : Object::make(ObjectKind::kMethod, elaborate::MethodObject{value, how});
    }

    std::vector<std::string> names() override {
        std::vector<std::string> names =
            of != nullptr ? const_cast<Namespace*>(of)->names() : std::vector<std::string>();
        for (nb::handle name : nb::object(helpers().attr("names_of")(type_))) {
            names.push_back(text_from_python(name));
        }
        return names;
    }

  private:
    nb::object type_;
};

}  // namespace

std::optional<Object> class_of_program(nb::handle type, const std::string& path) {
    if (!PyType_Check(type.ptr()) || !has_program()) {
        return std::nullopt;
    }
    // By its table of members, as the class itself stays Python's.
    nb::object key = nb::borrow(type.attr("__mro__"));
    if (const Object* known = known_in_program(key)) {
        return *known;
    }
    nb::object parts = helpers().attr("parts_of")(type, path);
    if (parts.is_none()) {
        return std::nullopt;
    }
    nb::object base = nb::object(parts[4]);
    std::optional<Object> of = base.is_none() ? std::nullopt : class_of_program(base, path);
    auto made = std::make_unique<PythonClass>(
        type, nb::cast<bool>(parts[1]) ? Namespace::Kind::kDataclass : Namespace::Kind::kClass,
        text_from_python(nb::object(parts[0])), of ? elaborate::as_namespace(*of) : nullptr);
    made->is_frozen = nb::cast<bool>(parts[2]);
    for (nb::handle field : nb::object(parts[3])) {
        made->fields.push_back(text_from_python(field));
    }
    made->outside = opaque_from_python(type);
    Object object = made->object();
    keep_in_program(std::move(made));
    know_in_program(key, object);
    return object;
}

}  // namespace sardonyx::python
