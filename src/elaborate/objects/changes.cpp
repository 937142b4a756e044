// The log of changes of static objects.

#include "elaborate/objects/changes.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {
namespace {

// Copying eight objects is about as much work as a step.
constexpr size_t kObjectsPerStep = 8;

void count_steps(Context& c, size_t objects) {
    c.steps += static_cast<int64_t>(objects / kObjectsPerStep);
}

template <typename Contents>
void keep_copy(Context& c, const Object& object) {
    c.changes.push_back({object, [before = object.get<Contents>()](const Object& changed) {
                             changed.get<Contents>() = before;
                         }});
}

}  // namespace

void log_change(Context& c, const Object& object, std::function<void(const Object&)> take_back) {
    c.changes.push_back({object, c.open_trials == 0 ? nullptr : std::move(take_back)});
}

void log_replacement(Context& c, const Object& object) {
    if (object.is_sequence() || object.is(ObjectKind::kSet)) {
        count_steps(c, object.items().size());
    }
    if (c.open_trials == 0) {
        c.changes.push_back({object, nullptr});
    } else if (object.is(ObjectKind::kDict)) {
        count_steps(c, 2 * object.get<DictObject>().items.size());
        keep_copy<DictObject>(c, object);
    } else if (object.is(ObjectKind::kConstant)) {
        keep_copy<Tensor>(c, object);
    } else {
        keep_copy<std::vector<Object>>(c, object);
    }
}

}  // namespace sardonyx::elaborate
