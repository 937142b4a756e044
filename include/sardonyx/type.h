// TypeInfo: the type of a value, taken apart.
#pragma once

#include <sardonyx/export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// A dimension: a number, a name or an expression of names ("2*N + 1"), or nothing that is known.
struct DimInfo {
    std::string text;              // empty: nothing is known
    std::optional<int64_t> value;  // of a number

    friend bool operator==(const DimInfo&, const DimInfo&) = default;
};

// What the texts of ValueInfo and Expr::type() say. A TypeInfo is plain data.
struct SDX_API TypeInfo {
    enum class Kind { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap };
    Kind kind = Kind::kUnknown;
    // "FLOAT", "INT64", ... of a tensor, of the keys of a map; empty: it is not known, or none.
    std::string element_type;
    // Of a tensor; nothing: the rank is not known.
    std::optional<std::vector<DimInfo>> dims;
    // What a sequence or an optional holds, or the values of a map: one type, else none.
    std::vector<TypeInfo> element;

    // Error: the text is no type.
    static TypeInfo parse(std::string_view text);
    // The text that parse() reads. Error: the parts do not make a type.
    std::string to_text() const;

    friend bool operator==(const TypeInfo&, const TypeInfo&) = default;
};

}  // namespace v1
}  // namespace sardonyx
