#include "elaborate/objects/statics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/doubtful.h"
#include "elaborate/objects/formatting.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/number_arithmetic.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/type_objects.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using lowering::Unary;

namespace {

// A new list or tuple, as `a` is.
Object made_alike(Context& c, const Object& a, std::vector<Object> items) {
    Object made =
        a.is(ObjectKind::kList) ? Object::list(std::move(items)) : Object::tuple(std::move(items));
    claim(c, made);
    return made;
}

Object concatenate(Context& c, const Object& a, const Object& b, syntax::Range range) {
    int64_t limit = c.options.limits.text_bytes;
    if (a.is_sequence()) {
        std::vector<Object> items = a.items();
        if (static_cast<int64_t>(items.size() + b.items().size()) > limit) {
            return refuse(c, range, "the list grows too long");
        }
        items.insert(items.end(), b.items().begin(), b.items().end());
        c.steps += static_cast<int64_t>(items.size() / 8);  // copying is work too
        return made_alike(c, a, std::move(items));
    }
    if (static_cast<int64_t>(a.text().size() + b.text().size()) > limit) {
        return refuse(c, range, "the string grows too long");
    }
    return a.is(ObjectKind::kBytes) ? Object::bytes(a.text() + b.text())
                                    : Object::string(a.text() + b.text());
}

Object repeat(Context& c, const Object& a, int64_t times, syntax::Range range) {
    bool is_text = !a.is_sequence();
    int64_t size = static_cast<int64_t>(is_text ? a.text().size() : a.items().size());
    times = std::max<int64_t>(times, 0);
    if (size != 0 && times > c.options.limits.text_bytes / size) {
        return refuse(c, range, "the repeated object grows too long");
    }
    std::string text;
    std::vector<Object> items;
    for (int64_t i = 0; i < times && size != 0; ++i) {
        if (is_text) {
            text += a.text();
        } else {
            items.insert(items.end(), a.items().begin(), a.items().end());
        }
    }
    if (is_text) {
        return a.is(ObjectKind::kBytes) ? Object::bytes(std::move(text))
                                        : Object::string(std::move(text));
    }
    return made_alike(c, a, std::move(items));
}

bool is_among(const Object& item, const std::vector<Object>& items) {
    return std::any_of(items.begin(), items.end(),
                       [&item](const Object& other) { return same_key(item, other); });
}

// a | b, a & b, a - b, a ^ b.
std::optional<Object> set_binary(Binary op, const std::vector<Object>& a,
                                 const std::vector<Object>& b) {
    if (op != Binary::kBitOr && op != Binary::kBitAnd && op != Binary::kSub &&
        op != Binary::kBitXor) {
        return std::nullopt;
    }
    std::vector<Object> items;
    for (const Object& item : a) {
        if (op == Binary::kBitOr || is_among(item, b) == (op == Binary::kBitAnd)) {
            items.push_back(item);
        }
    }
    for (const Object& item : b) {
        if (op == Binary::kBitOr || (op == Binary::kBitXor && !is_among(item, a))) {
            items.push_back(item);
        }
    }
    return Object::set(items);
}

// A member of an IntFlag, or what `|` makes of members: it is one, too.
bool is_flag(const Object& object) {
    const Namespace* member = as_member(object);
    if (member != nullptr && member->of != nullptr) {
        return member->of->enumeration == "IntFlag";
    }
    return object.member() != nullptr ? object.member()->redefines("__invert__")
                                      : object.shown_as() == ShownAs::kMember;
}

// NumPy's numbers stay such in arithmetic.
Object as_numpys(const Object& number, bool is_numpys) {
    return is_numpys && number.is_number() ? number.shown(ShownAs::kNumpy) : number;
}

bool is_set_view(const Object& object) {
    return object.is(ObjectKind::kIterator) && as_set(object).is(ObjectKind::kSet);
}

// -1, 0, 1; nothing when Python does not order them (or for nan).
std::optional<int> order(const Object& a, const Object& b) {
    if (a.is_type_number() || b.is_type_number()) {
        return order(as_python_int(a), as_python_int(b));
    }
    if (a.is_number() && b.is_number()) {
        return compare_numbers(a, b);
    }
    if (a.is_text() && a.kind() == b.kind()) {
        return a.text().compare(b.text());
    }
    if (a.is(ObjectKind::kOpaque)) {
        return a.get<OpaqueObject>().order(b);
    }
    if (b.is(ObjectKind::kOpaque)) {
        std::optional<int> sign = b.get<OpaqueObject>().order(a);
        return sign ? std::optional(-*sign) : sign;
    }
    if (are_ordered(a, b)) {
        return order(fields_of(*as_namespace(a)), fields_of(*as_namespace(b)));
    }
    if (a.is_sequence() && a.kind() == b.kind()) {
        for (size_t i = 0; i < a.items().size() && i < b.items().size(); ++i) {
            if (!equal(a.items()[i], b.items()[i])) {
                return order(a.items()[i], b.items()[i]);
            }
        }
        return static_cast<int>(a.items().size()) - static_cast<int>(b.items().size());
    }
    return std::nullopt;
}

std::optional<bool> contains(Context& c, const Object& item, const Object& container) {
    if (container.is_text() && item.kind() == container.kind()) {
        return container.text().find(item.text()) != std::string::npos;
    }
    if (container.is(ObjectKind::kDict)) {
        return container.get<DictObject>().find(item) != nullptr;
    }
    std::optional<std::vector<Object>> items = static_items(c, container);
    if (!items) {
        return std::nullopt;
    }
    bool is_set = container.is(ObjectKind::kSet);  // which looks by hash first
    return std::any_of(items->begin(), items->end(), [&item, is_set](const Object& other) {
        return is_set ? same_key(item, other) : equal(item, other);
    });
}

}  // namespace

