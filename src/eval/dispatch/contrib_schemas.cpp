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
        set.tensor |= ops::element_bit(type);
    }
    return set;
}

constexpr Parameter required(std::string_view name, int16_t type) {
    return {name, "", ParameterOption::kSingle, true, type, 1};
}
constexpr Parameter optional(std::string_view name, int16_t type) {
    return {name, "", ParameterOption::kOptional, true, type, 0};
}

constexpr Parameter variadic(std::string_view name, int16_t type) {
    return {name, "", ParameterOption::kVariadic, false, type, 1};
}

constexpr AttributeSchema without_default(std::string_view name, AttributeType type) {
    return {name, "", type, false, false, 0, 0, "", {}, {}, {}, {}};
}
constexpr AttributeSchema with_default(std::string_view name, int64_t value) {
    return {name, "", AttributeType::kInt, false, true, value, 0, "", {}, {}, {}, {}};
}
constexpr AttributeSchema with_default(std::string_view name, float value) {
    return {name, "", AttributeType::kFloat, false, true, 0, value, "", {}, {}, {}, {}};
}
constexpr AttributeSchema needed(std::string_view name, AttributeType type = AttributeType::kInt) {
    return {name, "", type, true, false, 0, 0, "", {}, {}, {}, {}};
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

// --- Real numbers of one type, T; U for statistics
// ----------------------------------------------------------------

constexpr ElementType kBfloat16 = ElementType::kBfloat16, kFloat = ElementType::kFloat,
                      kFloat16 = ElementType::kFloat16, kDouble = ElementType::kDouble;

constexpr TypeVariable kRealTypes[] = {
    {"T", "", tensors({kBfloat16, kDouble, kFloat, kFloat16})},
};
constexpr Parameter kX[] = {required("X", 0)};
constexpr Parameter kY[] = {required("Y", 0)};
constexpr Parameter kBiasGeluInputs[] = {required("A", 0), required("B", 0)};
constexpr Parameter kC[] = {required("C", 0)};
constexpr Parameter kFastGeluInputs[] = {required("X", 0), optional("bias", 0)};
constexpr AttributeSchema kQuickGeluAttributes[] = {with_default("alpha", 1.702F)};
constexpr AttributeSchema kFusedMatMulAttributes[] = {
    with_default("alpha", 1.0F),
    with_default("transA", int64_t{0}),
    with_default("transB", int64_t{0}),
    with_default("transBatchA", int64_t{0}),
    with_default("transBatchB", int64_t{0}),
};

constexpr TypeVariable kSkipTypes[] = {
    {"T", "", tensors({kBfloat16, kFloat, kFloat16})},
    {"U", "", tensors({kFloat})},
};
constexpr Parameter kSkipInputs[] = {required("input", 0), required("skip", 0),
                                     required("gamma", 0), optional("beta", 0),
                                     optional("bias", 0)};
constexpr Parameter kSkipSimplifiedInputs[] = {required("input", 0), required("skip", 0),
                                               required("gamma", 0), optional("bias", 0)};
constexpr Parameter kSkipOutputs[] = {required("output", 0), optional("mean", 1),
                                      optional("inv_std_var", 1),
                                      optional("input_skip_bias_sum", 0)};
constexpr AttributeSchema kSkipAttributes[] = {with_default("epsilon", 1e-12F)};

// --- Attention, MatMulNBits
// ----------------------------------------------------------------

constexpr TypeVariable kAttentionTypes[] = {
    {"M", "", tensors({ElementType::kInt32})},
    {"T", "", tensors({kBfloat16, kFloat, kFloat16})},
};
constexpr Parameter kAttentionInputs[] = {
    required("input", 1),
    required("weights", 1),
    optional("bias", 1),
    optional("mask_index", 0),
    optional("past", 1),
    optional("attention_bias", 1),
    optional("past_sequence_length", 0),
};
constexpr Parameter kAttentionOutputs[] = {required("output", 1), optional("present", 1)};
constexpr AttributeSchema kAttentionAttributes[] = {
    without_default("do_rotary", AttributeType::kInt),
    without_default("mask_filter_value", AttributeType::kFloat),
    needed("num_heads"),
    without_default("past_present_share_buffer", AttributeType::kInt),
    without_default("qkv_hidden_sizes", AttributeType::kInts),
    without_default("rotary_embedding_dim", AttributeType::kInt),
    without_default("scale", AttributeType::kFloat),
    with_default("unidirectional", int64_t{0}),
};

constexpr TypeVariable kPackedTypes[] = {
    {"T1", "", tensors({kBfloat16, kFloat, kFloat16})},
    {"T2", "", tensors({ElementType::kUint8})},
    {"T3", "", tensors({kBfloat16, kFloat, kFloat16, ElementType::kUint8})},
    {"T4", "", tensors({ElementType::kInt32})},
};
constexpr Parameter kPackedInputs[] = {required("A", 0),      required("B", 1),
                                       required("scales", 0), optional("zero_points", 2),
                                       optional("g_idx", 3),  optional("bias", 0)};
constexpr AttributeSchema kPackedAttributes[] = {
    needed("K"),
    needed("N"),
    with_default("accuracy_level", int64_t{0}),
    with_default("bits", int64_t{4}),
    needed("block_size"),
    with_default("weight_prepacked", int64_t{0}),
};

// --- Operators on codes
// ----------------------------------------------------------------

constexpr TypeVariable kCodeTypes[] = {
    {"T", "", tensors({ElementType::kInt8, ElementType::kUint8})},
    {"tensor(float)", "", tensors({kFloat})},
};
constexpr Parameter kTwoCodesInputs[] = {
    required("A", 0),       required("A_scale", 1),      optional("A_zero_point", 0),
    required("B", 0),       required("B_scale", 1),      optional("B_zero_point", 0),
    required("C_scale", 1), optional("C_zero_point", 0),
};
constexpr Parameter kCodesInputs[] = {required("X", 0), required("X_scale", 1),
                                      optional("X_zero_point", 0), required("Y_scale", 1),
                                      optional("Y_zero_point", 0)};
constexpr Parameter kPoolInputs[] = {required("X", 0), required("x_scale", 1),
                                     required("x_zero_point", 0), required("y_scale", 1),
                                     required("y_zero_point", 0)};
constexpr AttributeSchema kLeakyAttributes[] = {with_default("alpha", 0.01F)};
constexpr AttributeSchema kPoolAttributes[] = {with_default("channels_last", int64_t{0})};

constexpr TypeVariable kConcatTypes[] = {
    {"T8", "", tensors({ElementType::kInt8, ElementType::kUint8})},
    {"TF", "", tensors({kFloat})},
    {"TV", "", tensors({kFloat, ElementType::kInt8, ElementType::kUint8})},
};
constexpr Parameter kConcatInputs[] = {required("Y_scale", 1), required("Y_zero_point", 0),
                                       variadic("inputs", 2)};
constexpr AttributeSchema kConcatAttributes[] = {needed("axis")};

// --- Tokenizer
// ----------------------------------------------------------------

constexpr TypeVariable kTextTypes[] = {{"T", "", tensors({ElementType::kString})}};
constexpr AttributeSchema kTokenizerAttributes[] = {
    needed("mark"),
    needed("mincharnum"),
    needed("pad_value", AttributeType::kString),
    without_default("separators", AttributeType::kStrings),
    without_default("tokenexp", AttributeType::kString),
};

// One version of an operator that is always the same.
constexpr ops::Schema schema(std::string_view name, std::span<const Parameter> inputs,
                             std::span<const Parameter> outputs,
                             std::span<const AttributeSchema> attributes,
                             std::span<const TypeVariable> types) {
    auto least = [](std::span<const Parameter> parameters) {
        uint16_t count = 0;
        for (size_t i = 0; i < parameters.size(); ++i) {
            count = parameters[i].option == ParameterOption::kOptional
                        ? count
                        : static_cast<uint16_t>(i + 1);
        }
        return count;
    };
    auto most = [](std::span<const Parameter> parameters) {
        bool is_open = parameters.back().option == ParameterOption::kVariadic;
        return is_open ? uint16_t{UINT16_MAX} : static_cast<uint16_t>(parameters.size());
    };
    return {"com.microsoft", name,         1,
            false,           false,        true,
            least(inputs),   most(inputs), least(outputs),
            most(outputs),   inputs,       outputs,
            attributes,      types,        ""};
}

// Sorted as ops::schemas().
constexpr ops::Schema kSchemas[] = {
    schema("Attention", kAttentionInputs, kAttentionOutputs, kAttentionAttributes, kAttentionTypes),
    schema("BiasGelu", kBiasGeluInputs, kC, {}, kRealTypes),
    schema("DynamicQuantizeLSTM", kLstmInputs, kLstmOutputs, kLstmAttributes, kLstmTypes),
    schema("FastGelu", kFastGeluInputs, kY, {}, kRealTypes),
    schema("FusedMatMul", kBiasGeluInputs, kY, kFusedMatMulAttributes, kRealTypes),
    schema("Gelu", kX, kY, {}, kRealTypes),
    schema("MatMulIntegerToFloat", kScaledProductInputs, kScaledProductOutputs, {},
           kScaledProductTypes),
    schema("MatMulNBits", kPackedInputs, kY, kPackedAttributes, kPackedTypes),
    schema("QLinearAdd", kTwoCodesInputs, kC, {}, kCodeTypes),
    schema("QLinearConcat", kConcatInputs, kY, kConcatAttributes, kConcatTypes),
    schema("QLinearGlobalAveragePool", kPoolInputs, kY, kPoolAttributes, kCodeTypes),
    schema("QLinearLeakyRelu", kCodesInputs, kY, kLeakyAttributes, kCodeTypes),
    schema("QLinearMul", kTwoCodesInputs, kC, {}, kCodeTypes),
    schema("QLinearSigmoid", kCodesInputs, kY, {}, kCodeTypes),
    schema("QuickGelu", kX, kY, kQuickGeluAttributes, kRealTypes),
    schema("SkipLayerNormalization", kSkipInputs, kSkipOutputs, kSkipAttributes, kSkipTypes),
    schema("SkipSimplifiedLayerNormalization", kSkipSimplifiedInputs, kSkipOutputs, kSkipAttributes,
           kSkipTypes),
    schema("Tokenizer", kX, kY, kTokenizerAttributes, kTextTypes),
};

}  // namespace

std::span<const ops::Schema> contrib_schemas() {
    return kSchemas;
}

}  // namespace sardonyx::eval
