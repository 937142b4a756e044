#include "bindings/signature.h"

#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "bindings/environment.h"
#include "bindings/tensor.h"
#include "eager/signature.h"
#include "elaborate/annotations.h"

namespace sardonyx::python {

namespace {

using elaborate::Annotation;

// An annotation that is none of a script says nothing.
Annotation read_annotation(nb::handle object) {
    return elaborate::annotation_of(object_from_python(object)).value_or(Annotation());
}

// One of each result; of a tuple of any length, one.
nb::tuple result_types(nb::handle object) {
    nb::list types;
    for (const elaborate::Object& one :
         elaborate::annotated_results(object_from_python(object), 1)) {
        Annotation annotation = elaborate::annotation_of(one).value_or(Annotation());
        types.append(static_cast<int>(annotation.element_type()));
    }
    return nb::tuple(types);
}

// None: of an attribute.
std::optional<int> element_type(const Annotation& self) {
    return self.is_attribute ? std::nullopt : std::optional(static_cast<int>(self.element_type()));
}

bool takes_number(const Annotation& self) {
    return (self.attribute_type == ir::AttributeType::kInt && !self.is_bool) ||
           self.attribute_type == ir::AttributeType::kFloat;
}

// Of a sequence of tensors, which may be absent.
bool is_sequence(const Annotation& self) {
    const Type& type = self.type.kind() == TypeKind::kOptional ? self.type.element() : self.type;
    return type.kind() == TypeKind::kSequence && type.element().is_tensor();
}

// 0: it is no map, or says nothing of its values.
int map_value_type(const Annotation& self) {
    bool is_map = self.type.kind() == TypeKind::kMap && self.type.element().is_tensor();
    return is_map ? static_cast<int>(self.type.element().element_type()) : 0;
}

// The tensor types of a script's parameters, and how a call of Python names them.
class Signature {
  public:
    // (name, annotation, whether it is keyword-only), in order.
    Signature(std::string function, const nb::list& parameters)
        : signature_(std::move(function), read(parameters)) {
        for (nb::handle one : parameters) {
            keys_.push_back({nb::object(one[0]), nb::cast<bool>(one[2])});
        }
    }

    // Whether a call has anything to check.
    bool has_types() const { return signature_.has_types(); }

    void check(const nb::list& positional, const nb::dict& named) const {
        auto tensors_of = [&](size_t i, auto visit) {
            const Key& key = keys_[i];
            nb::handle value =
                !key.is_keyword && i < positional.size()
                    ? nb::handle(positional[i])
                    : nb::handle(PyDict_GetItemWithError(named.ptr(), key.name.ptr()));
            if (!value.is_valid()) {
                return;
            }
            if (const Tensor* tensor = held_tensor(value)) {
                visit(*tensor, false);
            } else if (PyList_Check(value.ptr())) {
                for (nb::handle item : nb::borrow<nb::list>(value)) {
                    const Tensor* held = held_tensor(item);
                    if (held != nullptr && !visit(*held, true)) {
                        return;
                    }
                }
            }
        };
        if (std::optional<std::string> problem = signature_.problem(tensors_of)) {
            raise(PyExc_TypeError, *problem);
        }
    }

  private:
    struct Key {
        nb::object name;
        bool is_keyword;
    };

    // Null: it is no tensor.
    static const Tensor* held_tensor(nb::handle object) {
        const PyTensor* tensor = as_tensor(object);
        return tensor != nullptr && tensor->value.is_tensor() ? &tensor->tensor() : nullptr;
    }

    static std::vector<eager::Signature::Parameter> read(const nb::list& parameters) {
        std::vector<eager::Signature::Parameter> read;
        for (nb::handle one : parameters) {
            const auto& annotation = nb::cast<const Annotation&>(nb::object(one[1]));
            Type type = annotation.type;
            if (type.is_tensor() && !annotation.explicit_shape) {
                type.set_shape(std::nullopt);
            }
            read.push_back({text_from_python(nb::object(one[0])), std::move(type)});
        }
        return read;
    }

    eager::Signature signature_;
    std::vector<Key> keys_;
};

}  // namespace

void bind_signature(nb::module_& m) {
    nb::class_<Annotation>(m, "Annotation")
        .def_prop_ro("element_type", element_type)
        .def_prop_ro("is_sequence", is_sequence)
        .def_prop_ro("map_value_type", map_value_type)
        .def_prop_ro("takes_number", takes_number);
    m.def("read_annotation", read_annotation, nb::arg("annotation").none());
    m.def("result_types", result_types, nb::arg("annotation").none());
    nb::class_<Signature>(m, "Signature")
        .def(nb::init<std::string, const nb::list&>(), nb::arg("function"), nb::arg("parameters"))
        .def_prop_ro("has_types", &Signature::has_types)
        .def("check", &Signature::check, nb::arg("positional"), nb::arg("named"));
}

}  // namespace sardonyx::python
