#include "bindings/signature.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "bindings/call.h"
#include "bindings/tensor.h"
#include "types/type.h"

namespace sardonyx::python {

namespace {

struct AnnotatedDim {
    Dim dim;
    int symbol = -1;  // its number among the names of the signature, where it is a name alone
};

struct AnnotatedParameter {
    std::string name;
    nb::object key;  // the name
    bool is_keyword = false;
    ElementType element_type = ElementType::kUndefined;
    std::optional<std::vector<AnnotatedDim>> dims;  // nothing: any shape
    std::string text;                               // of the type, for messages
};

// The tensor types of a script's parameters.
class Signature {
  public:
    // (name, annotation, whether it is keyword-only, whether its shape counts), in order; an
    // annotation that is no tensor type is None.
    Signature(std::string function, const nb::list& parameters) : function_(std::move(function)) {
        for (nb::handle one : parameters) {
            parameters_.push_back(read(nb::borrow<nb::tuple>(one)));
        }
    }

    void check(const nb::list& positional, const nb::dict& named) const {
        std::vector<int64_t> sizes(names_.size(), -1);
        for (size_t i = 0; i < parameters_.size(); ++i) {
            const AnnotatedParameter& one = parameters_[i];
            nb::handle value =
                !one.is_keyword && i < positional.size()
                    ? nb::handle(positional[i])
                    : nb::handle(PyDict_GetItemWithError(named.ptr(), one.key.ptr()));
            const PyTensor* tensor = value.is_valid() ? as_tensor(value) : nullptr;
            if (tensor != nullptr && tensor->value.is_tensor()) {
                check_one(one, tensor->tensor(), sizes);
            }
        }
    }

  private:
    AnnotatedParameter read(const nb::tuple& given) {
        AnnotatedParameter one;
        one.key = given[0];
        one.name = text_from_python(given[0]);
        one.is_keyword = nb::cast<bool>(given[2]);
        Type type = given[1].is_none() ? Type() : type_from_python(given[1]);
        if (!type.is_tensor()) {
            return one;
        }
        if (!nb::cast<bool>(given[3])) {
            type.set_shape(std::nullopt);
        }
        one.element_type = type.element_type();
        one.text = type.to_string();
        if (!type.has_shape()) {
            return one;
        }
        one.dims.emplace();
        for (const Dim& dim : type.shape()) {
            one.dims->push_back({dim, dim.is_symbolic() ? number_of(dim) : -1});
        }
        return one;
    }

    // -1: an expression of names.
    int number_of(const Dim& dim) {
        std::string text = dim.to_string();
        if (!dim.equals(Dim::symbol(text))) {
            return -1;
        }
        auto found = std::find(names_.begin(), names_.end(), text);
        if (found == names_.end()) {
            names_.push_back(text);
            return static_cast<int>(names_.size()) - 1;
        }
        return static_cast<int>(found - names_.begin());
    }

    void check_one(const AnnotatedParameter& one, const Tensor& tensor,
                   std::vector<int64_t>& sizes) const {
        if (one.element_type != ElementType::kUndefined &&
            one.element_type != tensor.element_type()) {
            refuse(one, tensor, "");
        }
        if (!one.dims) {
            return;
        }
        const Dims& found = tensor.dims();
        if (found.size() != one.dims->size()) {
            refuse(one, tensor, "");
        }
        for (size_t axis = 0; axis < found.size(); ++axis) {
            const AnnotatedDim& wanted = (*one.dims)[axis];
            if (wanted.symbol >= 0 && sizes[static_cast<size_t>(wanted.symbol)] < 0) {
                sizes[static_cast<size_t>(wanted.symbol)] = found[axis];
            }
            Dim size = wanted.symbol >= 0         ? Dim(sizes[static_cast<size_t>(wanted.symbol)])
                       : wanted.dim.is_symbolic() ? known(wanted.dim, sizes)
                                                  : wanted.dim;
            if (size.is_static() && size.value() != found[axis]) {
                refuse(one, tensor,
                       wanted.dim.is_symbolic()
                           ? "`" + wanted.dim.to_string() + "` is " + std::to_string(size.value())
                           : "");
            }
        }
    }

    // Names that no argument before has bound leave it open.
    Dim known(const Dim& dim, const std::vector<int64_t>& sizes) const {
        return dim.substitute([&](std::string_view name) {
            auto found = std::find(names_.begin(), names_.end(), name);
            int64_t size =
                found != names_.end() ? sizes[static_cast<size_t>(found - names_.begin())] : -1;
            return size < 0 ? Dim() : Dim(size);
        });
    }

    [[noreturn]] void refuse(const AnnotatedParameter& one, const Tensor& tensor,
                             const std::string& why) const {
        raise(PyExc_TypeError, "`" + one.name + "` of `" + function_ + "` is `" + one.text +
                                   "`, and `" + tensor.type().to_string() + "` is given" +
                                   (why.empty() ? "" : ": " + why));
    }

    std::string function_;
    std::vector<AnnotatedParameter> parameters_;
    std::vector<std::string> names_;  // of dimensions
};

}  // namespace

void bind_signature(nb::module_& m) {
    nb::class_<Signature>(m, "Signature")
        .def(nb::init<std::string, const nb::list&>(), nb::arg("function"), nb::arg("parameters"))
        .def("check", &Signature::check, nb::arg("positional"), nb::arg("named"));
}

}  // namespace sardonyx::python
