#include "elaborate/objects/object.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/program.h"
#include "elaborate/objects/shown.h"
#include "elaborate/objects/type_objects.h"
#include "types/numpy_names.h"

namespace sardonyx::elaborate {
namespace {

constexpr int kReprDepth = 8;
constexpr size_t kReprItems = 16;

std::string repr_text(std::string_view text) {
    std::string result = "'";
    for (char c : text.substr(0, 200)) {
        if (c == '\'' || c == '\\') {
            result += '\\';
            result += c;
        } else if (c == '\n') {
            result += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            result += fmt::format("\\x{:02x}", static_cast<int>(c));
        } else {
            result += c;
        }
    }
    return result + "'";
}

std::string repr_items(const std::vector<Object>& items, int depth);

std::string repr_dict(const DictObject& dict, int depth);

std::string repr_named(const Object& tuple, int depth);

// FLOAT; <class 'numpy.float32'>; dtype('float32').
std::string type_repr(const Object& object) {
    std::string_view numpy = numpy_name(object.as_element_type());
    return object.is_type_number() ? std::string(name(object.as_element_type()))
           : object.type_form() == TypeForm::kNumpyDtype ? fmt::format("dtype('{}')", numpy)
                                                         : fmt::format("<class 'numpy.{}'>", numpy);
}

std::string repr_at(const Object& object, int depth) {
    if (depth > kReprDepth) {
        return "...";
    }
    switch (object.kind()) {
        case ObjectKind::kNone:
            return "None";
        case ObjectKind::kBool:
            return object.as_bool() ? "True" : "False";
        case ObjectKind::kInt:
            return std::to_string(object.as_int());
        case ObjectKind::kWideInt:
            return to_string(object.as_whole());
        case ObjectKind::kFloat:
            return shown_float(object.as_double());
        case ObjectKind::kString:
            return repr_text(object.text());
        case ObjectKind::kBytes:
            return "b" + repr_text(object.text());
        case ObjectKind::kEllipsis:
            return "...";
        case ObjectKind::kTuple:
            if (object.tuple_class() != nullptr) {
                return repr_named(object, depth);
            }
            return "(" + repr_items(object.items(), depth) +
                   (object.items().size() == 1 ? ",)" : ")");
        case ObjectKind::kList:
            return "[" + repr_items(object.items(), depth) + "]";
        case ObjectKind::kDict:
            return repr_dict(object.get<DictObject>(), depth);
        case ObjectKind::kSet:
            return object.items().empty() ? "set()" : "{" + repr_items(object.items(), depth) + "}";
        case ObjectKind::kRange: {
            const RangeObject& range = object.get<RangeObject>();
            return fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
        }
        case ObjectKind::kConstant:
            return to_string(object.get<Tensor>());
        case ObjectKind::kTensor:
        case ObjectKind::kNumbers:
            return std::string(object.value()->name);
        case ObjectKind::kElementType:
            return type_repr(object);
        case ObjectKind::kType:
            return object.get<TypeObject>().type.to_string();
        case ObjectKind::kPythonType:
            return object.get<PythonType>().name;
        case ObjectKind::kScript:
            return object.get<ScriptFunction>().name;
        case ObjectKind::kOperator:
            return object.get<OperatorObject>().name;
        case ObjectKind::kBuiltin:
            return std::string(object.get<BuiltinObject>().name);
        case ObjectKind::kModule:
            return object.get<ModuleObject>().name;
        case ObjectKind::kAttribute:
            return object.get<AttributeObject>().name;
        case ObjectKind::kIterator:
            return std::string(object.get<IteratorObject>().what);
        case ObjectKind::kOpaque:
            return object.get<OpaqueObject>().describe();
        default:
            return std::string(kind_name(object));
    }
}

std::string repr_items(const std::vector<Object>& items, int depth) {
    std::string result;
    for (size_t i = 0; i < items.size() && i < kReprItems; ++i) {
        result += (i == 0 ? "" : ", ") + repr_at(items[i], depth + 1);
    }
    return items.size() > kReprItems ? result + ", ..." : result;
}

std::string repr_named(const Object& tuple, int depth) {
    const Namespace& type = *tuple.tuple_class();
    std::string result = type.name + "(";
    for (size_t i = 0; i < tuple.items().size() && i < kReprItems; ++i) {
        result += fmt::format("{}{}={}", i == 0 ? "" : ", ", type.fields[i],
                              repr_at(tuple.items()[i], depth + 1));
    }
    return result + (tuple.items().size() > kReprItems ? ", ...)" : ")");
}

std::string repr_dict(const DictObject& dict, int depth) {
    std::string result = "{";
    for (size_t i = 0; i < dict.items.size() && i < kReprItems; ++i) {
        result += (i == 0 ? "" : ", ") + repr_at(dict.items[i].first, depth + 1) + ": " +
                  repr_at(dict.items[i].second, depth + 1);
    }
    return result + (dict.items.size() > kReprItems ? ", ...}" : "}");
}

bool equal_tensors(const Tensor& a, const Tensor& b) {
    if (a.element_type() != b.element_type() || a.dims() != b.dims()) {
        return false;
    }
    if (a.element_type() == ElementType::kString) {
        auto left = a.elements<std::string>(), right = b.elements<std::string>();
        return std::equal(left.begin(), left.end(), right.begin());
    }
    auto left = a.bytes(), right = b.bytes();
    return std::equal(left.begin(), left.end(), right.begin());
}

// Objects may share their parts, so that a walk over few of them takes ages, and a list may hold
// itself: walks have a depth and a number of steps.
constexpr int kWalkDepth = 100;
constexpr int64_t kWalkSteps = 100'000;  // lists, and long ones for more than one

// What makes two objects equal: Python's ==, or that no program can tell one from the other.
enum class Equality : uint8_t { kPython, kIdentical };

struct Walk {
    Equality equality = Equality::kPython;
    int depth = kWalkDepth;
    int64_t steps = kWalkSteps;
};

bool is_static_at(const Object& object, Walk& walk) {
    if (Namespace* instance = compared_by_fields(object)) {
        return is_static_at(fields_of(*instance), walk);
    }
    if (!object.is_sequence() && !object.is(ObjectKind::kDict)) {
        return !object.is_error() && !object.is_tensor() && !object.is_numbers() &&
               !object.is(ObjectKind::kUnbound) && !object.is(ObjectKind::kAttribute);
    }
    if (walk.depth == 0 || walk.steps <= 0) {
        return false;
    }
    --walk.depth;
    walk.steps -= 1 + (object.is_sequence() ? static_cast<int64_t>(object.items().size() / 64) : 0);
    auto item_is_static = [&walk](const Object& item) { return is_static_at(item, walk); };
    bool all = true;
    if (object.is_sequence()) {
        all = std::all_of(object.items().begin(), object.items().end(), item_is_static);
    } else {
        for (const auto& [key, item] : object.get<DictObject>().items) {
            all = all && item_is_static(item);
        }
    }
    ++walk.depth;
    return all;
}

bool equal_at(const Object& a, const Object& b, Walk& walk);

}  // namespace

bool Object::is_static() const {
    Walk walk;
    return is_static_at(*this, walk);
}

Object Object::dict(DictObject items) {
    std::vector<Object> values;
    for (const auto& [key, value] : items.items) {
        values.push_back(value);
    }
    uint16_t nesting = nested(ObjectKind::kList, std::move(values)).nesting_;
    Object object = make(ObjectKind::kDict, std::move(items));
    object.nesting_ = nesting;
    return object;
}

const Object* DictObject::find(const Object& key) const {
    bool is_text = key.is(ObjectKind::kString);
    for (const auto& [existing, value] : items) {
        bool same = is_text && existing.is(ObjectKind::kString) ? existing.text() == key.text()
                                                                : same_key(existing, key);
        if (same) {
            return &value;
        }
    }
    return nullptr;
}

void DictObject::set(const Object& key, Object value) {
    for (auto& [existing, old] : items) {
        if (same_key(existing, key)) {
            old = std::move(value);
            return;
        }
    }
    items.emplace_back(key, std::move(value));
}

namespace {

bool equal_items(const std::vector<Object>& a, const std::vector<Object>& b, Walk& walk) {
    if (&a == &b) {
        return true;
    }
    if (a.size() != b.size() || walk.depth == 0 || walk.steps <= 0) {
        return false;
    }
    --walk.depth;
    walk.steps -= 1 + static_cast<int64_t>(a.size() / 64);
    bool all = std::equal(a.begin(), a.end(), b.begin(), [&walk](const Object& x, const Object& y) {
        return equal_at(x, y, walk);
    });
    ++walk.depth;
    return all;
}

// In a Counter a key that is missing is counted 0 times.
bool has_counts(const DictObject& a, const DictObject& b) {
    return std::all_of(b.items.begin(), b.items.end(), [&a](const auto& item) {
        const Object* other = a.find(item.first);
        return compare_numbers(item.second, other != nullptr ? *other : Object::integer(0)) == 0;
    });
}

bool equal_dicts(const DictObject& a, const DictObject& b, Walk& walk) {
    if (&a == &b) {
        return true;
    }
    bool is_identity = walk.equality == Equality::kIdentical;
    if (is_identity && (a.of != b.of || !equal_at(a.factory, b.factory, walk))) {
        return false;
    }
    if (!is_identity && a.of == DictClass::kCounter && b.of == DictClass::kCounter) {
        return has_counts(a, b) && has_counts(b, a);
    }
    if (a.items.size() != b.items.size() || walk.depth == 0 || walk.steps <= 0) {
        return false;
    }
    bool are_ordered = a.of == DictClass::kOrdered && b.of == DictClass::kOrdered;
    --walk.depth;
    walk.steps -= 1 + static_cast<int64_t>(a.items.size());
    // The order of the items is what iteration shows.
    bool all = is_identity || are_ordered
                   ? std::equal(a.items.begin(), a.items.end(), b.items.begin(),
                                [&walk](const auto& x, const auto& y) {
                                    return equal_at(x.first, y.first, walk) &&
                                           equal_at(x.second, y.second, walk);
                                })
                   : std::all_of(a.items.begin(), a.items.end(), [&b, &walk](const auto& item) {
                         const Object* other = b.find(item.first);
                         return other != nullptr && equal_at(item.second, *other, walk);
                     });
    ++walk.depth;
    return all;
}

// A finite double, cut to an integer, as far as 128 bits go.
Int128 cut(double value) {
    return value >= 0x1p127    ? kInt128Max
           : value <= -0x1p127 ? kInt128Min
                               : static_cast<Int128>(value);
}

}  // namespace

std::optional<int> compare_numbers(const Object& a, const Object& b) {
    auto sign = [](const auto& x, const auto& y) { return x < y ? -1 : x > y ? 1 : 0; };
    if (a.is_whole() && b.is_whole()) {
        return sign(a.as_whole(), b.as_whole());
    }
    double x = a.as_double(), y = b.as_double();
    if (std::isnan(x) || std::isnan(y)) {
        return std::nullopt;
    }
    // An int and a float are compared as they are, not as two floats.
    if (a.is_whole() && std::isfinite(y)) {
        int order = sign(a.as_whole(), cut(y));
        return order != 0 ? order : sign(0.0, y - std::trunc(y));
    }
    if (b.is_whole() && std::isfinite(x)) {
        return -*compare_numbers(b, a);
    }
    return sign(x, y);
}

namespace {

bool is_same_module(const ModuleObject& a, const ModuleObject& b) {
    return a.environment == b.environment && a.name == b.name;
}

// Instances of one dataclass are equal when their fields are.
bool equal_modules(const Object& a, const Object& b, Walk& walk) {
    Namespace *left = compared_by_fields(a), *right = compared_by_fields(b);
    if (left == nullptr || right == nullptr || left == right || left->of != right->of) {
        return is_same_module(a.get<ModuleObject>(), b.get<ModuleObject>());
    }
    return equal_at(fields_of(*left), fields_of(*right), walk);
}

// Whether two objects that Python's == may find equal differ in what else Python shows of them.
bool are_told_apart(const Object& a, const Object& b) {
    if (a.kind() != b.kind() || !a.is_alike(b)) {
        return true;
    }
    switch (a.kind()) {
        case ObjectKind::kFloat:
            // NaN is NaN here, and 0.0 is not -0.0.
            return std::bit_cast<uint64_t>(a.as_double()) != std::bit_cast<uint64_t>(b.as_double());
        case ObjectKind::kInt:  // members of enumerations
        case ObjectKind::kString:
            return a.member() == nullptr || b.member() == nullptr
                       ? a.member() != b.member()
                       : !a.member()->is_same(*b.member());
        case ObjectKind::kElementType:
            return a.type_form() != b.type_form();
        case ObjectKind::kTuple:
            return a.tuple_class() != b.tuple_class();
        case ObjectKind::kOpaque:
            return !a.get<OpaqueObject>().is_same(b.get<OpaqueObject>());
        case ObjectKind::kRange:
            return a.get<RangeObject>() != b.get<RangeObject>();
        case ObjectKind::kType:
            return a.get<TypeObject>().explicit_shape != b.get<TypeObject>().explicit_shape;
        default:
            return false;
    }
}

// Unions are equal in whatever order their members stand.
bool equal_types(const Object& a, const Object& b, Walk& walk) {
    const PythonType &left = a.get<PythonType>(), &right = b.get<PythonType>();
    std::vector<Object> x = union_members(a), y = union_members(b);
    if (walk.equality == Equality::kIdentical || (x.size() == 1 && y.size() == 1)) {
        return left.name == right.name && equal_items(left.arguments, right.arguments, walk);
    }
    return x.size() == y.size() && std::all_of(x.begin(), x.end(), [&](const Object& one) {
               return std::any_of(y.begin(), y.end(),
                                  [&](const Object& other) { return equal_at(one, other, walk); });
           });
}

Object as_python_number(const Object& object) {
    return object.is_number() ? object : element_of(object.get<Tensor>(), 0);
}

bool equal_at(const Object& a, const Object& b, Walk& walk) {
    if (walk.equality == Equality::kIdentical) {
        if (are_told_apart(a, b)) {
            return false;
        }
        if (a.is(ObjectKind::kFloat) || a.is(ObjectKind::kOpaque)) {
            return true;
        }
    }
    if (a.is_number() && b.is_number()) {
        return compare_numbers(a, b) == 0;
    }
    // An element type is its number, as in FLOAT.dtype == TensorProto.FLOAT, and its NumPy name.
    if (a.is(ObjectKind::kElementType) && (b.is_number() || b.is(ObjectKind::kString))) {
        return b.is_number() ? a.is_type_number() && equal_at(as_python_int(a), b, walk)
                             : a.type_form() != TypeForm::kNumpyClass &&
                                   element_type_from_numpy(b.text()) == a.as_element_type();
    }
    if (b.is(ObjectKind::kElementType) && (a.is_number() || a.is(ObjectKind::kString))) {
        return equal_at(b, a, walk);
    }
    if (a.is(ObjectKind::kOpaque) || b.is(ObjectKind::kOpaque)) {
        return a.is(ObjectKind::kOpaque) ? a.get<OpaqueObject>().equals(b)
                                         : b.get<OpaqueObject>().equals(a);
    }
    if (walk.equality == Equality::kPython && (is_array_scalar(a) || is_array_scalar(b))) {
        return (a.is_number() || is_array_scalar(a)) && (b.is_number() || is_array_scalar(b)) &&
               compare_numbers(as_python_number(a), as_python_number(b)) == 0;
    }
    bool is_view = a.is(ObjectKind::kIterator) || b.is(ObjectKind::kIterator);
    if (walk.equality == Equality::kPython && is_view && a.pointer() != b.pointer()) {
        Object left = as_set(a), right = as_set(b);
        return left.is(ObjectKind::kSet) && right.is(ObjectKind::kSet) &&
               equal_at(left, right, walk);
    }
    if (a.kind() != b.kind()) {
        return false;
    }
    switch (a.kind()) {
        case ObjectKind::kNone:
        case ObjectKind::kEllipsis:
            return true;
        case ObjectKind::kSlice: {
            const SliceObject &x = a.get<SliceObject>(), &y = b.get<SliceObject>();
            return equal_at(x.lower, y.lower, walk) && equal_at(x.upper, y.upper, walk) &&
                   equal_at(x.step, y.step, walk);
        }
        case ObjectKind::kBuiltin:
            return a.get<BuiltinObject>().name == b.get<BuiltinObject>().name;
        case ObjectKind::kMethod: {
            const MethodObject &x = a.get<MethodObject>(), &y = b.get<MethodObject>();
            bool is_one = walk.equality == Equality::kPython && x.name == y.name;
            return a.pointer() == b.pointer() || (is_one && is_same_object(x.self, y.self));
        }
        case ObjectKind::kModule:
            return equal_modules(a, b, walk);
        case ObjectKind::kString:
        case ObjectKind::kBytes:
            return a.text() == b.text();
        case ObjectKind::kTuple:
        case ObjectKind::kList:
            return equal_items(a.items(), b.items(), walk);
        case ObjectKind::kDict:
            return equal_dicts(a.get<DictObject>(), b.get<DictObject>(), walk);
        case ObjectKind::kSet:
            if (walk.equality == Equality::kIdentical) {
                return equal_items(a.items(), b.items(), walk);
            }
            return a.items().size() == b.items().size() &&
                   std::all_of(a.items().begin(), a.items().end(), [&](const Object& item) {
                       return std::any_of(
                           b.items().begin(), b.items().end(),
                           [&](const Object& other) { return same_key(item, other); });
                   });
        case ObjectKind::kElementType:
            return a.as_element_type() == b.as_element_type();
        case ObjectKind::kTensor:
        case ObjectKind::kNumbers:
            return a.value() == b.value();
        case ObjectKind::kConstant:
            return equal_tensors(a.get<Tensor>(), b.get<Tensor>());
        case ObjectKind::kType:
            return a.get<TypeObject>().type == b.get<TypeObject>().type;
        case ObjectKind::kPythonType:
            return equal_types(a, b, walk);
        case ObjectKind::kOpset:
            return a.get<OpsetObject>() == b.get<OpsetObject>();
        case ObjectKind::kRange: {
            const RangeObject &x = a.get<RangeObject>(), &y = b.get<RangeObject>();
            int64_t size = x.size();  // of the items
            return size == y.size() &&
                   (size == 0 || (x.start == y.start && (size == 1 || x.step == y.step)));
        }
        default:
            return a.pointer() == b.pointer();
    }
}

}  // namespace

Object Object::set(const std::vector<Object>& items) {
    std::vector<Object> unique;
    for (const Object& item : items) {
        bool is_new = std::none_of(unique.begin(), unique.end(),
                                   [&item](const Object& other) { return same_key(item, other); });
        if (is_new) {
            unique.push_back(item);
        }
    }
    return nested(ObjectKind::kSet, std::move(unique));
}

Object as_python_int(const Object& object) {
    return object.is_type_number() ? Object::integer(static_cast<int64_t>(object.as_element_type()))
                                   : object;
}

bool same_key(const Object& a, const Object& b) {
    auto hashed_as = [](const Object& key) {
        return !key.is(ObjectKind::kElementType)          ? (key.is(ObjectKind::kString) ? 3 : 0)
               : key.type_form() == TypeForm::kNumpyClass ? 1
               : key.type_form() == TypeForm::kNumpyDtype ? 2
                                                          : 0;
    };
    return hashed_as(a) == hashed_as(b) && equal(a, b);
}

bool is_array_scalar(const Object& object) {
    return object.is(ObjectKind::kConstant) && object.get<Tensor>().dims().empty() &&
           has_arithmetic(object.get<Tensor>().element_type());
}

bool equal(const Object& a, const Object& b) {
    Walk walk;
    return equal_at(a, b, walk);
}

bool identical(const Object& a, const Object& b) {
    Walk walk{Equality::kIdentical};
    return equal_at(a, b, walk);
}

bool is_same_object(const Object& a, const Object& b) {
    if (a.kind() != b.kind()) {
        return false;
    }
    switch (a.kind()) {
        case ObjectKind::kList:
        case ObjectKind::kDict:
        case ObjectKind::kSet:
        case ObjectKind::kConstant:
            return a.pointer() == b.pointer();
        case ObjectKind::kModule:
            return is_same_module(a.get<ModuleObject>(), b.get<ModuleObject>());
        case ObjectKind::kTuple:
            return a.tuple_class() != nullptr ? a.pointer() == b.pointer() : identical(a, b);
        default:
            return identical(a, b);
    }
}

std::string repr(const Object& object) {
    return repr_at(object, 0);
}

std::string_view kind_name(const Object& object) {
    static constexpr std::string_view kNames[] = {
        "an error",         "an unbound name",
        "`None`",           "a bool",
        "an int",           "an int",
        "a float",          "a string",
        "a bytes object",   "`...`",
        "a tuple",          "a list",
        "a dict",           "a set",
        "a range",          "a slice",
        "an array",         "a tensor",
        "an attribute",     "an element type",
        "a type",           "a type",
        "an opset",         "an operator",
        "a script",         "a nested function",
        "a function",       "a method",
        "a bound function", "a module",
        "a decorator",      "a Python object",
        "an iterator",      "a list whose length is known only when the graph runs"};
    if (object.is(ObjectKind::kIterator)) {
        return object.get<IteratorObject>().what;
    }
    if (const Namespace* found = as_namespace(object)) {
        using Kind = Namespace::Kind;
        return found->kind == Kind::kInstance ? "an instance"
               : found->kind == Kind::kMember ? "an enumeration member"
                                              : "a class";
    }
    return kNames[static_cast<size_t>(object.kind())];
}

}  // namespace sardonyx::elaborate
