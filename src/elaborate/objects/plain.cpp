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
    return object.is_number() || object.is_none() || object.is(ObjectKind::kString) ||
           object.is(ObjectKind::kBytes) || object.is(ObjectKind::kConstant) ||
           object.is(ObjectKind::kElementType) || object.is(ObjectKind::kType) ||
           object.is(ObjectKind::kOpset) || object.is(ObjectKind::kRange);
}

}  // namespace sardonyx::elaborate
