#include "ops/signature.h"

#include <fmt/format.h>

namespace sardonyx::ops {
namespace {

std::string shown_float(float value) {
    std::string text = fmt::format("{}", value);  // the shortest that gives this float32
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string shown_string(std::string_view value) {
    return fmt::format("'{}'", value);
}

template <typename T, typename Show>
std::string shown_tuple(std::span<const T> values, Show show) {
    std::string text = "(";
    for (const T& value : values) {
        text += (text.size() > 1 ? ", " : "") + show(value);
    }
    return text + (values.size() == 1 ? ",)" : ")");
}

// A default in Python's words; None where there is none.
std::string shown_default(const AttributeSchema& attribute) {
    if (!attribute.has_default) {
        return "None";
    }
    switch (attribute.type) {
        case AttributeType::kInt:
            return fmt::format("{}", attribute.default_int);
        case AttributeType::kFloat:
            return shown_float(attribute.default_float);
        case AttributeType::kString:
            return shown_string(attribute.default_string);
        case AttributeType::kInts:
            return shown_tuple(attribute.default_ints,
                               [](int64_t one) { return fmt::format("{}", one); });
        case AttributeType::kFloats:
            return shown_tuple(attribute.default_floats, shown_float);
        case AttributeType::kStrings:
            return shown_tuple(attribute.default_strings, shown_string);
        default:
            return "None";
    }
}

// The attributes, the required ones first.
std::vector<const AttributeSchema*> ordered_attributes(const Schema& schema) {
    std::vector<const AttributeSchema*> result;
    for (bool required : {true, false}) {
        for (const AttributeSchema& attribute : schema.attributes) {
            if (attribute.is_required == required) {
                result.push_back(&attribute);
            }
        }
    }
    return result;
}

}  // namespace

std::vector<ShownParameter> shown_parameters(const Schema& schema) {
    std::vector<ShownParameter> result;
    bool after_variadic = false, after_optional = false;
    for (const Parameter& input : schema.inputs) {
        bool is_variadic = input.option == ParameterOption::kVariadic;
        bool is_optional = input.option == ParameterOption::kOptional;
        result.push_back(
            {fmt::format("{}{}{}", is_variadic ? "*" : "", input.name, is_optional ? "=None" : ""),
             input.name, input.doc, false, is_variadic, !after_optional && !is_optional});
        after_optional = after_optional || is_optional;
        after_variadic = after_variadic || is_variadic;
    }
    if (!schema.attributes.empty() && !after_variadic) {
        result.push_back({"*", {}, {}, false, false});
    }
    for (const AttributeSchema* attribute : ordered_attributes(schema)) {
        std::string text(attribute->name);
        if (!attribute->is_required) {
            text += "=" + shown_default(*attribute);
        }
        result.push_back({std::move(text), attribute->name, attribute->doc, true, false,
                          attribute->is_required});
    }
    return result;
}

std::string shown_signature(const Schema& schema) {
    std::string text = fmt::format("{}(", schema.name);
    std::string_view separator;
    for (const ShownParameter& one : shown_parameters(schema)) {
        text += fmt::format("{}{}", separator, one.text);
        separator = ", ";
    }
    return text + ")";
}

}  // namespace sardonyx::ops
