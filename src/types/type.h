// Types of values: tensor, sparse tensor, sequence, optional, map; as far as they are known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/dim.h"
#include "types/element_type.h"

namespace sardonyx {

using Shape = std::vector<Dim>;

enum class TypeKind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap };
// "tensor", "sparse_tensor" ...; "unknown".
std::string_view name(TypeKind kind);

class Type {
  public:
    Type() = default;  // nothing known

    // An unknown element type is ElementType::kUndefined; no shape means that the rank is unknown.
    static Type tensor(ElementType element_type, std::optional<Shape> shape = std::nullopt);
    static Type sparse_tensor(ElementType element_type, std::optional<Shape> shape = std::nullopt);
    static Type sequence(Type element);
    static Type optional(Type element);
    static Type map(ElementType key, Type value);

    TypeKind kind() const { return kind_; }
    bool is_known() const { return kind_ != TypeKind::kUnknown; }
    bool is_tensor() const { return kind_ == TypeKind::kTensor; }

    // Of a tensor or sparse tensor; the key's of a map; else kUndefined.
    ElementType element_type() const { return element_type_; }
    void set_element_type(ElementType type) { element_type_ = type; }
    bool has_shape() const { return shape_.has_value(); }
    // has_shape() must hold.
    const Shape& shape() const { return *shape_; }
    const std::optional<Shape>& maybe_shape() const { return shape_; }
    void set_shape(std::optional<Shape> shape) { shape_ = std::move(shape); }

    // The element of a sequence or optional, the value of a map; the unknown type otherwise.
    const Type& element() const;

    // "FLOAT[2,N]", "FLOAT[...]" (rank unknown), "FLOAT" (rank 0), "?" (nothing known),
    // "?[2]" (element type unknown),
    // "Sequence[FLOAT[N]]", "Optional[...]", "Map[INT64, FLOAT]", "SparseTensor[FLOAT[2]]".
    std::string to_string() const;

    // Same in all that is known; unknown dims equal each other here.
    friend bool operator==(const Type& a, const Type& b);

  private:
    TypeKind kind_ = TypeKind::kUnknown;
    ElementType element_type_ = ElementType::kUndefined;
    std::optional<Shape> shape_;
    std::shared_ptr<const Type> element_;
};

bool same_shape(const Shape& a, const Shape& b);  // unknown dims equal each other here

// What both describe: dims that are not certainly equal become unknown, other ranks no shape, other
// element types kUndefined. Other kinds: the unknown type.
Type join(const Type& a, const Type& b);

// All that either knows, for two descriptions of one value. Nothing when they contradict each
// other. Where both dims are known and not certainly different, a number wins over an expression,
// else `a`.
std::optional<Type> merge(const Type& a, const Type& b);

// Parses what to_string() prints. Empty: not a type.
std::optional<Type> parse_type(std::string_view text);

}  // namespace sardonyx
