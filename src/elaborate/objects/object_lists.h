// How lists lie in each other among objects, for the readers of lowering/literal.h.
#pragma once

#include <cstdint>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

struct ObjectLists {
    bool is_list(const Object& object) const {
        return object.is_sequence() || object.is(ObjectKind::kRange);
    }
    int64_t size(const Object& object) const {
        return object.is_sequence() ? static_cast<int64_t>(object.items().size())
                                    : object.get<RangeObject>().size();
    }
    template <typename Visit>
    void each(const Object& object, const Visit& visit) const {
        if (object.is_sequence()) {
            for (const Object& item : object.items()) {
                if (!visit(item)) {
                    return;
                }
            }
            return;
        }
        const RangeObject& range = object.get<RangeObject>();
        for (int64_t i = 0; i < range.size(); ++i) {
            if (!visit(Object::integer(range.start + i * range.step))) {
                return;
            }
        }
    }
};

}  // namespace sardonyx::elaborate
