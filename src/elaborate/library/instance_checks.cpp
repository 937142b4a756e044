// What an object is to Python, as far as that is known before the graph runs.
#include "elaborate/library/instance_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/emit/operator_binding.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/trial.h"
#include "elaborate/library/classes.h"
#include "elaborate/library/library.h"
#include "elaborate/library/members.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/special_names.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_objects.h"
#include "elaborate/operators/special_methods.h"

namespace sardonyx::elaborate {

namespace {

bool is_builtin_class(const Object& type) {
    if (!type.is(ObjectKind::kPythonType)) {
        return false;
    }
    const std::string& name = type.get<PythonType>().name;
    return is_builtin_type(name) || name == kNoneType || is_exception_type(name);
}

// What a class of `typing` or `collections.abc` has as instances, of Python's own.
struct AbstractRow {
    std::string_view name;
    std::string_view classes[8];
};

constexpr AbstractRow kAbstract[] = {
    {"List", {"list"}},
    {"Dict", {"dict"}},
    {"Tuple", {"tuple"}},
    {"Mapping", {"dict"}},
    {"Sequence", {"list", "tuple", "str"}},
    {"Iterable", {"list", "tuple", "str", "dict", "set", "frozenset"}},
};

const AbstractRow* abstract_row(std::string_view name) {
    const auto* row = std::find_if(std::begin(kAbstract), std::end(kAbstract),
                                   [name](const AbstractRow& one) { return one.name == name; });
    return row != std::end(kAbstract) ? row : nullptr;
}

// Whether what Python says of a type is known here, of objects that the compiler looks into.
bool is_asked_type(const PythonType& type) {
    constexpr std::string_view kOthers[] = {"ndarray",         "generic", "number",
                                            "integer",         "inexact", "signedinteger",
                                            "unsignedinteger", "floating"};
    bool is_other =
        std::find(std::begin(kOthers), std::end(kOthers), type.name) != std::end(kOthers);
    return type.arguments.empty() &&
           (is_builtin_type(type.name) || is_other || type.name == kNoneType ||
            abstract_row(type.name) != nullptr || is_exception_type(type.name) ||
            dict_class(type.name));
}

// Whether a class of the file is derived from this one of `enum`; null: it is none of the file.
bool is_of_enumeration(const Namespace* own, std::string_view asked) {
    return own != nullptr && own->kind == Namespace::Kind::kEnumeration &&
           (asked == "Enum" || asked == own->enumeration);
}

// The classes that isinstance() is given: of tuples in each other and of unions each one.
void add_alternatives(const Object& type, std::vector<Object>& all) {
    if (type.is(ObjectKind::kTuple)) {
        for (const Object& one : type.items()) {
            add_alternatives(one, all);
        }
        return;
    }
    for (const Object& one : union_members(type)) {
        bool is_nothing = one.is_none() && !type.is_none();  // of a union
        all.push_back(is_nothing ? python_type(kNoneType) : one);
    }
}

std::vector<Object> alternatives(const Object& type) {
    std::vector<Object> all;
    add_alternatives(type, all);
    return all;
}

bool is_instance_of_attribute(const AttributeObject& attribute, std::string_view type) {
    switch (attribute.type) {
        case ir::AttributeType::kInt:
            return type == "int" || (attribute.is_bool && type == "bool");
        case ir::AttributeType::kFloat:
            return type == "float";
        case ir::AttributeType::kString:
            return type == "str";
        case ir::AttributeType::kTensor:
            return type == "ndarray";
        default:
            return type == "Sequence" || type == "Iterable";
    }
}

bool is_instance_of_number(ElementType element, std::string_view type) {
    return is_floating(element)            ? type == "float"
           : element == ElementType::kBool ? type == "bool" || type == "int"
                                           : type == "int";
}

// NumPy's classes of scalars above those of element types; np.float64 is a float to Python as well.
bool is_instance_of_numpys(ElementType element, std::string_view type) {
    bool is_real = is_floating(element), is_whole = !is_real && element != ElementType::kBool;
    bool is_unsigned = is_whole && is_unsigned_type(element);
    return type == "generic" || (type == "number" && (is_real || is_whole)) ||
           ((type == "inexact" || type == "floating") && is_real) ||
           (type == "integer" && is_whole) || (type == "unsignedinteger" && is_unsigned) ||
           (type == "signedinteger" && is_whole && !is_unsigned) ||
           (type == "float" && element == ElementType::kDouble);
}

bool is_instance(const Object& object, std::string_view type) {
    if (const AbstractRow* row = abstract_row(type)) {
        bool is_ones = std::any_of(
            std::begin(row->classes), std::end(row->classes),
            [&object](std::string_view one) { return !one.empty() && is_instance(object, one); });
        bool is_others = object.is(ObjectKind::kBytes) || object.is(ObjectKind::kRange) ||
                         (type == "Iterable" &&
                          (object.is(ObjectKind::kIterator) || special_method(object, "__iter__")));
        bool is_open_list = object.is(ObjectKind::kAttribute) &&
                            is_instance_of_attribute(object.get<AttributeObject>(), type);
        return is_ones || is_open_list || (is_others && (type == "Sequence" || type == "Iterable"));
    }
    if (is_numpys_scalar(object)) {
        return is_instance_of_numpys(numpys_type(object), type);
    }
    switch (object.kind()) {
        case ObjectKind::kAttribute:
            return is_instance_of_attribute(object.get<AttributeObject>(), type);
        case ObjectKind::kTensor:
            if (object.is_shape_tensor()) {
                return type == "tuple";
            }
            if (object.is_number_tensor() || is_python_int(object)) {
                return is_instance_of_number(object.value()->type.element_type(), type);
            }
            return object.value()->type.kind() == TypeKind::kSequence && type == "list";
        case ObjectKind::kElementType:
            return object.is_type_number() && type == "int";
        case ObjectKind::kNumbers:
        case ObjectKind::kList:
            return type == "list";
        case ObjectKind::kSet:
            return type == (object.is_frozen() ? "frozenset" : "set");
        case ObjectKind::kBool:
            return type == "bool" || type == "int";
        case ObjectKind::kInt:
        case ObjectKind::kWideInt:
            return type == "int";
        case ObjectKind::kFloat:
            return type == "float";
        case ObjectKind::kString:
            return type == "str";
        case ObjectKind::kTuple:
            return type == "tuple";
        case ObjectKind::kDict:
            return type == "dict" || type == class_name(object.get<DictObject>());
        case ObjectKind::kConstant:
            return type == "ndarray";
        case ObjectKind::kNone:
            return type == kNoneType;
        case ObjectKind::kPythonType:
            return type == "type";
        case ObjectKind::kModule:
            return type == "type" && is_class(object);
        default:
            return false;
    }
}

bool is_list_type(ir::AttributeType type) {
    return type == ir::AttributeType::kInts || type == ir::AttributeType::kFloats ||
           type == ir::AttributeType::kStrings || type == ir::AttributeType::kTensors;
}

// What only a call can say: whether a list that is an attribute is a list or a tuple.
std::optional<Object> instance_of_open(Context& c, const Arguments& a,
                                       const std::vector<Object>& types) {
    auto asks = [&types](std::string_view name) {
        return std::any_of(types.begin(), types.end(), [name](const Object& type) {
            return type.is(ObjectKind::kPythonType) && type.get<PythonType>().name == name;
        });
    };
    const Object& object = a.positional[0];
    if (object.is_either() && std::any_of(types.begin(), types.end(), [](const Object& type) {
            return type.is(ObjectKind::kPythonType);
        })) {
        c.report(kStaticRequired, a.range,
                 "whether Python sees an int or a float is known only when the graph runs")
            .with_help("make it an `int` or a `float` in both cases");
        return Object::error();
    }
    bool is_list_attribute =
        object.is(ObjectKind::kAttribute) && is_list_type(object.get<AttributeObject>().type);
    if (is_list_attribute && asks("list") && asks("tuple")) {
        return Object::boolean(true);
    }
    if (is_list_attribute && (asks("list") || asks("tuple"))) {
        c.report(kStaticRequired, a.range,
                 "whether the argument is a list or a tuple is known only where the function is "
                 "called")
            .with_help("check for both, as in `isinstance(x, (list, tuple))`");
        return Object::error();
    }
    return std::nullopt;
}

// Of an object that only Python can look into, by the classes that it has as bases.
Object instance_of_opaque(Context& c, const Arguments& a, const std::vector<Object>& types) {
    Environment& environment = *c.function().environment;
    std::optional<Object> own = environment.attribute(a.positional[0], "__class__").value;
    std::optional<Object> bases = own && own->is(ObjectKind::kOpaque)
                                      ? environment.attribute(*own, "__mro__").value
                                  : own && own->is(ObjectKind::kPythonType)
                                      ? std::optional(Object::tuple({*own}))  // of a class `type`
                                      : std::nullopt;
    bool is_certain = bases && bases->is(ObjectKind::kTuple);
    for (size_t i = 0; is_certain && i < types.size(); ++i) {
        // Of a named tuple of the environment, the class that Python has.
        const Namespace* known = is_class(types[i]) ? as_namespace(types[i]) : nullptr;
        bool is_outside = known != nullptr && known->outside.is(ObjectKind::kOpaque);
        const Object& type = is_outside ? known->outside : types[i];
        bool is_base =
            std::any_of(bases->items().begin(), bases->items().end(), [&type](const Object& base) {
                return type.is(ObjectKind::kPythonType) && base.is(ObjectKind::kPythonType)
                           ? type.get<PythonType>().name == base.get<PythonType>().name
                           : is_same_object(type, base);
            });
        if (is_base) {
            return Object::boolean(true);
        }
        // Others, such as Sequence, may say of a class that it is one of them.
        is_certain =
            is_class_outside(c, type) || is_builtin_class(type) ||
            (type.is(ObjectKind::kPythonType) && is_enumeration_type(type.get<PythonType>().name));
    }
    return is_certain ? Object::boolean(false)
                      : refuse(c, a.range,
                               fmt::format("whether `{}` is an instance of this is not known here",
                                           repr(a.positional[0])),
                               "check it outside the script");
}

// Whether a class is this one of the environment, or is derived from it.
bool is_a_outside(const Namespace* own, const Object& type) {
    return own != nullptr &&
           std::any_of(own->order().begin(), own->order().end(), [&type](const Namespace* one) {
               return one->outside.is(ObjectKind::kOpaque) &&
                      one->outside.get<OpaqueObject>().is_same(type.get<OpaqueObject>());
           });
}

// A class whose own class may be another one than `type`.
bool has_metaclass(const Object& object) {
    const Namespace* own = is_class(object) ? as_namespace(object) : nullptr;
    bool is_value =  // NotImplemented
        object.is(ObjectKind::kPythonType) && object.get<PythonType>().name == kNotImplemented;
    return is_value ||
           (own != nullptr &&
            (own->kind == Namespace::Kind::kEnumeration ||
             std::any_of(own->order().begin(), own->order().end(),
                         [](const Namespace* one) { return one->is_abc || one->is_protocol; })));
}

// Whether only Python says that the object is one of an abstract class: its own class decides that.
bool is_open_to(const Object& object, std::string_view type) {
    const Namespace* own = class_of(object);
    bool is_tuple = own != nullptr && own->kind == Namespace::Kind::kNamedTuple;
    return own != nullptr && !is_tuple && abstract_row(type) != nullptr && type != "Iterable";
}

}  // namespace

bool is_of_environment(const Object& object) {
    return object.is(ObjectKind::kOpaque) || object.member() != nullptr;
}

std::optional<Object> known_type(const Object& object) {
    if (const Namespace* own = class_of(object)) {
        if (own->is_pythons) {
            return python_type(std::string(own->exception));
        }
        bool is_outside = own->outside.is(ObjectKind::kOpaque) && object.tuple_class() == nullptr;
        return is_outside ? own->outside : const_cast<Namespace*>(own)->object();
    }
    bool is_number = object.is_number_tensor() || is_python_int(object);
    bool is_open = object.is(ObjectKind::kAttribute) || object.is(ObjectKind::kConstant) ||
                   (object.is_tensor() && !is_number && !object.is_shape_tensor()) ||
                   has_metaclass(object);
    if (is_open || object.is_either() || object.shown_as() != ShownAs::kPlain ||
        is_numpys_scalar(object) || is_of_environment(object)) {
        return std::nullopt;
    }
    if (object.is_none()) {
        return python_type(kNoneType);
    }
    if (object.is(ObjectKind::kDict)) {
        return python_type(class_name(object.get<DictObject>()));
    }
    const auto* found =
        std::find_if(std::begin(kBuiltinTypes), std::end(kBuiltinTypes),
                     [&](std::string_view name) { return is_instance(object, name); });
    return found != std::end(kBuiltinTypes) ? std::optional(python_type(*found)) : std::nullopt;
}

Object py_type(Context& c, const Arguments& a) {
    if (a.positional.size() != 1 || !a.keywords.empty()) {
        return refuse(c, a.range, fmt::format("`type` with {} arguments", a.positional.size()));
    }
    const Object& object = a.positional[0];
    if (std::optional<Object> type = known_type(object)) {
        return *type;
    }
    if (is_of_environment(object)) {
        return member(c, object, "__class__", a.range, a.range);
    }
    return refuse(c, a.range, fmt::format("`type` of {}", kind_name(object)),
                  "ask with `isinstance`, or for the `dtype` of a tensor");
}

Object py_isinstance(Context& c, const Arguments& a) {
    std::vector<Object> types = alternatives(a.positional[1]);
    if (std::optional<Object> open = instance_of_open(c, a, types)) {
        return *open;
    }
    if (is_of_environment(a.positional[0]) && class_of(a.positional[0]) == nullptr) {
        return instance_of_opaque(c, a, types);
    }
    if (is_array_scalar(a.positional[0]) && !is_numpys_scalar(a.positional[0])) {
        return refuse(c, a.range,
                      "`isinstance` of an array without a dimension or a scalar of NumPy",
                      "ask for its `dtype`");
    }
    for (const Object& type : types) {
        if (type.is(ObjectKind::kPythonType) && type.get<PythonType>().name == "object") {
            return Object::boolean(true);
        }
        Namespace* of_file = as_namespace(type);
        if (of_file != nullptr && of_file->unknown_all == nullptr) {
            if (of_file->is_protocol) {
                return refuse(c, a.range, "`isinstance` with a protocol",
                              "compare with the classes that are meant");
            }
            bool is_of_class = class_of(a.positional[0]) != nullptr;
            if (!is_of_class && a.positional[0].shown_as() != ShownAs::kPlain) {
                return refuse(c, a.range, "`isinstance` of a member of an enumeration",
                              "compare it with the members");
            }
            if (is_a(a.positional[0], of_file)) {
                return Object::boolean(true);
            }
            continue;
        }
        if (a.positional[0].is_static() && type.is(ObjectKind::kElementType) &&
            type.type_form() == TypeForm::kNumpyClass) {
            if (is_numpys_scalar(a.positional[0]) &&
                numpys_type(a.positional[0]) == type.as_element_type()) {
                return Object::boolean(true);
            }
            continue;
        }
        if (const Namespace* own = class_of(a.positional[0]);
            own != nullptr && type.is(ObjectKind::kOpaque)) {
            if (is_a_outside(own, type)) {
                return Object::boolean(true);
            }
            continue;
        }
        if (is_class_outside(c, type) && a.positional[0].shown_as() == ShownAs::kPlain) {
            continue;  // no builtin object is of a class of the program
        }
        if (!type.is(ObjectKind::kPythonType)) {
            return refuse(c, a.range, fmt::format("`isinstance` with {}", kind_name(type)),
                          "compare with int, float, bool, str, list or tuple");
        }
        const PythonType& asked = type.get<PythonType>();
        if (ExceptionType own = exception_of(a.positional[0]); is_exception_type(asked.name)) {
            if (is_subclass(own, exception_type(type))) {
                return Object::boolean(true);
            }
            continue;
        }
        const Namespace* member = as_member(a.positional[0]);
        if (is_enumeration_type(asked.name) &&
            (member != nullptr || a.positional[0].shown_as() == ShownAs::kPlain)) {
            if (member != nullptr && is_of_enumeration(member->of, asked.name)) {
                return Object::boolean(true);
            }
            continue;
        }
        if (!is_asked_type(asked) || is_open_to(a.positional[0], asked.name)) {
            return refuse(c, a.range, fmt::format("`isinstance` with `{}`", repr(type)),
                          "compare with int, float, bool, str, list or tuple");
        }
        if (is_instance(a.positional[0], asked.name)) {
            return Object::boolean(true);
        }
    }
    return Object::boolean(false);
}

namespace {

// Whether a class is another one or derived from it; nothing: that is not known here.
std::optional<bool> is_subclass(Context& c, const Object& type, const Object& base) {
    if (type.is(ObjectKind::kOpaque)) {
        std::optional<Object> order = c.function().environment->attribute(type, "__mro__").value;
        if (!order || !order->is(ObjectKind::kTuple)) {
            return std::nullopt;
        }
        bool is_base =
            std::any_of(order->items().begin(), order->items().end(),
                        [&base](const Object& one) { return is_same_object(one, base); });
        bool is_certain = base.is(ObjectKind::kPythonType) || is_class_outside(c, base) ||
                          is_class(base);  // of named tuples
        return is_base || is_certain ? std::optional(is_base) : std::nullopt;
    }
    ExceptionType raised = exception_type(type), caught = exception_type(base);
    if (!raised.builtin.empty() && !caught.builtin.empty()) {
        return is_subclass(raised, caught);
    }
    if (base.is(ObjectKind::kPythonType) && base.get<PythonType>().name == "object" &&
        (is_class(type) || is_builtin_class(type))) {
        return true;
    }
    Namespace *own = as_namespace(type), *other = as_namespace(base);
    if (is_class(type) && is_class(base) && own->unknown_all == nullptr &&
        other->unknown_all == nullptr && !other->is_protocol) {
        return is_derived(own, other);
    }
    bool is_builtin_base = is_builtin_class(base);
    if (base.is(ObjectKind::kPythonType) && is_enumeration_type(base.get<PythonType>().name) &&
        (is_builtin_class(type) || (is_class(type) && own->unknown_all == nullptr))) {
        return is_of_enumeration(own, base.get<PythonType>().name);
    }
    if (is_builtin_class(type) && is_class_outside(c, base)) {
        return false;
    }
    if (is_builtin_class(type) && is_class(base) && other->unknown_all == nullptr) {
        return has_metaclass(base) && other->kind != Namespace::Kind::kEnumeration
                   ? std::nullopt
                   : std::optional(false);
    }
    if (is_class(type) && own->unknown_all == nullptr && is_builtin_base) {
        if (own->kind == Namespace::Kind::kEnumeration) {
            const std::string& asked = base.get<PythonType>().name;
            return asked == own->of_values;
        }
        return own->kind == Namespace::Kind::kNamedTuple && base.get<PythonType>().name == "tuple";
    }
    if (is_builtin_class(type) && is_builtin_base) {
        const std::string &one = type.get<PythonType>().name, &two = base.get<PythonType>().name;
        return one == two || (one == "bool" && two == "int");
    }
    return std::nullopt;
}

}  // namespace

Object py_issubclass(Context& c, const Arguments& a) {
    std::optional<Object> unknown;
    for (const Object& base : alternatives(a.positional[1])) {
        std::optional<bool> answer = is_subclass(c, a.positional[0], base);
        if (answer && *answer) {
            return Object::boolean(true);
        }
        unknown = answer ? unknown : base;
    }
    return !unknown ? Object::boolean(false)
                    : refuse(c, a.range,
                             fmt::format("`issubclass` of {} and {}", kind_name(a.positional[0]),
                                         kind_name(*unknown)),
                             "compare classes of the program, or int, float, bool, str, list, dict "
                             "and set");
}

}  // namespace sardonyx::elaborate
