// What an object is to Python, as far as that is known before the graph runs.
#include "elaborate/instance_checks.h"
#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/calls.h"
#include "elaborate/emitter.h"
#include "elaborate/operator_binding.h"
#include "elaborate/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/sizes.h"
#include "elaborate/statics.h"

namespace sardonyx::elaborate {

namespace {

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

bool is_instance(const Object& object, std::string_view type) {
    switch (object.kind()) {
        case ObjectKind::kAttribute:
            return is_instance_of_attribute(object.get<AttributeObject>(), type);
        case ObjectKind::kTensor:
            if (object.is_shape_tensor()) {
                return type == "tuple" || type == "Tuple" || type == "Sequence";
            }
            if (object.is_number_tensor() || is_python_int(object)) {
                return is_instance_of_number(object.value()->type.element_type(), type);
            }
            return object.value()->type.kind() == TypeKind::kSequence &&
                   (type == "list" || type == "List" || type == "Sequence" || type == "Iterable");
        case ObjectKind::kElementType:
            return object.is_type_number() && type == "int";
        case ObjectKind::kNumbers:
            return type == "list" || type == "List" || type == "Sequence" || type == "Iterable";
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
        case ObjectKind::kList:
            return type == "list" || type == "List" || type == "Sequence" || type == "Iterable";
        case ObjectKind::kTuple:
            return type == "tuple" || type == "Tuple" || type == "Sequence" || type == "Iterable";
        case ObjectKind::kDict:
            return type == "dict";
        case ObjectKind::kConstant:
            return type == "ndarray";
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
                 "what the number is to Python is known only when the graph runs")
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
            .with_help("ask for both, as in `isinstance(x, (list, tuple))`");
        return Object::error();
    }
    return std::nullopt;
}

}  // namespace

Object py_isinstance(Context& c, const Arguments& a) {
    std::vector<Object> types{a.positional[1]};
    if (types[0].is(ObjectKind::kTuple)) {
        types = std::vector<Object>(types[0].items());
    }
    if (std::optional<Object> open = instance_of_open(c, a, types)) {
        return *open;
    }
    for (const Object& type : types) {
        if (!type.is(ObjectKind::kPythonType)) {
            return refuse(c, a.range, fmt::format("`isinstance` with {}", kind_name(type)),
                          "compare with int, float, bool, str, list or tuple");
        }
        if (is_instance(a.positional[0], type.get<PythonType>().name)) {
            return Object::boolean(true);
        }
    }
    return Object::boolean(false);
}

}  // namespace sardonyx::elaborate
