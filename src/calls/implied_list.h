// Which attribute a list is where no schema says it.
#pragma once

#include <cstdint>

#include "types/attribute_type.h"

namespace sardonyx::calls {

enum class ListItem : uint8_t { kInt, kFloat, kText, kOther };

// By its items: an int among floats is a float. kUndefined: it is empty, or they differ.
template <typename Items, typename KindOf>
AttributeType implied_list_type(const Items& items, const KindOf& kind_of) {
    bool any_int = false, any_float = false, any_text = false;
    for (const auto& item : items) {
        ListItem kind = kind_of(item);
        if (kind == ListItem::kOther) {
            return AttributeType::kUndefined;
        }
        any_int = any_int || kind == ListItem::kInt;
        any_float = any_float || kind == ListItem::kFloat;
        any_text = any_text || kind == ListItem::kText;
    }
    bool any_number = any_int || any_float;
    if (any_text) {
        return any_number ? AttributeType::kUndefined : AttributeType::kStrings;
    }
    return any_float ? AttributeType::kFloats
           : any_int ? AttributeType::kInts
                     : AttributeType::kUndefined;
}

}  // namespace sardonyx::calls
