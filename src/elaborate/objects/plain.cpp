#include "elaborate/objects/plain.h"

#include <algorithm>

namespace sardonyx::elaborate {

bool is_plain(const Object& object) {
    if (object.is_sequence() || object.is(ObjectKind::kSet)) {
        return std::all_of(object.items().begin(), object.items().end(), is_plain);
    }
    if (object.is(ObjectKind::kDict)) {
        const auto& items = object.get<DictObject>().items;
        return std::all_of(items.begin(), items.end(), [](const auto& item) {
            return is_plain(item.first) && is_plain(item.second);
        });
    }
    return object.is_number() || object.is_none() || object.is_text() ||
           object.is(ObjectKind::kConstant) || object.is(ObjectKind::kElementType) ||
           object.is(ObjectKind::kType) || object.is(ObjectKind::kOpset) ||
           object.is(ObjectKind::kRange);
}

bool is_held_by_call(const Object& object, int holders) {
    bool is_dict = object.is(ObjectKind::kDict), is_set = object.is(ObjectKind::kSet);
    bool is_changeable = is_dict || is_set || object.is(ObjectKind::kList);
    if (is_changeable && object.pointer().use_count() > holders) {
        return false;
    }
    if (is_set || object.is_sequence()) {
        return std::all_of(object.items().begin(), object.items().end(),
                           [](const Object& item) { return is_held_by_call(item); });
    }
    if (is_dict) {
        const auto& items = object.get<DictObject>().items;
        return std::all_of(items.begin(), items.end(),
                           [](const auto& item) { return is_held_by_call(item.second); });
    }
    return object.is_number() || object.is_none() || object.is_text();
}

}  // namespace sardonyx::elaborate
