// Comparisons of static objects whose answer is not what comparing their parts gives.
#include "elaborate/objects/doubtful.h"

#include <cmath>

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
           holds_own_equality(b);
}

Object refuse_doubtful(Context& c, const Object& a, const Object& b, syntax::Range range) {
    return holds_array(a) || holds_array(b)
               ? refuse(c, range,
                        "an array in a comparison that asks for one answer: NumPy compares it "
                        "element by element",
                        "compare the elements, as in `x.tolist() == [1, 2]`")
           : holds_own_equality(a) || holds_own_equality(b)
               ? refuse(c, range,
                        "an instance whose class has `__eq__` in a list, tuple or dict that is "
                        "compared",
                        "compare the instances one by one, with `==`")
               : refuse(c, range, "NaN in a comparison that depends on whether both are one object",
                        "ask with `math.isnan(...)`");
}

}  // namespace sardonyx::elaborate
