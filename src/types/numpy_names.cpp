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
