#include "proto/onnx_text_words.h"

#include <string>

namespace sardonyx::proto {
namespace {

bool is_letter(char c) {
    char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'z';
}

bool is_decimal_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

uint32_t data_field(ElementType type) {
    switch (type) {
        case ElementType::kFloat:
        case ElementType::kComplex64:
            return TensorField::kFloatData;
        case ElementType::kDouble:
        case ElementType::kComplex128:
            return TensorField::kDoubleData;
        case ElementType::kInt64:
            return TensorField::kInt64Data;
        case ElementType::kUint32:
        case ElementType::kUint64:
            return TensorField::kUint64Data;
        case ElementType::kString:
            return TensorField::kStringData;
        default:
            return TensorField::kInt32Data;
    }
}

ElementType element_type_of_word(std::string_view word) {
    for (int i = 1; i < kElementTypeCount; ++i) {
        if (kElementTypeInfos[i].schema_name == word) {
            return static_cast<ElementType>(i);
        }
    }
    return ElementType::kUndefined;
}

bool is_type_word(std::string_view word) {
    return word == "seq" || word == "map" || word == "optional" || word == "sparse_tensor" ||
           word == "opaque" || element_type_of_word(word) != ElementType::kUndefined;
}

bool is_number_word(std::string_view text) {
    std::string letters;
    for (char c : text) {
        if (!is_letter(c)) {
            break;
        }
        letters += static_cast<char>(c | 0x20);
    }
    bool is_number = letters == "inf" || letters == "infinity" || letters == "nan";
    return is_number && (letters.size() == text.size() || !is_decimal_digit(text[letters.size()]));
}

bool is_identifier(std::string_view text) {
    bool is_first = true;
    for (char c : text) {
        if (!is_letter(c) && c != '_' && (is_first || !is_decimal_digit(c))) {
            return false;
        }
        is_first = false;
    }
    return !text.empty();
}

}  // namespace sardonyx::proto
