// hasattr(), getattr() and setattr(): whether an object has a member to Python.
#include "elaborate/library/member_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/trial.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/instance_checks.h"
#include "elaborate/library/library.h"
#include "elaborate/library/members.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/special_names.h"

namespace sardonyx::elaborate {

namespace {

// Whether every Python object has this special method.
bool is_method_of_object(std::string_view name) {
    constexpr std::string_view kMethods[] = {"__repr__", "__str__", "__hash__", "__eq__", "__ne__",
                                             "__lt__",   "__le__",  "__gt__",   "__ge__"};
    return std::find(std::begin(kMethods), std::end(kMethods), name) != std::end(kMethods);
}

// An instance of a plain class, or such a class.
bool is_of_plain_class(const Namespace& own) {
    const Namespace* type = own.kind == Namespace::Kind::kInstance ? own.of : &own;
    return type != nullptr && type->kind == Namespace::Kind::kClass && !type->is_protocol &&
           !type->is_open && type->unknown_all == nullptr;
}

// The builtin class of an object whose members are those of the class, or a member of an
// enumeration has beside its own; "Tensor" of what is one when the script is called. Empty: none.
std::string builtin_type_name(const Object& object) {
    if (object.member() != nullptr) {
        return object.is(ObjectKind::kInt) ? "int" : "str";
    }
    bool is_number = object.is_number_tensor() || object.is_tensor_or_number();
    if (object.is_tensor() && !is_number && !object.is_shape_tensor() && !object.is_array_part() &&
        object.value()->type.kind() == TypeKind::kTensor) {
        return "Tensor";
    }
    std::optional<Object> type = known_type(object);
    bool is_builtin =
        type && type->is(ObjectKind::kPythonType) && !object.is(ObjectKind::kPythonType);
    return is_builtin ? type->get<PythonType>().name : "";
}

// Nothing after a diagnostic, where that is not known.
std::optional<bool> has_member(Context& c, const Arguments& a, std::string_view name) {
    const Object& object = a.positional[0];
    Namespace* member_of_file = object.member() != nullptr ? as_member(object) : nullptr;
    if (is_of_environment(object) && member_of_file == nullptr) {
        Environment::Answer answer = c.function().environment->attribute(object, name);
        if (answer.value || answer.error.rfind("AttributeError", 0) == 0) {
            return answer.value.has_value();
        }
    }
    Namespace* own = as_namespace(object);
    bool is_exception =
        own != nullptr && (!own->exception.empty() || !exception_of(object).builtin.empty());
    bool is_special = name.empty() || name[0] == '_' || is_exception;
    if (object.tuple_class() != nullptr && !is_special) {
        return has_named_member(object, name);
    }
    if (own != nullptr && own->unknown_all == nullptr && !is_special) {
        std::optional<Object> found = own->lookup(name);
        return found && !(is_class(object) && is_field_of(*found, ""));
    }
    if (own != nullptr && own->unknown_all == nullptr && is_of_plain_class(*own) &&
        (is_special_method(name) || name == "__call__" || name == "__len__" ||
         name == "__getitem__")) {
        return own->lookup(name).has_value() || is_method_of_object(name);
    }
    if (member_of_file != nullptr && !is_special && member_of_file->lookup(name)) {
        return true;
    }
    if (std::string type = builtin_type_name(object); !type.empty() && !is_special) {
        if (std::optional<bool> known = has_builtin_member(type, name)) {
            return known;
        }
    }
    bool is_operator =
        object.is(ObjectKind::kOpset) && !is_special && name != "domain" && name != "version";
    std::optional<bool> found =
        is_operator ? has_operator(c, compiled_opset(c, object.get<OpsetObject>()), name)
                    : std::nullopt;
    if (found) {
        return found;
    }
    Trial trial(c);
    bool is_member = !is_operator && !member(c, object, name, a.range, a.range).is_error();
    trial.take_back();
    if (is_member) {
        return true;
    }
    // Called as Python, it may have members that scripts cannot use.
    refuse(c, a.range,
           fmt::format("whether {} has a member `{}` is not known here", kind_name(object), name),
           "check it outside the script");
    return std::nullopt;
}

}  // namespace

Object py_hasattr(Context& c, const Arguments& a) {
    if (!a.positional[1].is(ObjectKind::kString)) {
        return refuse(c, a.range, "`hasattr` with a name that is not a string");
    }
    std::optional<bool> found = has_member(c, a, a.positional[1].text());
    return found ? Object::boolean(*found) : Object::error();
}

Object py_setattr(Context& c, const Arguments& a) {
    Namespace* own = as_namespace(a.positional[0]);
    if (own == nullptr || !a.positional[1].is(ObjectKind::kString)) {
        return refuse(c, a.range,
                      own == nullptr ? fmt::format("`setattr` of {}", kind_name(a.positional[0]))
                                     : std::string("`setattr` with a name that is not a string"),
                      "give it an instance of a class, a name, and a value");
    }
    return assign_to_member(c, *own, a.positional[1].text(), a.positional[2], a.range)
               ? Object::none()
               : Object::error();
}

Object py_getattr(Context& c, const Arguments& a) {
    if (!a.positional[1].is(ObjectKind::kString)) {
        return refuse(c, a.range, "`getattr` with a name that is not a string");
    }
    if (a.positional.size() == 3) {
        std::optional<bool> found = has_member(c, a, a.positional[1].text());
        if (found != true) {
            return found ? Object(a.positional[2]) : Object::error();
        }
    }
    return member(c, a.positional[0], a.positional[1].text(), a.range, a.range);
}

}  // namespace sardonyx::elaborate
