#include "elaborate/operators/equality.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/doubtful.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/operators/comparisons.h"
#include "elaborate/operators/special_methods.h"
#include "elaborate/operators/truth.h"

namespace sardonyx::elaborate {

using syntax::CompareOp;
using syntax::Range;

namespace {

bool is_container(const Object& object) {
    return object.is_sequence() || object.is(ObjectKind::kDict) || object.is(ObjectKind::kSet) ||
           object.is_shape_tensor();
}

// To NumPy an array, which it compares element by element.
bool is_array(const Object& object) {
    return object.is_tensor_like() && !is_python_number(object) && !object.is_shape_tensor();
}

Object refuse_uncertain(Context& c, Range range) {
    c.report(kStaticRequired, range,
             "the outcome of this comparison is known only when the graph runs")
        .with_help("compare sizes that the annotations give, or tensors such as `op.Shape(x)`");
    return Object::error();
}

Object refuse_shape(Context& c, Range range) {
    c.report(kStaticRequired, range, "`x.shape` is a tuple, and the rank of `x` is not known")
        .with_help("annotate `x` with its dimensions, or use the tensor `op.Shape(x)`");
    return Object::error();
}

// Of bools and BOOL scalars; False settles it.
Object both(Context& c, const Object& a, const Object& b, Range range) {
    if (!a.is_tensor() || !b.is_tensor()) {
        const Object& known = a.is_tensor() ? b : a;
        return known.as_bool() ? (a.is_tensor() ? a : b) : Object::boolean(false);
    }
    return as_number(Emitter(c, range).emit("And", {a.value(), b.value()}));
}

Object equal_parts(Context& c, const Object& a, const Object& b, Range range);

Object sequences_are_equal(Context& c, const Object& a, const Object& b, Range range) {
    const std::vector<Object>&left = a.items(), &right = b.items();
    Object all = Object::boolean(a.kind() == b.kind() && left.size() == right.size());
    DepthGuard guard(c, range);
    for (size_t i = 0; guard && i < left.size() && (all.is_tensor() || all.as_bool()); ++i) {
        Object one = equal_parts(c, left[i], right[i], range);
        all = one.is_error() ? one : both(c, all, one, range);
        if (all.is_error()) {
            return all;
        }
    }
    return guard ? all : Object::error();
}

Object dicts_are_equal(Context& c, const DictObject& a, const DictObject& b, Range range) {
    Object all = Object::boolean(a.items.size() == b.items.size());
    DepthGuard guard(c, range);
    for (size_t i = 0; guard && i < a.items.size() && (all.is_tensor() || all.as_bool()); ++i) {
        const Object* other = b.find(a.items[i].first);
        if (other == nullptr) {
            return Object::boolean(false);
        }
        Object one = equal_parts(c, a.items[i].second, *other, range);
        all = one.is_error() ? one : both(c, all, one, range);
        if (all.is_error()) {
            return all;
        }
    }
    return guard ? all : Object::error();
}

// The truth value of a comparison of leaves.
Object equal_leaves(Context& c, const Object& a, const Object& b, Range range) {
    bool is_text = a.is(ObjectKind::kString) || b.is(ObjectKind::kString);
    auto has_elements = [](const Object& object) {
        return is_leaf(object) || object.is_sequence();
    };
    if (!has_elements(a) || !has_elements(b) ||
        (is_text && (is_python_number(a) || is_python_number(b)))) {
        return Object::boolean(false);
    }
    Object one =
        condition(c, compare_pair(c, CompareOp::kEq, {a, range}, {b, range}, range), range);
    if (!one.is_tensor()) {
        return one;
    }
    Emitter e(c, range);
    return as_number(e.rank(one.value()) == 0 ? one.value()
                                              : e.emit("Reshape", {one.value(), e.int64s({})}));
}

// Item by item, each a step: whether a list is static costs a walk over it, which is done once, at
// the top, and not again at each level.
Object equal_parts(Context& c, const Object& a, const Object& b, Range range) {
    if (a.is_sequence() && b.is_sequence()) {
        return sequences_are_equal(c, a, b, range);
    }
    if (a.is(ObjectKind::kDict) && b.is(ObjectKind::kDict)) {
        return dicts_are_equal(c, a.get<DictObject>(), b.get<DictObject>(), range);
    }
    return equal_objects(c, a, b, range);
}

Object negated(Context& c, const Object& truth, Range range) {
    if (truth.is_tensor()) {
        return as_number(logical_not(c, truth.value(), range));
    }
    return truth.is_error() ? truth : Object::boolean(!truth.as_bool());
}

// a < b of what is static, of Python ints, and of sequences of them: bool, or the error object.
Object certain_order(Context& c, CompareOp op, const Object& a, const Object& b, Range range) {
    if (std::optional<Object> special = special_compare(c, op, a, b, range)) {
        Object test = special->is_error() ? *special : condition(c, *special, range);
        return test.is_tensor() ? refuse_uncertain(c, range) : test;
    }
    if (are_ordered(a, b)) {
        return certain_order(c, op, fields_of(*as_namespace(a)), fields_of(*as_namespace(b)),
                             range);
    }
    bool are_alike = a.is_sequence() && a.kind() == b.kind();  // with items that say what is less
    if (!are_alike && a.is_static() && b.is_static()) {
        return static_compare(c, op, a, b, range);
    }
    if (is_python_int(a) && is_python_int(b)) {
        std::optional<bool> settled = settled_compare(op, a, b);
        return settled ? Object::boolean(*settled) : refuse_uncertain(c, range);
    }
    if (!are_alike) {
        return refuse_uncertain(c, range);
    }
    // The first items that differ decide, else the lengths.
    const std::vector<Object>&left = a.items(), &right = b.items();
    DepthGuard guard(c, range);
    for (size_t i = 0; guard && i < left.size() && i < right.size(); ++i) {
        Object same = certain_compare(c, CompareOp::kEq, left[i], right[i], range);
        if (same.is_error() || !same.as_bool()) {
            return same.is_error() ? same : certain_order(c, op, left[i], right[i], range);
        }
    }
    return guard ? static_compare(c, op, Object::integer(static_cast<int64_t>(left.size())),
                                  Object::integer(static_cast<int64_t>(right.size())), range)
                 : Object::error();
}

}  // namespace

namespace {

Object instances_are_equal(Context& c, Namespace& a, Namespace& b, Range range) {
    if (&a == &b) {
        return Object::boolean(true);
    }
    for (Namespace* one : {&a, &b}) {
        for (const std::string& field : one->of->fields) {
            std::optional<Object> value = one->lookup(field);
            if (value && unknown_cause(c.program, *value) != nullptr) {
                report_unknown(c, *value, fmt::format("{}.{}", one->name, field), range);
                return Object::error();
            }
        }
    }
    return equal_parts(c, fields_of(a), fields_of(b), range);
}

}  // namespace

Object equal_objects(Context& c, const Object& a, const Object& b, Range range) {
    bool is_same = a.is_tensor() && b.is_tensor() && a.value() == b.value();
    if (is_same || (a.is_static() && b.is_static())) {
        bool known = is_same || equal(a, b);
        return !known && is_doubtful_pair(a, b) ? refuse_doubtful(c, a, b, range)
                                                : Object::boolean(known);
    }
    Namespace *left = compared_by_fields(a), *right = compared_by_fields(b);
    if (left != nullptr && right != nullptr && left->of == right->of) {
        return instances_are_equal(c, *left, *right, range);
    }
    if (!is_container(a) && !is_container(b)) {
        return equal_leaves(c, a, b, range);
    }
    bool are_alike = (a.is_sequence() && b.is_sequence()) ||
                     (a.is(ObjectKind::kDict) && b.is(ObjectKind::kDict));
    if (are_alike) {
        return equal_parts(c, a, b, range);
    }
    if (is_array(a) || is_array(b)) {
        return equal_leaves(c, a, b, range);
    }
    bool may_be_tuples =
        (a.is_shape_tensor() && (b.is(ObjectKind::kTuple) || b.is_shape_tensor())) ||
        (b.is_shape_tensor() && a.is(ObjectKind::kTuple));
    return may_be_tuples ? refuse_shape(c, range) : Object::boolean(false);
}

std::optional<Object> compare_containers(Context& c, CompareOp op, const Object& a, const Object& b,
                                         Range range) {
    if (is_array(a) || is_array(b)) {
        return std::nullopt;
    }
    if (op == CompareOp::kEq || op == CompareOp::kNotEq) {
        Object same = equal_objects(c, a, b, range);
        return op == CompareOp::kEq ? same : negated(c, same, range);
    }
    if (op > CompareOp::kGtE) {
        return std::nullopt;
    }
    return a.is_shape_tensor() || b.is_shape_tensor() ? refuse_shape(c, range)
                                                      : certain_order(c, op, a, b, range);
}

Object certain_compare(Context& c, CompareOp op, const Object& a, const Object& b, Range range) {
    if (op != CompareOp::kEq) {
        return certain_order(c, op, a, b, range);
    }
    Object same = equal_objects(c, a, b, range);
    return same.is_tensor() ? refuse_uncertain(c, range) : same;
}

std::optional<const Object*> find_key(Context& c, const DictObject& dict, const Object& key,
                                      Range range) {
    if (holds_own_equality(key)) {
        check_key(c, key, range);
        return std::nullopt;
    }
    if (key.is_static()) {
        return dict.find(key);
    }
    for (const auto& [known, value] : dict.items) {
        Object same = certain_compare(c, CompareOp::kEq, known, key, range);
        if (same.is_error()) {
            return std::nullopt;
        }
        if (same.as_bool()) {
            return &value;
        }
    }
    return nullptr;
}

}  // namespace sardonyx::elaborate
