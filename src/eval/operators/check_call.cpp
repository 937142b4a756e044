#include "eval/operators/check_call.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "calls/check.h"

namespace sardonyx::eval {
namespace {

// The operator's name stands before it.
Error about(const calls::Problem& problem) {
    return Error{problem.says};
}

bool same_attribute_type(ir::AttributeType a, ops::AttributeType b) {
    return static_cast<uint8_t>(a) == static_cast<uint8_t>(b);
}

// "INT64 tensor" for messages.
bool admits(const ops::TypeSet& set, const RuntimeValue& value) {
    if (value.is_none()) {
        return set.optional_tensor != 0 || set.optional_sequence != 0;
    }
    if (value.is_tensor()) {
        ops::ElementMask bit = 1u << static_cast<int>(value.tensor().element_type());
        return ((set.tensor | set.optional_tensor) & bit) != 0;
    }
    bool holds_maps = value.is_sequence() && !value.sequence().items.empty() &&
                      value.sequence().items[0].is_map();
    if (value.is_map() || holds_maps) {
        return set.maps;
    }
    // An empty sequence may not know its element type.
    ElementType type = value.sequence().element_type;
    ops::ElementMask mask = set.sequence | set.optional_sequence;
    return type == ElementType::kUndefined ? mask != 0
                                           : (mask & (1u << static_cast<int>(type))) != 0;
}

ElementType element_of(const RuntimeValue& value) {
    if (value.is_tensor()) {
        return value.tensor().element_type();
    }
    return value.is_sequence() ? value.sequence().element_type : ElementType::kUndefined;
}

Status check_input(const ops::Schema& schema, const ops::Parameter& parameter, size_t index,
                   const RuntimeValue& value) {
    const ops::TypeVariable& variable = schema.type_variables[parameter.type_variable];
    if (admits(variable.types, value)) {
        return {};
    }
    if (value.is_none()) {
        return about(calls::missing_input(schema, index));
    }
    return Error{
        fmt::format("input {} (`{}`) is {}, which version {} of the operator does not take", index,
                    parameter.name, value.describe(), schema.since_version)};
}

// The attributes that hold a number of TensorProto.DataType, in every operator that has them.
constexpr std::string_view kElementTypeAttributes[] = {
    "dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type",
    "to",
};

// What the text of the operator says of a value; nothing of a parameter of a function.
Status check_value(const ops::AttributeSchema& known, const ir::Attribute& attribute) {
    const std::string* text = attribute.get<std::string>();
    if (text != nullptr) {
        if (std::optional<calls::Problem> problem = calls::check_enumeration(known, *text)) {
            return Error{problem->text()};
        }
    }
    const auto* number = attribute.get<int64_t>();
    if (number != nullptr && element_type_from_number(*number) == ElementType::kUndefined &&
        !(known.has_default && *number == known.default_int) &&
        std::find(std::begin(kElementTypeAttributes), std::end(kElementTypeAttributes),
                  known.name) != std::end(kElementTypeAttributes)) {
        return Error{
            fmt::format("attribute `{}` is {}, which is no element type", known.name, *number)};
    }
    return {};
}

}  // namespace

std::string describe_inputs(std::span<const RuntimeValue* const> inputs) {
    std::string text;
    for (const RuntimeValue* input : inputs) {
        text += text.empty() ? "" : ", ";
        text += input->describe();
    }
    return text.empty() ? "none" : text;
}

Status check_call(const ops::Schema& schema, std::span<const RuntimeValue* const> inputs,
                  size_t output_count) {
    if (inputs.size() < schema.minimum_inputs || inputs.size() > schema.maximum_inputs)
        [[unlikely]] {
        std::optional<calls::Problem> problem = calls::check_inputs(
            schema, inputs.size(), [&inputs](size_t i) { return !inputs[i]->is_none(); });
        return problem ? about(*problem) : Error{"inputs are missing"};
    }
    if (output_count > schema.maximum_outputs) [[unlikely]] {
        return about(*calls::check_outputs(schema, output_count));
    }
    // The element type that each type variable stands for; tables have few variables.
    std::array<ElementType, 32> bound{};
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ops::Parameter* parameter =
            &schema.inputs[std::min<size_t>(i, schema.inputs.size() - 1)];
        const RuntimeValue& value = *inputs[i];
        if (value.is_none() && parameter->option == ops::ParameterOption::kOptional) {
            continue;
        }
        const ops::TypeVariable& variable = schema.type_variables[parameter->type_variable];
        if (!admits(variable.types, value)) [[unlikely]] {
            return check_input(schema, *parameter, i, value);
        }
        if (!parameter->is_homogeneous || parameter->type_variable >= 32) {
            continue;
        }
        ElementType& first = bound[parameter->type_variable];
        ElementType type = element_of(value);
        if (first == ElementType::kUndefined) {
            first = type;
        } else if (type != first && type != ElementType::kUndefined) [[unlikely]] {
            return Error{
                fmt::format("input {} (`{}`) is {}, but an earlier input of type `{}` is {}", i,
                            parameter->name, value.describe(), variable.name, name(first))};
        }
    }
    return {};
}

Status check_attributes(const ops::Schema& schema, const AttributeView& attributes) {
    for (const ir::Attribute& written : attributes.all()) {
        const ir::Attribute* bound = attributes.resolve(written);
        const ir::Attribute& attribute = bound != nullptr ? *bound : written;
        const ops::AttributeSchema* known = schema.find_attribute(written.name);
        if (known == nullptr) {
            return about(calls::unknown_keyword(schema, written.name));
        }
        if (!same_attribute_type(attribute.type, known->type)) {
            return Error{fmt::format("attribute `{}` is {}, but must be {}", written.name,
                                     ir::name(attribute.type),
                                     ir::name(static_cast<ir::AttributeType>(known->type)))};
        }
        SDX_TRY(check_value(*known, attribute));
    }
    Status status;
    calls::check_required(
        schema,
        [&](std::string_view name) {
            return std::any_of(attributes.all().begin(), attributes.all().end(),
                               [&](const ir::Attribute& a) { return a.name == name; });
        },
        [&](const calls::Problem& problem) { status = about(problem); });
    return status;
}

}  // namespace sardonyx::eval
