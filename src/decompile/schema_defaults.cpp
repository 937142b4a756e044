#include "decompile/schema_defaults.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sardonyx::decompile {
namespace {

template <typename T>
bool same_items(const std::vector<T>* items, std::span<const T> other) {
    return items != nullptr && std::equal(items->begin(), items->end(), other.begin(), other.end());
}

bool same_bits(float a, float b) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

bool is_schema_default(const ops::AttributeSchema& schema, const ir::Attribute& attribute) {
    switch (schema.type) {
        case ops::AttributeType::kInt: {
            const auto* value = attribute.get<int64_t>();
            return value != nullptr && *value == schema.default_int;
        }
        case ops::AttributeType::kFloat: {
            const auto* value = attribute.get<float>();
            return value != nullptr && same_bits(*value, schema.default_float);
        }
        case ops::AttributeType::kString: {
            const auto* value = attribute.get<std::string>();
            return value != nullptr && *value == schema.default_string;
        }
        case ops::AttributeType::kInts:
            return same_items(attribute.get<std::vector<int64_t>>(), schema.default_ints);
        default:
            return false;
    }
}

}  // namespace

bool is_default_of(const ops::Schema* schema, const ir::Attribute& attribute) {
    const ops::AttributeSchema* row =
        schema != nullptr ? schema->find_attribute(attribute.name) : nullptr;
    return row != nullptr && row->has_default && !attribute.is_reference() &&
           is_schema_default(*row, attribute);
}

}  // namespace sardonyx::decompile