Object refuse(Context& c, syntax::Range range, std::string message, std::string help) {
    c.report(kStaticError, range, std::move(message)).with_help(std::move(help));
    return Object::error();
}

namespace {

// Whether hash() of Python takes it.
bool is_hashable(const Object& key) {
    switch (key.kind()) {
        case ObjectKind::kList:
        case ObjectKind::kDict:
        case ObjectKind::kConstant:
            return false;
        case ObjectKind::kSet:
            return key.is_frozen();
        case ObjectKind::kTuple:
            return std::all_of(key.items().begin(), key.items().end(), is_hashable);
        case ObjectKind::kOpaque:
            return key.get<OpaqueObject>().is_hashable();
        case ObjectKind::kModule: {
            Namespace* instance = compared_by_fields(key);
            if (has_own_equality(key) || special_method(key, "__hash__")) {
                return false;
            }
            return instance == nullptr ||
                   (instance->is_frozen && is_hashable(fields_of(*instance)));
        }
        default:
            return true;
    }
}

std::string refused_key(const Object& key, std::string_view place) {
    std::optional<Object> hash = special_method(key, "__hash__");
    return hash && !hash->is_none()
               ? fmt::format(
                     "an instance of `{}`, whose class defines `__hash__`, {}: scripts do "
                     "not call it",
                     class_of(key)->name, place)
               : fmt::format("{} {}, which Python refuses",
                             key.is(ObjectKind::kModule) ? repr(key) : kind_name(key), place);
}

}  // namespace

bool check_key(Context& c, const Object& key, syntax::Range range) {
    if (!key.is_static()) {
        c.report(
             kStaticRequired, range,
             fmt::format("{} as the key of a dict", key.is_tensor() ? "a tensor" : kind_name(key)))
            .with_help("make a list, or use keys that are known, such as numbers");
        return false;
    }
    if (!is_hashable(key)) {
        refuse(c, range, refused_key(key, "as the key of a dict"),
               "use a tuple of numbers or strings, or a frozen dataclass");
        return false;
    }
    return true;
}

Object make_set(Context& c, const std::vector<Object>& items, syntax::Range range) {
    for (const Object& item : items) {
        if (!item.is_static() || item.is(ObjectKind::kConstant)) {
            return refuse(c, range, fmt::format("{} in a set", kind_name(item)),
                          "Python tells tensors in a set apart by object: use a list");
        }
        if (!is_hashable(item)) {
            return refuse(c, range, refused_key(item, "in a set"),
                          "use a tuple, or a list of lists");
        }
    }
    Object set = Object::set(items);
    claim(c, set);
    return set;
}

bool is_static_operand(const Object& object) {
    constexpr ObjectKind kKinds[] = {
        ObjectKind::kElementType, ObjectKind::kDict,     ObjectKind::kSet,    ObjectKind::kRange,
        ObjectKind::kOpset,       ObjectKind::kEllipsis, ObjectKind::kScript, ObjectKind::kModule};
    return object.is_number() || object.is_text() || object.is_sequence() || is_set_view(object) ||
           is_of_union(object) ||
           std::find(std::begin(kKinds), std::end(kKinds), object.kind()) != std::end(kKinds);
}

