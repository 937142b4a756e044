#include "eager/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "types/annotation_dims.h"
#include "types/dim_expression.h"
#include "types/numpy_names.h"

namespace sardonyx::eager {

namespace {

// An input that may be absent, or is sparse in a model, is a tensor where it is given.
Type type_of_given(const Type& type) {
    const Type& inner = type.kind() == TypeKind::kOptional ? type.element() : type;
    return inner.kind() == TypeKind::kSparseTensor
               ? Type::tensor(inner.element_type(), inner.maybe_shape())
               : inner;
}

}  // namespace

Signature::Signature(std::string function, const std::vector<Parameter>& parameters)
    : function_(std::move(function)) {
    for (const Parameter& parameter : parameters) {
        Annotated& one = parameters_.emplace_back();
        one.name = parameter.name;
        Type type = type_of_given(parameter.type);
        one.is_sequence = type.kind() == TypeKind::kSequence && type.element().is_tensor();
        one.text = type.to_string();
        const Type& of_tensors = one.is_sequence ? type.element() : type;
        if (!of_tensors.is_tensor()) {
            continue;
        }
        one.element_type = of_tensors.element_type();
        if (!of_tensors.has_shape()) {
            continue;
        }
        one.dims.emplace();
        for (const Dim& dim : of_tensors.shape()) {
            one.dims->push_back({dim, dim.is_symbolic() ? number_of(dim) : -1});
        }
    }
}

bool Signature::has_types() const {
    return std::any_of(parameters_.begin(), parameters_.end(), [](const Annotated& one) {
        return one.element_type != ElementType::kUndefined || one.dims;
    });
}

// -1: an expression of names.
int Signature::number_of(const Dim& dim) {
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

// Names that no argument before has bound leave it open.
Dim Signature::known(const Dim& dim, const std::vector<int64_t>& sizes) const {
    return dim.substitute([&](std::string_view name) {
        auto found = std::find(names_.begin(), names_.end(), name);
        int64_t size =
            found != names_.end() ? sizes[static_cast<size_t>(found - names_.begin())] : -1;
        return size < 0 ? Dim() : Dim(size);
    });
}

std::optional<std::string> Signature::check_one(const Annotated& one, const Tensor& tensor,
                                                std::vector<int64_t>& sizes) const {
    if (one.element_type != ElementType::kUndefined && one.element_type != tensor.element_type()) {
        return words(one, tensor, "") +
               (one.is_sequence
                    ? ""
                    : conversion_help(one.name, tensor.element_type(), one.element_type));
    }
    if (!one.dims) {
        return std::nullopt;
    }
    const Dims& found = tensor.dims();
    if (found.size() != one.dims->size()) {
        return words(one, tensor, "");
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
            return words(one, tensor,
                         wanted.dim.is_symbolic()
                             ? fmt::format("`{}` is {}", wanted.dim.to_string(), size.value())
                             : "");
        }
        if (intersection(bounds_of(wanted.dim), {found[axis], found[axis]}).is_empty()) {
            return words(one, tensor,
                         fmt::format("its annotation says `{}`", annotation_of_dim(wanted.dim)));
        }
    }
    return std::nullopt;
}

std::string Signature::not_a_list(const Annotated& one, const Tensor& tensor) const {
    return fmt::format("`{}` of `{}` is `{}`, and `{}` is given: give a list of tensors", one.name,
                       function_, one.text, tensor.type().to_string());
}

std::string Signature::words(const Annotated& one, const Tensor& tensor,
                             std::string_view why) const {
    return fmt::format("`{}` of `{}` is `{}`, and `{}` is {}{}{}", one.name, function_, one.text,
                       tensor.type().to_string(), one.is_sequence ? "in it" : "given",
                       why.empty() ? "" : ": ", why);
}

}  // namespace sardonyx::eager
