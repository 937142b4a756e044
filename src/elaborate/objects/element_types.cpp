#include "elaborate/objects/element_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"
#include "types/numpy_names.h"

namespace sardonyx::elaborate {

namespace {

bool has_sign(ElementType type) {
    return is_floating(type) || element_class(type) == ElementClass::kSigned ||
           element_class(type) == ElementClass::kComplex;
}

Object numpy_dtype(ElementType type) {
    return Object::element_type(type, TypeForm::kNumpyDtype);
}

constexpr std::string_view kMethods[] = {"is_floating_point", "is_integer", "is_signed", "numpy"};

}  // namespace

std::optional<Object> element_type_member(const Object& object, std::string_view name) {
    ElementType type = object.as_element_type();
    if (object.type_form() == TypeForm::kNumpyDtype && name == "name") {
        return Object::string(std::string(numpy_name(type)));
    }
    if (!object.is_type_number()) {
        return std::nullopt;
    }
    if (name == "name") {
        return Object::string(std::string(sardonyx::name(type)));
    }
    if (name == "value") {
        return as_python_int(object);
    }
    if (name == "bitwidth" && info(type).bits != 0) {
        return Object::integer(info(type).bits);
    }
    if (name == "dtype") {
        return numpy_dtype(type);
    }
    bool is_method =
        std::find(std::begin(kMethods), std::end(kMethods), name) != std::end(kMethods);
    return is_method ? std::optional(Object::make(ObjectKind::kMethod,
                                                  MethodObject{object, std::string(name)}))
                     : std::nullopt;
}

Object element_type_method(Context& c, const MethodObject& method, const Arguments& arguments) {
    if (!arguments.positional.empty() || !arguments.keywords.empty()) {
        return refuse(c, arguments.range, fmt::format("`{}` takes no arguments", method.name));
    }
    ElementType type = method.self.as_element_type();
    return method.name == "numpy"        ? numpy_dtype(type)
           : method.name == "is_integer" ? Object::boolean(is_integer(type))
           : method.name == "is_signed"  ? Object::boolean(has_sign(type))
                                         : Object::boolean(is_floating(type));
}

// The element type that `dtype=` or a positional argument names; FLOAT by default for reals is
// NumPy's DOUBLE, so a tensor made without dtype keeps what Python's values imply, as literals do.
std::optional<ElementType> dtype_argument(const Arguments& a, size_t position) {
    const KeywordArgument* keyword = a.find("dtype");
    const Object* object = keyword != nullptr               ? &keyword->value
                           : a.positional.size() > position ? &a.positional[position]
                                                            : nullptr;
    if (object == nullptr || object->is_none()) {
        return ElementType::kUndefined;
    }
    if (object->is(ObjectKind::kElementType)) {
        return object->as_element_type();
    }
    if (object->is(ObjectKind::kPythonType)) {
        const std::string& name = object->get<PythonType>().name;
        return name == "float"  ? ElementType::kDouble
               : name == "int"  ? ElementType::kInt64
               : name == "bool" ? ElementType::kBool
                                : ElementType::kUndefined;
    }
    return std::nullopt;
}

}  // namespace sardonyx::elaborate
