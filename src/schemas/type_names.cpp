#include "schemas/type_names.h"

#include <algorithm>

namespace sardonyx::schemas {
namespace {

// In the order of AttributeType, from 1 on.
constexpr std::string_view kAttributeTypes[] = {
    "float",   "int",     "string", "tensor",        "graph",          "floats", "ints",
    "strings", "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type",   "types"};

// The text between `before` and "]"; nothing when it does not begin so.
std::optional<std::string_view> inside(std::string_view text, std::string_view before) {
    bool fits = text.size() > before.size() && text.substr(0, before.size()) == before &&
                text.back() == ']';
    return fits ? std::optional(text.substr(before.size(), text.size() - before.size() - 1))
                : std::nullopt;
}

bool add_element(std::string_view name, ops::ElementMask& mask) {
    ElementType type = element_type_from_name(name);
    if (type == ElementType::kUndefined) {
        return false;
    }
    mask |= ops::element_bit(type);
    return true;
}

}  // namespace

bool add_type(std::string_view text, ops::TypeSet& types) {
    if (text == "any") {
        constexpr ops::ElementMask kAll = ((ops::ElementMask{1} << kElementTypeCount) - 1) & ~1U;
        types = {kAll, kAll, kAll, kAll, true};
        return true;
    }
    if (std::optional<std::string_view> inner = inside(text, "Optional[Sequence[")) {
        return !inner->empty() && inner->back() == ']' &&
               add_element(inner->substr(0, inner->size() - 1), types.optional_sequence);
    }
    if (std::optional<std::string_view> inner = inside(text, "Optional[")) {
        return add_element(*inner, types.optional_tensor);
    }
    if (std::optional<std::string_view> inner = inside(text, "Sequence[")) {
        return add_element(*inner, types.sequence);
    }
    return add_element(text, types.tensor);
}

std::optional<ops::AttributeType> attribute_type(std::string_view text) {
    const auto* found = std::find(std::begin(kAttributeTypes), std::end(kAttributeTypes), text);
    if (found == std::end(kAttributeTypes)) {
        return std::nullopt;
    }
    return static_cast<ops::AttributeType>(found - std::begin(kAttributeTypes) + 1);
}

std::span<const std::string_view> attribute_type_names() {
    return kAttributeTypes;
}

}  // namespace sardonyx::schemas
