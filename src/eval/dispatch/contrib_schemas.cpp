#include "eval/dispatch/contrib_schemas.h"

namespace sardonyx::eval {
namespace {

using ops::AttributeSchema;
using ops::AttributeType;
using ops::Parameter;
using ops::ParameterOption;
using ops::TypeVariable;

constexpr ops::TypeSet tensors(std::initializer_list<ElementType> types) {
    ops::TypeSet set;
    for (ElementType type : types) {
        set.tensor |= ops::ElementMask{1} << static_cast<int>(type);
    }
    return set;
}

constexpr Parameter required(std::string_view name, int16_t type) {
    return {name, "", ParameterOption::kSingle, true, type, 1};
}
constexpr Parameter optional(std::string_view name, int16_t type) {
    return {name, "", ParameterOption::kOptional, true, type, 0};
}

constexpr AttributeSchema without_default(std::string_view name, AttributeType type) {
    return {name, "", type, false, false, 0, 0, "", {}, {}, {}, {}};
}
constexpr AttributeSchema with_default(std::string_view name, int64_t value) {
    return {name, "", AttributeType::kInt, false, true, value, 0, "", {}, {}, {}, {}};
}
constexpr AttributeSchema with_default(std::string_view name, std::string_view value) {
    return {name, "", AttributeType::kString, false, true, 0, 0, value, {}, {}, {}, {}};
}

// --- DynamicQuantizeLSTM: T, T1, T2
// ----------------------------------------------------------------

constexpr TypeVariable kLstmTypes[] = {
    {"T", "", tensors({ElementType::kFloat})},
    {"T1", "", tensors({ElementType::kInt32})},
    {"T2", "", tensors({ElementType::kInt8, ElementType::kUint8})},
};
constexpr Parameter kLstmInputs[] = {
    required("X", 0),
    required("W", 2),
    required("R", 2),
    optional("B", 0),
    optional("sequence_lens", 1),
    optional("initial_h", 0),
    optional("initial_c", 0),
    optional("P", 0),
    required("W_scale", 0),
    required("W_zero_point", 2),
    required("R_scale", 0),
    required("R_zero_point", 2),
};
constexpr Parameter kLstmOutputs[] = {optional("Y", 0), optional("Y_h", 0), optional("Y_c", 0)};
constexpr AttributeSchema kLstmAttributes[] = {
    without_default("activation_alpha", AttributeType::kFloats),
    without_default("activation_beta", AttributeType::kFloats),
    without_default("activations", AttributeType::kStrings),
    without_default("clip", AttributeType::kFloat),
    with_default("direction", "forward"),
    without_default("hidden_size", AttributeType::kInt),
    with_default("input_forget", int64_t{0}),
};

// --- MatMulIntegerToFloat: T1, T2, T3
// ----------------------------------------------------------------

constexpr TypeVariable kScaledProductTypes[] = {
    {"T1", "", tensors({ElementType::kInt8, ElementType::kUint8})},
    {"T2", "", tensors({ElementType::kInt8, ElementType::kUint8})},
    {"T3", "", tensors({ElementType::kFloat})},
};
constexpr Parameter kScaledProductInputs[] = {
    required("A", 0),
    required("B", 1),
    required("a_scale", 2),
    required("b_scale", 2),
    optional("a_zero_point", 0),
    optional("b_zero_point", 1),
    optional("bias", 2),
};
constexpr Parameter kScaledProductOutputs[] = {required("Y", 2)};

// Sorted as ops::schemas().
constexpr ops::Schema kSchemas[] = {
    {"com.microsoft", "DynamicQuantizeLSTM", 1, false, false, true, 12, 12, 0, 3, kLstmInputs,
     kLstmOutputs, kLstmAttributes, kLstmTypes, ""},
    {"com.microsoft",
     "MatMulIntegerToFloat",
     1,
     false,
     false,
     true,
     4,
     7,
     1,
     1,
     kScaledProductInputs,
     kScaledProductOutputs,
     {},
     kScaledProductTypes,
     ""},
};

}  // namespace

std::span<const ops::Schema> contrib_schemas() {
    return kSchemas;
}

}  // namespace sardonyx::eval
