#include "decompile/cpp_text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "decompile/text.h"

namespace sardonyx::decompile {
namespace {

constexpr size_t kColumns = 100;
constexpr int64_t kMostBytes = int64_t{1} << 24;  // of a tensor that stands in the text

constexpr std::string_view kTaken[] = {
    "Array",
    "Builder",
    "Expr",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "argc",
    "argv",
    "asm",
    "assert",
    "auto",
    "b",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "i386",
    "if",
    "inline",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "linux",
    "long",
    "main",
    "major",
    "makedev",
    "minor",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "offsetof",
    "op",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "sardonyx",
    "setjmp",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "std",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "weights",
    "while",
    "xor",
    "xor_eq",
};

std::string_view type_word(ElementType type) {
    switch (type) {
        case ElementType::kFloat:
            return "float";
        case ElementType::kDouble:
            return "double";
        case ElementType::kInt8:
            return "int8_t";
        case ElementType::kInt16:
            return "int16_t";
        case ElementType::kInt32:
            return "int32_t";
        case ElementType::kInt64:
            return "int64_t";
        case ElementType::kUint8:
            return "uint8_t";
        case ElementType::kUint16:
            return "uint16_t";
        case ElementType::kUint32:
            return "uint32_t";
        case ElementType::kUint64:
            return "uint64_t";
        case ElementType::kBool:
            return "bool";
        default:
            return {};
    }
}

std::string double_word(double value) {
    return std::isfinite(value) ? with_point(fmt::format("{}", value))
                                : fmt::format("std::bit_cast<double>(uint64_t{{{:#x}}})",
                                              std::bit_cast<uint64_t>(value));
}

template <typename T, typename Word>
std::string joined(std::span<const T> elements, const Word& word) {
    std::string text;
    for (const T& element : elements) {
        text += (text.empty() ? "" : ", ") + word(element);
    }
    return text;
}

template <typename T>
std::string numbers(const Tensor& tensor) {
    return joined(tensor.elements<T>(), [](T value) -> std::string {
        if constexpr (std::is_same_v<T, float>) {
            return cpp_float(value);
        } else if constexpr (std::is_same_v<T, double>) {
            return double_word(value);
        } else if constexpr (std::is_same_v<T, uint64_t>) {
            return fmt::format("{}u", value);
        } else {
            return cpp_int(value);
        }
    });
}

std::string elements_of(const Tensor& tensor) {
    switch (tensor.element_type()) {
        case ElementType::kFloat:
            return numbers<float>(tensor);
        case ElementType::kDouble:
            return numbers<double>(tensor);
        case ElementType::kInt8:
            return numbers<int8_t>(tensor);
        case ElementType::kInt16:
            return numbers<int16_t>(tensor);
        case ElementType::kInt32:
            return numbers<int32_t>(tensor);
        case ElementType::kInt64:
            return numbers<int64_t>(tensor);
        case ElementType::kUint8:
            return numbers<uint8_t>(tensor);
        case ElementType::kUint16:
            return numbers<uint16_t>(tensor);
        case ElementType::kUint32:
            return numbers<uint32_t>(tensor);
        case ElementType::kUint64:
            return numbers<uint64_t>(tensor);
        case ElementType::kBool:
            return joined(tensor.bytes(), [](std::byte value) -> std::string {
                return value == std::byte{0} ? "false" : "true";
            });
        default:
            return joined(tensor.bytes(), [](std::byte value) {
                return fmt::format("std::byte{{{:#04x}}}", static_cast<uint8_t>(value));
            });
    }
}

}  // namespace

std::string cpp_string(std::string_view text) {
    std::string literal = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\' || c == '?') {  // `??` begins a trigraph
            literal += '\\';
            literal += c;
        } else if (c >= 0x20 && c < 0x7F) {
            literal += c;
        } else {
            literal += fmt::format("\\{:03o}", static_cast<uint8_t>(c));
        }
    }
    literal += '"';
    return text.find('\0') == std::string_view::npos
               ? literal
               : fmt::format("std::string({}, {})", literal, text.size());
}

std::string cpp_float(float value) {
    return std::isfinite(value) ? with_point(fmt::format("{}", value)) + "f"
                                : fmt::format("std::bit_cast<float>(uint32_t{{{:#x}}})",
                                              std::bit_cast<uint32_t>(value));
}

std::string cpp_int(int64_t value) {
    return value == std::numeric_limits<int64_t>::min() ? "std::numeric_limits<int64_t>::min()"
                                                        : fmt::to_string(value);
}

std::string cpp_ints(const std::vector<int64_t>& values) {
    return fmt::format("std::vector<int64_t>{{{}}}",
                       joined(std::span<const int64_t>(values), cpp_int));
}

namespace {

// `{1, 2}`
std::string cpp_dims(const Dims& dims) {
    std::vector<int64_t> values(dims.begin(), dims.end());
    return fmt::format("{{{}}}", joined(std::span<const int64_t>(values), cpp_int));
}

}  // namespace

Result<std::string> cpp_array(const Tensor& tensor) {
    ElementType type = tensor.element_type();
    if (type == ElementType::kString) {
        return fmt::format("Array{{\"STRING\", {}, {{}}, {{{}}}}}", cpp_dims(tensor.dims()),
                           joined(tensor.elements<std::string>(),
                                  [](const std::string& one) { return cpp_string(one); }));
    }
    if (static_cast<int64_t>(tensor.bytes().size()) > kMostBytes) {
        return Error{fmt::format("a tensor of {} bytes, which is too large for a text",
                                 tensor.bytes().size())};
    }
    std::string_view word = type_word(type);
    if (word.empty()) {
        return fmt::format("Array{{\"{}\", {}, {{{}}}, {{}}}}", name(type), cpp_dims(tensor.dims()),
                           elements_of(tensor));
    }
    return fmt::format("Array::of<{}>({}, {{{}}})", word, cpp_dims(tensor.dims()),
                       elements_of(tensor));
}

std::span<const std::string_view> cpp_taken_names() {
    return kTaken;
}

void append_cpp_line(std::string& text, size_t indent, std::string_view line) {
    constexpr size_t kContinued = 4;
    size_t column = indent;
    text.append(indent, ' ');
    while (column + line.size() > kColumns) {
        // The last comma that is no part of a string and leaves the line short enough, or the
        // first.
        size_t cut = 0;
        bool is_string = false;
        for (size_t i = 0; i + 1 < line.size(); ++i) {
            if (line[i] == '"') {
                is_string = !is_string;
            } else if (is_string && line[i] == '\\') {
                ++i;
            } else if (!is_string && line.substr(i, 2) == ", ") {
                if (cut != 0 && column + i >= kColumns) {
                    break;
                }
                cut = i + 1;
            }
        }
        if (cut == 0) {
            break;
        }
        text += line.substr(0, cut);
        text += '\n';
        column = indent + kContinued;
        text.append(column, ' ');
        line.remove_prefix(cut + 1);
    }
    text += line;
    text += '\n';
}

}  // namespace sardonyx::decompile
