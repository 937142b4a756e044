#include "types/numpy_names.h"

#include <algorithm>
#include <iterator>

namespace sardonyx {

std::string_view numpy_name(ElementType type) {
    struct Row {
        ElementType type;
        std::string_view name;
    };
    static constexpr Row kOwn[] = {
        {ElementType::kFloat, "float32"},
        {ElementType::kDouble, "float64"},
        {ElementType::kString, "object"},
        {ElementType::kFloat8E4M3FN, "float8_e4m3fn"},
        {ElementType::kFloat8E4M3FNUZ, "float8_e4m3fnuz"},
        {ElementType::kFloat8E5M2, "float8_e5m2"},
        {ElementType::kFloat8E5M2FNUZ, "float8_e5m2fnuz"},
        {ElementType::kFloat4E2M1, "float4_e2m1fn"},
        {ElementType::kFloat8E8M0, "float8_e8m0fnu"},
        {ElementType::kFloat6E2M3, "float6_e2m3fn"},
        {ElementType::kFloat6E3M2, "float6_e3m2fn"},
    };
    const Row* found = std::find_if(std::begin(kOwn), std::end(kOwn),
                                    [type](const Row& row) { return row.type == type; });
    return found != std::end(kOwn) ? found->name : info(type).schema_name;
}

ElementType element_type_from_numpy(std::string_view name) {
    for (int i = 1; i < kElementTypeCount; ++i) {
        if (numpy_name(static_cast<ElementType>(i)) == name) {
            return static_cast<ElementType>(i);
        }
    }
    return ElementType::kUndefined;
}

std::string_view element_name_meant(std::string_view name) {
    struct Row {
        std::string_view given, meant;
    };
    static constexpr Row kRows[] = {
        {"BF16", "BFLOAT16"},    {"BOOLEAN", "BOOL"},        {"CDOUBLE", "COMPLEX128"},
        {"CFLOAT", "COMPLEX64"}, {"F16", "FLOAT16"},         {"F32", "FLOAT"},
        {"F64", "DOUBLE"},       {"FLOAT32", "FLOAT"},       {"FLOAT4", "FLOAT4E2M1"},
        {"FLOAT64", "DOUBLE"},   {"FLOAT8", "FLOAT8E4M3FN"}, {"FP16", "FLOAT16"},
        {"FP32", "FLOAT"},       {"FP64", "DOUBLE"},         {"HALF", "FLOAT16"},
        {"I16", "INT16"},        {"I32", "INT32"},           {"I64", "INT64"},
        {"I8", "INT8"},          {"INT", "INT64"},           {"INTEGER", "INT64"},
        {"LONG", "INT64"},       {"SHORT", "INT16"},         {"SINGLE", "FLOAT"},
        {"STR", "STRING"},       {"TENSOR", "TensorType"},   {"U16", "UINT16"},
        {"U32", "UINT32"},       {"U64", "UINT64"},          {"U8", "UINT8"},
        {"UINT", "UINT64"},
    };
    auto is_given = [name](const Row& row) {
        return std::equal(name.begin(), name.end(), row.given.begin(), row.given.end(),
                          [](char one, char other) {
                              return (one >= 'a' && one <= 'z' ? one - 'a' + 'A' : one) == other;
                          });
    };
    const Row* found = std::find_if(std::begin(kRows), std::end(kRows), is_given);
    return found != std::end(kRows) ? found->meant : std::string_view();
}

std::string conversion_help(std::string_view name, ElementType given, ElementType wanted) {
    auto is_number = [](ElementType type) {
        return type != ElementType::kUndefined && type != ElementType::kString;
    };
    if (given == wanted || !is_number(given) || !is_number(wanted)) {
        return {};
    }
    std::string help = ": convert it, as NumPy's `";
    return help.append(name).append(".astype(\"").append(numpy_name(wanted)).append("\")` does");
}

}  // namespace sardonyx
