// Comparisons of static objects whose answer is not what comparing their parts gives.
#include "elaborate/objects/doubtful.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

namespace {

bool holds_nan(const Object& object, int depth = 0) {
    if (object.is(ObjectKind::kFloat)) {
        return std::isnan(object.as_double());
    }
    bool found = depth > kDeepest;
    each_part(object, [&](const Object& part) { found = found || holds_nan(part, depth + 1); });
    return found;
}

// An array with dimensions, whose comparison with anything is an array.
bool holds_array(const Object& object, int depth = 0) {
    if (object.is(ObjectKind::kConstant)) {
        return !object.get<Tensor>().dims().empty();
    }
    bool found = false;
    if (depth <= kDeepest) {
        each_part(object,
                  [&](const Object& part) { found = found || holds_array(part, depth + 1); });
    }
    return found;
}

// Two bound methods are equal where their functions and instances are; two of functools.partial are
// not, and both are the same here.
bool may_be_one_method(const Object& a, const Object& b) {
    if (!a.is(ObjectKind::kPartial) || !b.is(ObjectKind::kPartial)) {
        return false;
    }
    const PartialObject &x = a.get<PartialObject>(), &y = b.get<PartialObject>();
    return x.first.size() == 1 && y.first.size() == 1 && x.keywords.items.empty() &&
           y.keywords.items.empty() && equal(x.function, y.function) &&
           is_same_object(x.first[0], y.first[0]);
}

// A slice with bounds, or a view of a dict with values, of which the run of the graph decides.
bool holds_open_part(const Object& object) {
    if (object.is(ObjectKind::kSlice)) {
        const SliceObject& slice = object.get<SliceObject>();
        return !slice.lower.is_static() || !slice.upper.is_static() || !slice.step.is_static();
    }
    Object set = as_set(object);
    return set.is(ObjectKind::kSet) && object.is(ObjectKind::kIterator) &&
           !std::all_of(set.items().begin(), set.items().end(),
                        [](const Object& one) { return one.is_static(); });
}

}  // namespace

bool may_share_nan(const Object& a, const Object& b) {
    return holds_nan(a) && holds_nan(b);
}

bool holds_own_equality(const Object& object, int depth) {
    bool found = has_own_equality(object);
    if (depth <= kDeepest) {
        each_part(object, [&](const Object& part) {
            found = found || holds_own_equality(part, depth + 1);
        });
        if (Namespace* instance = compared_by_fields(object)) {
            found = found || holds_own_equality(fields_of(*instance), depth + 1);
        }
    }
    return found;
}

bool is_doubtful(const Object& a, const Object& b) {
    return holds_array(a) || holds_array(b) || may_share_nan(a, b) || holds_own_equality(a) ||
           holds_own_equality(b) || may_be_one_method(a, b) ||
           (a.kind() == b.kind() && (holds_open_part(a) || holds_open_part(b)));
}

bool is_doubtful_pair(const Object& a, const Object& b) {
    auto is_simple = [](const Object& one) {
        bool is_number = one.is_number() && one.shown_as() != ShownAs::kNumpy;
        return one.is_text() || one.is_none() || is_number;
    };
    auto is_container = [](const Object& one) {
        return one.is_sequence() || one.is(ObjectKind::kDict) || one.is(ObjectKind::kSet);
    };
    bool are_apart = (is_simple(a) && is_container(b)) || (is_container(a) && is_simple(b));
    return !are_apart && is_doubtful(a, b);
}

Object refuse_doubtful(Context& c, const Object& a, const Object& b, syntax::Range range) {
    return holds_array(a) || holds_array(b)
               ? refuse(c, range,
                        "an array in a comparison that asks for one answer: NumPy compares it "
                        "element by element",
                        "compare the elements, as in `x.tolist() == [1, 2]`")
           : may_be_one_method(a, b) ? refuse(c, range, "a comparison of two bound functions",
                                              "compare their functions and instances")
           : a.kind() == b.kind() && (holds_open_part(a) || holds_open_part(b))
               ? refuse(c, range,
                        fmt::format("a comparison of {} with values that are known only when the "
                                    "graph runs",
                                    kind_name(a)),
                        "compare the values, one by one")
           : holds_own_equality(a) || holds_own_equality(b)
               ? refuse(c, range,
                        "an instance whose class has `__eq__` in a list, tuple or dict that is "
                        "compared",
                        "compare the instances one by one, with `==`")
               : refuse(c, range, "NaN in a comparison that depends on whether both are one object",
                        "ask with `math.isnan(...)`");
}

}  // namespace sardonyx::elaborate