Object static_binary(Context& c, Binary op, const Object& a, const Object& b, syntax::Range range) {
    if (a.is_type_number() || b.is_type_number()) {
        return static_binary(c, op, as_python_int(a), as_python_int(b), range);
    }
    if (a.is_number() && b.is_number()) {
        bool is_numpys = a.shown_as() == ShownAs::kNumpy || b.shown_as() == ShownAs::kNumpy;
        bool is_bits = op == Binary::kBitAnd || op == Binary::kBitOr || op == Binary::kBitXor;
        bool is_bool = a.is(ObjectKind::kBool) && b.is(ObjectKind::kBool) && is_bits;
        if (!a.is_whole() || !b.is_whole()) {
            return as_numpys(float_binary(c, op, a.as_double(), b.as_double(), range), is_numpys);
        }
        Object result = int_binary(c, op, a.as_whole(), b.as_whole(), range);
        if (is_bits && (is_flag(a) || is_flag(b))) {
            return result.shown(ShownAs::kMember);
        }
        return as_numpys(is_bool ? Object::boolean(result.as_int() != 0) : result, is_numpys);
    }
    if (op == Binary::kAdd && a.kind() == b.kind() && (a.is_text() || a.is_sequence())) {
        return concatenate(c, a, b, range);
    }
    if (op == Binary::kMul && (a.is_text() || a.is_sequence()) && b.is_integer()) {
        return repeat(c, a, b.as_int(), range);
    }
    if (op == Binary::kMul && (b.is_text() || b.is_sequence()) && a.is_integer()) {
        return repeat(c, b, a.as_int(), range);
    }
    if (op == Binary::kBitOr && is_of_union(a) && is_of_union(b) && !(a.is_none() && b.is_none())) {
        return Object::make(ObjectKind::kPythonType, PythonType{"Union", {a, b}});
    }
    if (op == Binary::kMod && a.is(ObjectKind::kString)) {
        return format_percent(c, a.text(), b, range);
    }
    if (is_set_view(a) || is_set_view(b)) {
        return static_binary(c, op, as_set(a).frozen(false), as_set(b), range);
    }
    if (a.is(ObjectKind::kSet) && b.is(ObjectKind::kSet)) {
        if (std::optional<Object> result = set_binary(op, a.items(), b.items())) {
            return result->frozen(a.is_frozen());
        }
    }
    if (a.is(ObjectKind::kDict) && b.is(ObjectKind::kDict)) {
        if (std::optional<Object> result = dict_binary(c, op, a, b, range)) {
            return *result;
        }
    }
    return refuse(
        c, range,
        fmt::format("`{}` between {} and {}", lowering::kBinarySymbols[static_cast<size_t>(op)],
                    kind_name(a), kind_name(b)));
}

Object static_unary(Context& c, Unary op, const Object& a, syntax::Range range) {
    if (a.is_type_number() && op != Unary::kNot) {
        return static_unary(c, op, as_python_int(a), range);
    }
    if (op == Unary::kNot) {
        return Object::boolean(!truth(a).value_or(true));
    }
    if (op == Unary::kInvert && is_flag(a)) {
        return refuse(c, range, "`~` of a member of an enumeration", "write `~int(x)`");
    }
    if (a.is(ObjectKind::kFloat) && op != Unary::kInvert) {
        return as_numpys(Object::real(op == Unary::kMinus ? -a.as_double() : a.as_double()),
                         a.shown_as() == ShownAs::kNumpy);
    }
    if (a.is_whole()) {
        switch (op) {
            case Unary::kPlus:
                return Object::whole(a.as_whole());
            case Unary::kInvert:
                return Object::whole(~a.as_whole());
            default:
                return int_binary(c, Binary::kSub, 0, a.as_whole(), range);
        }
    }
    return refuse(
        c, range,
        fmt::format("`{}` on {}", lowering::kUnarySymbols[static_cast<size_t>(op)], kind_name(a)));
}

