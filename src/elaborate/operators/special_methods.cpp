// Which special method Python asks for an operator, of which operand, and what its answer means.
#include "elaborate/operators/special_methods.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/emit/interpreter.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/iteration.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/special_names.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/operators/lowered.h"
#include "elaborate/operators/truth.h"

namespace sardonyx::elaborate {

using syntax::CompareOp;
using syntax::Range;

namespace {

// The class of the program that an object is an instance of; null: none that the compiler knows.
const Namespace* class_in_program(Context& c, const Object& object) {
    Namespace* own = as_namespace(object);
    if (own != nullptr && own->kind == Namespace::Kind::kInstance && own->unknown_all == nullptr) {
        return own->of;
    }
    if (!object.is(ObjectKind::kOpaque) || c.function().environment == nullptr) {
        return nullptr;
    }
    Environment& environment = *c.function().environment;
    std::optional<Object> type = environment.attribute(object, "__class__").value;
    std::optional<Object> found =
        type && type->is(ObjectKind::kOpaque) ? environment.own_class(*type) : std::nullopt;
    return found ? as_namespace(*found) : nullptr;
}

std::optional<Object> method_in(const Namespace* type, std::string_view name) {
    return type != nullptr ? const_cast<Namespace*>(type)->lookup(name) : std::nullopt;
}

Object call_method(Context& c, const Object& method, const Object& self,
                   std::vector<Object> arguments, Range range) {
    if (is_unknown(method)) {
        report_unknown(c, method, class_in_program(c, self)->name, range);
        return Object::error();
    }
    Arguments all;
    all.positional = std::move(arguments);
    all.positional.insert(all.positional.begin(), self);
    all.ranges.assign(all.positional.size(), range);
    all.range = all.callee_range = range;
    return call(c, method, all);
}

bool is_not_implemented(const Object& object) {
    return (object.is(ObjectKind::kPythonType) &&
            object.get<PythonType>().name == kNotImplemented) ||
           (object.is(ObjectKind::kOpaque) &&
            object.get<OpaqueObject>().describe() == kNotImplemented);
}

// Whether Python asks the right operand as well: arrays and numbers of NumPy answer for themselves.
bool leaves_to_right(const Object& a) {
    return !a.is_array_part() && !is_numpys_scalar(a) && !a.is(ObjectKind::kConstant);
}

// What the method of `a` answers, or that of `b`; nothing: neither has one.
std::optional<Object> asked(Context& c, const MethodNames& names, const Object& a, const Object& b,
                            Range range) {
    const auto& [symbol, name, turned, is_compare] = names;
    const Namespace *left = class_in_program(c, a), *right = class_in_program(c, b);
    std::optional<Object> first = method_in(left, name), second = method_in(right, turned);
    if ((left == right && left != nullptr && !is_compare) ||
        (left == nullptr && !leaves_to_right(a))) {
        second = std::nullopt;
    }
    if (!first && !second) {
        return std::nullopt;
    }
    // A class that is derived from the other one, with a method of its own, comes first.
    std::optional<Object> inherited = method_in(left, turned);
    bool is_turned = first && second && left != right && is_derived(right, left) &&
                     (is_compare || !inherited || !is_same_object(*inherited, *second));
    for (int i = 0; i < 2; ++i) {
        bool is_second = (i == 1) != is_turned;
        const std::optional<Object>& method = is_second ? second : first;
        if (!method) {
            continue;
        }
        Object answer = is_second ? call_method(c, *method, b, {a}, range)
                                  : call_method(c, *method, a, {b}, range);
        if (!is_not_implemented(answer)) {
            return answer;
        }
    }
    if (symbol == "==" || symbol == "!=") {
        return Object::boolean(is_same_object(a, b) == (symbol == "=="));
    }
    refuse(c, range,
           fmt::format("`{}` between {} and {}, whose classes say that they do not know it", symbol,
                       kind_name(a), kind_name(b)));
    return raises(c, "TypeError");
}

}  // namespace

std::optional<Object> call_special(Context& c, const Object& instance, std::string_view name,
                                   std::vector<Object> arguments, Range range) {
    std::optional<Object> method = method_in(class_in_program(c, instance), name);
    return method ? std::optional(call_method(c, *method, instance, std::move(arguments), range))
                  : std::nullopt;
}

Object data_instance_of(Context& c, const Object& object, const Object& other) {
    const Namespace* own = compared_by_fields(other);
    if (!object.is(ObjectKind::kOpaque) || own == nullptr ||
        own->of != class_in_program(c, object)) {
        return object;
    }
    auto [made, place] = make_namespace(c, Namespace::Kind::kInstance, own->of->name, own->of);
    place->is_frozen = own->of->is_frozen;
    for (const std::string& field : own->of->fields) {
        std::optional<Object> value = c.function().environment->attribute(object, field).value;
        if (!value) {
            return object;
        }
        place->set(field, *value);
    }
    return made;
}

bool has_special(Context& c, const Object& instance, std::string_view name) {
    return method_in(class_in_program(c, instance), name).has_value();
}

std::optional<Object> asked_iterator(Context& c, const Object& instance) {
    std::optional<Object> method = special_method(instance, "__iter__");
    return method ? std::optional(call_method(c, *method, instance, {}, {})) : std::nullopt;
}

Object asked_text(Context& c, const Object& instance, const Object& method, std::string_view name,
                  Range range) {
    Object text = call_method(c, method, instance, {}, range);
    if (text.is_error() || text.is(ObjectKind::kString)) {
        return text;
    }
    refuse(c, range, fmt::format("`{}` that gives {}", name, kind_name(text)), "give a string");
    return raises(c, "TypeError");
}

std::optional<Object> special_binary(Context& c, syntax::BinaryOp op, const Object& a,
                                     const Object& b, Range range) {
    return asked(c, binary_names(lowered(op)), a, b, range);
}

bool is_left_to_right(Context& c, syntax::BinaryOp op, const Object& a, const Object& b) {
    const MethodNames& names = binary_names(lowered(op));
    return (a.is(ObjectKind::kList) || a.is(ObjectKind::kSet)) && has_special(c, b, names.right);
}

std::optional<Object> special_unary(Context& c, syntax::UnaryOp op, const Object& a, Range range) {
    std::string_view name = unary_name(op);
    return name.empty() ? std::nullopt : call_special(c, a, name, {}, range);
}

namespace {

// `!=` of a class that has `__eq__` alone.
std::optional<Object> not_equal(Context& c, const Object& a, const Object& b, Range range) {
    std::optional<Object> same = special_compare(c, CompareOp::kEq, a, b, range);
    Object test = same ? condition(c, *same, range) : Object::error();
    if (same && test.is_tensor()) {
        return refuse(c, range, "`!=` of a class whose `__eq__` gives a tensor",
                      "write `__ne__`, or `not a == b`");
    }
    return !same || test.is_error() ? same : std::optional(Object::boolean(!test.as_bool()));
}

}  // namespace

std::optional<Object> special_compare(Context& c, CompareOp op, const Object& a, const Object& b,
                                      Range range) {
    if (op == CompareOp::kIs || op == CompareOp::kIsNot) {
        return std::nullopt;
    }
    if (op == CompareOp::kIn || op == CompareOp::kNotIn) {
        std::optional<Object> found = call_special(c, b, "__contains__", {a}, range);
        if (!found) {
            return std::nullopt;
        }
        Object test = condition(c, *found, range);
        if (test.is_tensor()) {
            return refuse(c, range, "`in` of a class whose `__contains__` gives a tensor",
                          "call a method of another name");
        }
        return test.is_error() ? test : Object::boolean(test.as_bool() == (op == CompareOp::kIn));
    }
    if (op == CompareOp::kNotEq) {
        const Namespace *left = class_in_program(c, a), *right = class_in_program(c, b);
        if (!method_in(left, "__ne__") && !method_in(right, "__ne__")) {
            return not_equal(c, a, b, range);
        }
        if ((method_in(left, "__eq__") && !method_in(left, "__ne__")) ||
            (method_in(right, "__eq__") && !method_in(right, "__ne__"))) {
            return refuse(c, range, "`!=` of two classes of which one has no `__ne__`",
                          "write `not a == b`");
        }
    }
    return asked(c, compare_names(op), a, b, range);
}

namespace {

bool lacks_member(Context& c, const Object& opaque, std::string_view name) {
    Environment::Answer answer = c.function().environment->attribute(opaque, name);
    return !answer.value && answer.error.starts_with("AttributeError");
}

}  // namespace

bool is_class_outside(Context& c, const Object& type) {
    std::optional<Object> own = type.is(ObjectKind::kOpaque)
                                    ? c.function().environment->attribute(type, "__class__").value
                                    : std::nullopt;
    if (own && own->is(ObjectKind::kOpaque)) {  // EnumType, which was EnumMeta
        std::string shown = own->get<OpaqueObject>().describe();
        return shown == "<class 'type'>" || shown.starts_with("<class 'enum.Enum");
    }
    return own && own->is(ObjectKind::kPythonType) && own->get<PythonType>().name == "type";
}

std::optional<Object> special_truth(Context& c, const Object& object, Range range) {
    std::optional<Object> answer = call_special(c, object, "__bool__", {}, range);
    bool is_bool =
        answer &&
        (answer->is(ObjectKind::kBool) ||
         (answer->is_tensor() && answer->value()->type.element_type() == ElementType::kBool));
    if (answer && !answer->is_error() && !is_bool) {
        return refuse(c, range, fmt::format("`__bool__` that gives {}", kind_name(*answer)),
                      "give a bool");
    }
    if (answer && answer->is_tensor()) {
        return refuse(c, range, "`__bool__` that gives a tensor, which Python refuses",
                      "call a method of another name");
    }
    if (answer) {
        return answer;
    }
    std::optional<Object> length = call_special(c, object, "__len__", {}, range);
    if (length) {
        return length->is_error() ? *length : condition(c, *length, range);
    }
    bool is_true = class_in_program(c, object) != nullptr || is_class_outside(c, object) ||
                   (object.is(ObjectKind::kOpaque) && lacks_member(c, object, "__bool__") &&
                    lacks_member(c, object, "__len__"));
    return is_true ? std::optional(Object::boolean(true)) : std::nullopt;
}

}  // namespace sardonyx::elaborate
