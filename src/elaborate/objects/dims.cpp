#include "elaborate/objects/dims.h"

#include "elaborate/objects/object.h"
#include "types/dim_expression.h"
#include "types/dim_names.h"

namespace sardonyx::elaborate {
namespace {

// The name that the dim is; null for a number or a larger expression.
const std::string* sole_name(const Dim& dim) {
    const DimFactor* symbol = as_function(dim, FactorKind::kSymbol);
    return symbol != nullptr ? &symbol->name : nullptr;
}

// Whether no number lies between the bounds of both, whose names need not mean the same.
bool lie_apart(const Dim& a, const Dim& b) {
    if (a.is_static() && b.is_static()) {
        return a.value() != b.value();
    }
    return !a.is_unknown() && !b.is_unknown() &&
           intersection(bounds_of(a), bounds_of(b)).is_empty();
}

bool same_rank(const Type& a, const Type& b) {
    return a.has_shape() && b.has_shape() && a.shape().size() == b.shape().size();
}

}  // namespace

void DimBindings::bind(const Type& annotation, const Type& found, diagnostics::Span where) {
    if (annotation.kind() == TypeKind::kSequence || annotation.kind() == TypeKind::kOptional) {
        bind(annotation.element(), found.element(), where);
        return;
    }
    if (!same_rank(annotation, found)) {
        return;
    }
    for (size_t i = 0; i < annotation.shape().size(); ++i) {
        const std::string* name = sole_name(annotation.shape()[i]);
        if (name != nullptr && !found.shape()[i].is_unknown()) {
            bindings_.try_emplace(*name, Binding{found.shape()[i], where});
        }
    }
}

Dim DimBindings::value_of(const Dim& dim, Unbound unbound) const {
    return dim.substitute([this, unbound](std::string_view symbol) {
        auto found = bindings_.find(symbol);
        return found != bindings_.end()       ? found->second.dim
               : unbound == Unbound::kUnknown ? Dim()
                                              : Dim::symbol(symbol);
    });
}

std::optional<DimBindings::Conflict> DimBindings::conflict(const Type& annotation,
                                                           const Type& found) const {
    if (annotation.kind() == TypeKind::kSequence || annotation.kind() == TypeKind::kOptional) {
        return annotation.kind() == found.kind() ? conflict(annotation.element(), found.element())
                                                 : std::nullopt;
    }
    if (!same_rank(annotation, found)) {
        return std::nullopt;
    }
    for (size_t i = 0; i < annotation.shape().size(); ++i) {
        const Dim& annotated = annotation.shape()[i];
        bool is_outside = lie_apart(annotated, found.shape()[i]);
        if (!is_outside && !value_of(annotated, Unbound::kUnknown).differs(found.shape()[i])) {
            continue;
        }
        Conflict conflict{annotated, found.shape()[i], {}, {}, is_outside};
        for (const std::string& symbol : symbols_of(annotated)) {
            auto bound = bindings_.find(symbol);
            if (bound != bindings_.end() && conflict.name.empty()) {
                conflict.name = bound->first;
                conflict.binding = bound->second;
            }
        }
        return conflict;
    }
    return std::nullopt;
}

Type DimBindings::substitute(const Type& annotation, Unbound unbound) const {
    if (annotation.kind() == TypeKind::kSequence) {
        return Type::sequence(substitute(annotation.element(), unbound));
    }
    if (annotation.kind() == TypeKind::kOptional) {
        return Type::optional(substitute(annotation.element(), unbound));
    }
    if (!annotation.has_shape()) {
        return annotation;
    }
    Shape shape;
    for (const Dim& dim : annotation.shape()) {
        shape.push_back(value_of(dim, unbound));
    }
    Type result = annotation;
    result.set_shape(std::move(shape));
    return result;
}

}  // namespace sardonyx::elaborate
