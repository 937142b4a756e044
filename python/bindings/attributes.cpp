// Python values <-> attributes, by the operator's schema.
#include "bindings/call.h"
#include "bindings/numpy.h"
#include "bindings/onnx_ir.h"
#include "bindings/tensor.h"
#include "calls/check.h"
#include "calls/element_type_attributes.h"

namespace sardonyx::python {

namespace {

using ops::AttributeType;

[[noreturn]] void refuse(const ops::AttributeSchema& schema, nb::handle value,
                         const std::string& help = "") {
    raise(PyExc_TypeError, "attribute `" + std::string(schema.name) + "` takes " +
                               std::string(sardonyx::name(schema.type)) + ", got `" +
                               text_from_python(nb::repr(value)) + "`" + help);
}

// A float is not an integer. A tensor is known only at run time; an attribute must be known before.
bool is_number(nb::handle value) {
    bool is_scalar = !is_ndarray(value) || nb::len(nb::object(value.attr("shape"))) == 0;
    return is_scalar && as_tensor(value) == nullptr && PyNumber_Check(value.ptr());
}

float float_value(const ops::AttributeSchema& schema, nb::handle value) {
    if (!is_number(value)) {
        refuse(schema, value);
    }
    return static_cast<float>(float_from_python(value));
}

// Whether it is a type such as FLOAT["N"], and not an element type.
bool has_sizes(nb::handle value) {
    nb::object number = attribute_or_none(value, "dtype");
    return PyType_Check(value.ptr()) && number.is_valid() && PyLong_Check(number.ptr()) &&
           !value.attr("shape").is_none();
}

int64_t int_value(const ops::AttributeSchema& schema, nb::handle value) {
    if (is_number(value) && PyIndex_Check(value.ptr())) {
        return int_from_python(value);
    }
    bool names_type = calls::names_element_type(schema.name);
    // to=FLOAT, to=numpy.float32
    ElementType type =
        names_type && !has_sizes(value) ? element_type_from_python(value) : ElementType::kUndefined;
    if (type == ElementType::kUndefined) {
        refuse(schema, value,
               names_type
                   ? ": give an element type, as in `" + std::string(schema.name) + "=INT64.dtype`"
                   : "");
    }
    return static_cast<int64_t>(type);
}

std::string string_value(const ops::AttributeSchema& schema, nb::handle value) {
    if (!PyUnicode_Check(value.ptr()) && !PyBytes_Check(value.ptr())) {
        refuse(schema, value);
    }
    std::string text = text_from_python(value);
    if (std::optional<calls::Problem> problem = calls::check_enumeration(schema, text)) {
        raise(PyExc_ValueError, problem->text());
    }
    return text;
}

template <typename T>
std::vector<T> list_of(const ops::AttributeSchema& schema, nb::handle value,
                       T (*item)(const ops::AttributeSchema&, nb::handle)) {
    if (PyUnicode_Check(value.ptr()) || as_tensor(value) != nullptr ||
        !nb::hasattr(value, "__iter__")) {
        refuse(schema, value);
    }
    std::vector<T> items;
    for (nb::handle one : nb::borrow<nb::object>(value)) {
        items.push_back(item(schema, one));
    }
    return items;
}

template <typename T>
nb::object list_to_python(const std::vector<T>& items) {
    nb::list result;
    for (const T& item : items) {
        if constexpr (std::is_same_v<T, std::string>) {
            result.append(text_to_python(item));
        } else {
            result.append(item);
        }
    }
    return result;
}

}  // namespace

nb::object value_of_attribute(nb::handle object) {
    nb::object module = attribute_or_none(object.type(), "__module__");
    bool is_foreign = module.is_valid() && PyUnicode_Check(module.ptr()) &&
                      text_from_python(module).rfind("onnx_ir", 0) == 0 &&
                      nb::hasattr(object, "value") && nb::hasattr(object, "type") &&
                      nb::hasattr(object, "ref_attr_name");
    return is_foreign ? nb::object(object.attr("value")) : nb::object();
}

ir::Attribute attribute_from_python(const ops::AttributeSchema& schema, nb::handle given) {
    bool is_plain = PyLong_CheckExact(given.ptr()) || PyFloat_CheckExact(given.ptr()) ||
                    PyUnicode_CheckExact(given.ptr()) || PyList_CheckExact(given.ptr());
    nb::object held = is_plain ? nb::object() : value_of_attribute(given);
    nb::handle value = held.is_valid() ? nb::handle(held) : given;
    switch (schema.type) {
        case AttributeType::kFloat:
            return ir::make_attribute(schema.name, float_value(schema, value));
        case AttributeType::kInt:
            return ir::make_attribute(schema.name, int_value(schema, value));
        case AttributeType::kString:
            return ir::make_attribute(schema.name, string_value(schema, value));
        case AttributeType::kFloats:
            return ir::make_attribute(schema.name, list_of(schema, value, float_value));
        case AttributeType::kInts:
            return ir::make_attribute(schema.name, list_of(schema, value, int_value));
        case AttributeType::kStrings:
            return ir::make_attribute(schema.name, list_of(schema, value, string_value));
        case AttributeType::kTensor:
            return ir::make_attribute(schema.name, tensor_from_python(value));
        case AttributeType::kTypeProto: {
            Type type = type_from_python(value);
            if (!type.is_known()) {
                refuse(schema, value);
            }
            return ir::make_attribute(schema.name, std::move(type));
        }
        default:
            refuse(schema, value);
    }
}

nb::object attribute_to_python(const ir::Attribute& attribute) {
    if (const auto* number = attribute.get<int64_t>()) {
        return nb::int_(*number);
    }
    if (const auto* number = attribute.get<float>()) {
        return nb::float_(*number);
    }
    if (const auto* text = attribute.get<std::string>()) {
        return text_to_python(*text);
    }
    if (const auto* tensor = attribute.get<Tensor>()) {
        return array_from_tensor(*tensor);
    }
    if (const auto* items = attribute.get<std::vector<int64_t>>()) {
        return list_to_python(*items);
    }
    if (const auto* items = attribute.get<std::vector<float>>()) {
        return list_to_python(*items);
    }
    if (const auto* items = attribute.get<std::vector<std::string>>()) {
        return list_to_python(*items);
    }
    raise(PyExc_TypeError, "attribute `" + std::string(attribute.name) +
                               "` has no Python value that another evaluator could take");
}

}  // namespace sardonyx::python