Object static_compare(Context& c, syntax::CompareOp op, const Object& a, const Object& b,
                      syntax::Range range) {
    using syntax::CompareOp;
    switch (op) {
        case CompareOp::kEq:
        case CompareOp::kNotEq: {
            bool same = equal(a, b);
            return !same && !a.is_number() && is_doubtful_pair(a, b)
                       ? refuse_doubtful(c, a, b, range)
                       : Object::boolean(same == (op == CompareOp::kEq));
        }
        case CompareOp::kIs:
        case CompareOp::kIsNot: {
            if (a.is(ObjectKind::kFloat) && may_share_nan(a, b)) {
                return refuse_doubtful(c, a, b, range);
            }
            return Object::boolean(is_same_object(a, b) == (op == CompareOp::kIs));
        }
        case CompareOp::kIn:
        case CompareOp::kNotIn: {
            std::optional<bool> found = contains(c, a, b);
            if (!found) {
                return refuse(c, range, fmt::format("`in` on {}", kind_name(b)));
            }
            bool by_hash = b.is(ObjectKind::kDict) || b.is(ObjectKind::kSet);
            if (!*found &&
                (by_hash ? may_share_nan(a, b) || holds_own_equality(a) : is_doubtful(a, b))) {
                return refuse_doubtful(c, a, b, range);
            }
            return Object::boolean(*found == (op == CompareOp::kIn));
        }
        default:
            break;
    }
    if (is_set_view(a) || is_set_view(b)) {
        return static_compare(c, op, as_set(a), as_set(b), range);
    }
    if (a.is(ObjectKind::kSet) && b.is(ObjectKind::kSet)) {  // parts of each other
        bool is_less = op == CompareOp::kLt || op == CompareOp::kLtE;
        const Object &part = is_less ? a : b, &whole = is_less ? b : a;
        bool is_strict = op == CompareOp::kLt || op == CompareOp::kGt;
        bool inside =
            std::all_of(part.items().begin(), part.items().end(),
                        [&whole](const Object& item) { return is_among(item, whole.items()); });
        return Object::boolean(inside &&
                               !(is_strict && part.items().size() == whole.items().size()));
    }
    if (std::optional<Object> answer = array_compare(c, op, a, b, range)) {
        std::optional<bool> holds = answer->is_error() ? std::nullopt : truth(*answer);
        return holds ? Object::boolean(*holds)
                     : refuse(c, range, "arrays of several elements have no order");
    }
    std::optional<int> sign = order(a, b);
    if (!sign) {
        if (a.is_number() && b.is_number()) {
            return Object::boolean(false);  // nan
        }
        return refuse(c, range, fmt::format("{} and {} have no order", kind_name(a), kind_name(b)));
    }
    return Object::boolean(op == CompareOp::kLt    ? *sign < 0
                           : op == CompareOp::kLtE ? *sign <= 0
                           : op == CompareOp::kGt  ? *sign > 0
                                                   : *sign >= 0);
}

std::optional<bool> truth(const Object& object) {
    switch (object.kind()) {
        case ObjectKind::kError:
        case ObjectKind::kUnbound:
        case ObjectKind::kTensor:
        case ObjectKind::kNumbers:
        case ObjectKind::kAttribute:
        case ObjectKind::kOpaque:
            return std::nullopt;
        case ObjectKind::kNone:
            return false;
        case ObjectKind::kBool:
        case ObjectKind::kInt:
            return object.as_int() != 0;
        case ObjectKind::kFloat:
            return object.as_double() != 0;
        case ObjectKind::kString:
        case ObjectKind::kBytes:
            return !object.text().empty();
        case ObjectKind::kTuple:
        case ObjectKind::kList:
        case ObjectKind::kSet:
            return !object.items().empty();
        case ObjectKind::kDict:
            return !object.get<DictObject>().items.empty();
        case ObjectKind::kRange:
            return object.get<RangeObject>().size() != 0;
        case ObjectKind::kIterator: {
            const IteratorObject& one = object.get<IteratorObject>();
            return !one.is_view() || !one.sources.items()[0].get<DictObject>().items.empty();
        }
        case ObjectKind::kConstant: {
            std::optional<std::vector<double>> values = to_doubles(object.get<Tensor>(), 1);
            return values && values->size() == 1 ? std::optional<bool>((*values)[0] != 0)
                                                 : std::nullopt;
        }
        default:
            // An instance that has a length or truth value is asked for it.
            return special_method(object, "__len__") || special_method(object, "__bool__")
                       ? std::nullopt
                       : std::optional(true);
    }
}

}  // namespace sardonyx::elaborate
