// sorted() and list.sort().

#include "elaborate/library/sorting.h"

#include <algorithm>
#include <utility>

#include "elaborate/emit/interpreter.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/operators/equality.h"

namespace sardonyx::elaborate {

Object sorted_list(Context& c, std::vector<Object> items, const Object& key, bool reverse,
                   syntax::Range range) {
    std::vector<std::pair<Object, Object>> keyed;
    for (Object& item : items) {
        Arguments one;
        one.positional = {item};
        one.ranges = {range};
        one.range = one.callee_range = range;
        keyed.emplace_back(key.is_none() ? item : call(c, key, one), item);
        if (keyed.back().first.is_error()) {
            return Object::error();
        }
    }
    bool failed = false;
    auto is_before = [&](const auto& x, const auto& y) {
        Object less = failed ? Object::boolean(false)
                             : certain_compare(c, syntax::CompareOp::kLt, x.first, y.first, range);
        failed = failed || less.is_error();
        return !failed && less.as_bool();
    };
    // Equal ones keep their order in both directions.
    if (reverse) {
        std::reverse(keyed.begin(), keyed.end());
    }
    std::stable_sort(keyed.begin(), keyed.end(), is_before);
    if (reverse) {
        std::reverse(keyed.begin(), keyed.end());
    }
    for (size_t i = 0; i < items.size(); ++i) {
        items[i] = keyed[i].second;
    }
    return failed ? Object::error() : Object::list(std::move(items));
}

}  // namespace sardonyx::elaborate
