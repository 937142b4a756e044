#include "bindings/signature.h"

#include <optional>
#include <vector>

#include "bindings/call.h"
#include "bindings/tensor.h"
#include "eager/signature.h"

namespace sardonyx::python {

namespace {

// The tensor types of a script's parameters, and how a call of Python names them.
class Signature {
  public:
    // (name, annotation, whether it is keyword-only, whether its shape counts), in order; an
    // annotation that is no tensor type is None.
    Signature(std::string function, const nb::list& parameters)
        : signature_(std::move(function), read(parameters)) {
        for (nb::handle one : parameters) {
            keys_.push_back({nb::object(one[0]), nb::cast<bool>(one[2])});
        }
    }

    void check(const nb::list& positional, const nb::dict& named) const {
        auto tensor_of = [&](size_t i) -> const Tensor* {
            const Key& key = keys_[i];
            nb::handle value =
                !key.is_keyword && i < positional.size()
                    ? nb::handle(positional[i])
                    : nb::handle(PyDict_GetItemWithError(named.ptr(), key.name.ptr()));
            const PyTensor* tensor = value.is_valid() ? as_tensor(value) : nullptr;
            return tensor != nullptr && tensor->value.is_tensor() ? &tensor->tensor() : nullptr;
        };
        if (std::optional<std::string> problem = signature_.problem(tensor_of)) {
            raise(PyExc_TypeError, *problem);
        }
    }

  private:
    struct Key {
        nb::object name;
        bool is_keyword;
    };

    static std::vector<eager::Signature::Parameter> read(const nb::list& parameters) {
        std::vector<eager::Signature::Parameter> read;
        for (nb::handle one : parameters) {
            nb::object annotation = one[1];
            Type type = annotation.is_none() ? Type() : type_from_python(annotation);
            if (type.is_tensor() && !nb::cast<bool>(one[3])) {
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
    nb::class_<Signature>(m, "Signature")
        .def(nb::init<std::string, const nb::list&>(), nb::arg("function"), nb::arg("parameters"))
        .def("check", &Signature::check, nb::arg("positional"), nb::arg("named"));
}

}  // namespace sardonyx::python
