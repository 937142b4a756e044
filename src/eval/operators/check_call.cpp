#include "eval/operators/check_call.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "calls/types.h"

namespace sardonyx::eval {
namespace {

// The operator's name stands before every message.
constexpr calls::Naming kNaming = calls::Naming::kAlone;

Error about(const calls::Problem& problem) {
    return Error{problem.says};
}

bool same_attribute_type(ir::AttributeType a, ops::AttributeType b) {
    return static_cast<uint8_t>(a) == static_cast<uint8_t>(b);
}

// A value does not say that its type is Optional: it is what the Optional holds, or nothing.
bool admits(const ops::TypeSet& set, const RuntimeValue& value) {
    if (value.is_none()) {
        return set.optional_tensor != 0 || set.optional_sequence != 0;
    }
    if (value.is_tensor()) {
        ops::ElementMask bit = ops::element_bit(value.tensor().element_type());
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
    return type == ElementType::kUndefined ? mask != 0 : (mask & ops::element_bit(type)) != 0;
}

ElementType element_of(const RuntimeValue& value) {
    if (value.is_tensor()) {
        return value.tensor().element_type();
    }
    return value.is_sequence() ? value.sequence().element_type : ElementType::kUndefined;
}

// For calls::check_types().
struct InputValues {
    std::span<const RuntimeValue* const> inputs;

    bool is_open(const ops::Parameter& parameter, size_t i) const {
        return inputs[i]->is_none() && parameter.option == ops::ParameterOption::kOptional;
    }
    bool is_admitted(const ops::TypeSet& types, size_t i) const {
        return admits(types, *inputs[i]);
    }
    bool differ(size_t i, size_t other) const {
        ElementType a = element_of(*inputs[i]);
        ElementType b = element_of(*inputs[other]);
        return a != b && a != ElementType::kUndefined && b != ElementType::kUndefined;
    }
    std::string describe(size_t i) const { return inputs[i]->describe(); }
};

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
            fmt::format("attribute `{}` is {}, which is not an element type", known.name, *number)};
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
    std::optional<Error> wrong;
    calls::check_types(
        schema, inputs.size(), InputValues{inputs}, kNaming, [&](const calls::Problem& problem) {
            size_t input = static_cast<size_t>(problem.input);
            wrong = inputs[input]->is_none() ? about(calls::missing_input(schema, input))
                                             : Error{problem.text()};
            return false;
        });
    if (wrong) [[unlikely]] {
        return *std::move(wrong);
    }
    return {};
}

Status check_attributes(const ops::Schema& schema, const AttributeView& attributes) {
    if (schema.since_version == 0) {  // of a user's kernel, which takes what it wants
        return {};
    }
    for (const ir::Attribute& written : attributes.all()) {
        const ir::Attribute* bound = attributes.resolve(written);
        const ir::Attribute& attribute = bound != nullptr ? *bound : written;
        const ops::AttributeSchema* known = schema.find_attribute(written.name);
        if (known == nullptr) {
            return about(calls::unknown_keyword(schema, written.name));
        }
        if (!same_attribute_type(attribute.type, known->type)) {
            ir::AttributeType wanted = known->type;
            return Error{calls::wrong_attribute_type(schema, written.name,
                                                     sardonyx::name(attribute.type),
                                                     sardonyx::name(wanted), kNaming)
                             .message()};
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
