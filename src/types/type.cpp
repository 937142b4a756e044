#include "types/type.h"

#include <utility>

#include "types/dim_expression.h"

namespace sardonyx {
namespace {

const Type kUnknownType;

bool has_element(TypeKind kind) {
    return kind == TypeKind::kSequence || kind == TypeKind::kOptional || kind == TypeKind::kMap;
}

// As Dim::to_string, but with a name that is no identifier always in quotes, so that commas and
// brackets in it do not end the dim.
std::string dim_text(const Dim& dim) {
    return dim.is_symbolic() ? dim.expression()->text : dim.to_string();
}

bool same_dim(const Dim& a, const Dim& b) {
    return (a.is_unknown() && b.is_unknown()) || a.equals(b);
}

std::string tensor_text(ElementType element_type, const std::optional<Shape>& shape) {
    bool has_name = element_type != ElementType::kUndefined;
    std::string text(has_name ? name(element_type) : "?");
    if (!shape.has_value()) {
        return text + "[...]";
    }
    if (shape->empty()) {
        return has_name ? text : text + "[]";
    }
    text += '[';
    for (size_t i = 0; i < shape->size(); ++i) {
        text += i > 0 ? ", " : "";
        text += dim_text((*shape)[i]);
    }
    return text + ']';
}

}  // namespace

Type Type::tensor(ElementType element_type, std::optional<Shape> shape) {
    Type type;
    type.kind_ = TypeKind::kTensor;
    type.element_type_ = element_type;
    type.shape_ = std::move(shape);
    return type;
}

Type Type::sparse_tensor(ElementType element_type, std::optional<Shape> shape) {
    Type type = tensor(element_type, std::move(shape));
    type.kind_ = TypeKind::kSparseTensor;
    return type;
}

Type Type::sequence(Type element) {
    Type type;
    type.kind_ = TypeKind::kSequence;
    type.element_ = std::make_shared<const Type>(std::move(element));
    return type;
}

Type Type::optional(Type element) {
    Type type = sequence(std::move(element));
    type.kind_ = TypeKind::kOptional;
    return type;
}

Type Type::map(ElementType key, Type value) {
    Type type = sequence(std::move(value));
    type.kind_ = TypeKind::kMap;
    type.element_type_ = key;
    return type;
}

const Type& Type::element() const {
    return element_ != nullptr ? *element_ : kUnknownType;
}

std::string_view name(TypeKind kind) {
    switch (kind) {
        case TypeKind::kTensor:
            return "tensor";
        case TypeKind::kSparseTensor:
            return "sparse_tensor";
        case TypeKind::kSequence:
            return "sequence";
        case TypeKind::kOptional:
            return "optional";
        case TypeKind::kMap:
            return "map";
        case TypeKind::kUnknown:
            break;
    }
    return "unknown";
}

std::string Type::to_string() const {
    switch (kind_) {
        case TypeKind::kTensor:
            return tensor_text(element_type_, shape_);
        case TypeKind::kSparseTensor:
            return "SparseTensor[" + tensor_text(element_type_, shape_) + "]";
        case TypeKind::kSequence:
            return "Sequence[" + element().to_string() + "]";
        case TypeKind::kOptional:
            return "Optional[" + element().to_string() + "]";
        case TypeKind::kMap:
            return "Map[" +
                   std::string(element_type_ == ElementType::kUndefined ? "?"
                                                                        : name(element_type_)) +
                   ", " + element().to_string() + "]";
        default:
            return "?";
    }
}

bool operator==(const Type& a, const Type& b) {
    if (a.kind_ != b.kind_ || a.element_type_ != b.element_type_ ||
        a.shape_.has_value() != b.shape_.has_value()) {
        return false;
    }
    if (a.shape_.has_value() && !same_shape(*a.shape_, *b.shape_)) {
        return false;
    }
    return a.element_ == b.element_ || a.element() == b.element();
}

bool same_shape(const Shape& a, const Shape& b) {
    if (a.size() != b.size()) {
        return false;
    }
    for (size_t i = 0; i < a.size(); ++i) {
        if (!same_dim(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

namespace {

Type with_element(TypeKind kind, ElementType key, Type element) {
    switch (kind) {
        case TypeKind::kSequence:
            return Type::sequence(std::move(element));
        case TypeKind::kOptional:
            return Type::optional(std::move(element));
        default:
            return Type::map(key, std::move(element));
    }
}

std::optional<Shape> join_shapes(const std::optional<Shape>& a, const std::optional<Shape>& b) {
    if (!a.has_value() || !b.has_value() || a->size() != b->size()) {
        return std::nullopt;
    }
    Shape shape(a->size());
    for (size_t i = 0; i < shape.size(); ++i) {
        if ((*a)[i].equals((*b)[i])) {
            shape[i] = (*a)[i];
        }
    }
    return shape;
}

// False: they contradict each other.
bool merge_into(Shape& shape, const Shape& other) {
    if (shape.size() != other.size()) {
        return false;
    }
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i].differs(other[i])) {
            return false;
        }
        if (shape[i].is_unknown() || other[i].is_static()) {
            shape[i] = other[i];
        }
    }
    return true;
}

}  // namespace

Type join(const Type& a, const Type& b) {
    if (a.kind() != b.kind() || !a.is_known()) {
        return Type();
    }
    ElementType element_type =
        a.element_type() == b.element_type() ? a.element_type() : ElementType::kUndefined;
    if (has_element(a.kind())) {
        return with_element(a.kind(), element_type, join(a.element(), b.element()));
    }
    Type result = a;
    result.set_element_type(element_type);
    result.set_shape(join_shapes(a.maybe_shape(), b.maybe_shape()));
    return result;
}

std::optional<Type> merge(const Type& a, const Type& b) {
    if (!a.is_known() || !b.is_known()) {
        return a.is_known() ? a : b;
    }
    bool one_is_undefined =
        a.element_type() == ElementType::kUndefined || b.element_type() == ElementType::kUndefined;
    if (a.kind() != b.kind() || (!one_is_undefined && a.element_type() != b.element_type())) {
        return std::nullopt;
    }
    ElementType element_type =
        a.element_type() != ElementType::kUndefined ? a.element_type() : b.element_type();
    if (has_element(a.kind())) {
        std::optional<Type> element = merge(a.element(), b.element());
        if (!element.has_value()) {
            return std::nullopt;
        }
        return with_element(a.kind(), element_type, std::move(*element));
    }
    std::optional<Shape> shape = a.has_shape() ? a.maybe_shape() : b.maybe_shape();
    if (shape.has_value() && b.has_shape() && !merge_into(*shape, b.shape())) {
        return std::nullopt;
    }
    Type result = a;
    result.set_element_type(element_type);
    result.set_shape(std::move(shape));
    return result;
}

}  // namespace sardonyx
