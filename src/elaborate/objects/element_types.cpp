#include "elaborate/objects/element_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
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

namespace {

// What NumPy takes for a text: a name, or a letter and the number of bytes.
ElementType type_of_code(std::string_view text) {
    struct Row {
        std::string_view code;
        ElementType type;
    };
    static constexpr Row kRows[] = {
        {"f2", ElementType::kFloat16}, {"f4", ElementType::kFloat},    {"f8", ElementType::kDouble},
        {"f", ElementType::kFloat},    {"d", ElementType::kDouble},    {"e", ElementType::kFloat16},
        {"i1", ElementType::kInt8},    {"i2", ElementType::kInt16},    {"i4", ElementType::kInt32},
        {"i8", ElementType::kInt64},   {"u1", ElementType::kUint8},    {"u2", ElementType::kUint16},
        {"u4", ElementType::kUint32},  {"u8", ElementType::kUint64},   {"?", ElementType::kBool},
        {"int", ElementType::kInt64},  {"float", ElementType::kDouble}};
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [text](const Row& one) { return one.code == text; });
    if (row != std::end(kRows)) {
        return row->type;
    }
    ElementType named = element_type_from_numpy(text);
    return has_arithmetic(named) ? named : ElementType::kUndefined;
}

}  // namespace

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
        return name == "float"  ? std::optional(ElementType::kDouble)
               : name == "int"  ? std::optional(ElementType::kInt64)
               : name == "bool" ? std::optional(ElementType::kBool)
                                : std::nullopt;
    }
    ElementType named =
        object->is(ObjectKind::kString) ? type_of_code(object->text()) : ElementType::kUndefined;
    return named != ElementType::kUndefined ? std::optional(named) : std::nullopt;
}

}  // namespace sardonyx::elaborate
