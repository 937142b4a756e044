// The safetensors format: eight bytes with the length of a JSON header, the header, the data.
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}
// https://huggingface.co/docs/safetensors
#include <fmt/format.h>

#include <optional>

#include "base/json.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "weights/scanner.h"
#include "weights/weights.h"

namespace sardonyx::weights {
namespace {

constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // the format's own limit
constexpr size_t kMaxSafetensorsRank = 64;

struct DtypeRow {
    std::string_view name;
    ElementType type;
};

constexpr DtypeRow kDtypes[] = {
    {"BOOL", ElementType::kBool},
    {"U8", ElementType::kUint8},
    {"I8", ElementType::kInt8},
    {"I16", ElementType::kInt16},
    {"U16", ElementType::kUint16},
    {"F16", ElementType::kFloat16},
    {"BF16", ElementType::kBfloat16},
    {"I32", ElementType::kInt32},
    {"U32", ElementType::kUint32},
    {"F32", ElementType::kFloat},
    {"F64", ElementType::kDouble},
    {"I64", ElementType::kInt64},
    {"U64", ElementType::kUint64},
    {"C64", ElementType::kComplex64},
    {"F8_E5M2", ElementType::kFloat8E5M2},
    {"F8_E4M3", ElementType::kFloat8E4M3FN},
    {"F8_E8M0", ElementType::kFloat8E8M0},
    {"F4", ElementType::kFloat4E2M1},
};

struct Entry {
    std::string name;
    std::string dtype;
    Dims dims;
    std::vector<int64_t> offsets;
};

// The JSON of the header, and nothing else of JSON: objects of strings, strings and lists of
// natural numbers.
class SafetensorsHeader : Scanner {
  public:
    using Scanner::Scanner;

    // False: the header is damaged.
    bool parse(std::vector<Entry>& entries) {
        bool is_object = members([this, &entries](std::string& key) {
            if (key == "__metadata__") {
                return members([this](std::string&) { return string().has_value(); });
            }
            Entry entry;
            entry.name = std::move(key);
            bool complete = members([this, &entry](std::string& field) {
                if (field == "dtype") {
                    std::optional<std::string> dtype = string();
                    entry.dtype = dtype.value_or("");
                    return dtype.has_value();
                }
                return field == "shape" ? numbers(entry.dims)
                                        : field == "data_offsets" && numbers(entry.offsets);
            });
            entries.push_back(std::move(entry));
            return complete;
        });
        return is_object && peek() == '\0';
    }

  private:
    template <typename Member>
    bool members(Member member) {
        if (!take('{')) {
            return false;
        }
        if (take('}')) {
            return true;
        }
        do {
            std::optional<std::string> key = string();
            if (!key || !take(':') || !member(*key)) {
                return false;
            }
        } while (take(','));
        return take('}');
    }

    bool numbers(std::vector<int64_t>& values) {
        values.clear();
        if (!take('[')) {
            return false;
        }
        if (take(']')) {
            return true;
        }
        do {
            int64_t value = 0;
            bool any = false;
            for (char c = peek(); c >= '0' && c <= '9'; any = true) {
                if (__builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, c - '0', &value)) {
                    return false;
                }
                c = ++position < source.size() ? source[position] : '\0';
            }
            if (!any || values.size() == kMaxSafetensorsRank) {
                return false;
            }
            values.push_back(value);
        } while (take(','));
        return take(']');
    }

    std::optional<std::string> string() {
        if (!take('"')) {
            return std::nullopt;
        }
        std::string value;
        while (position < source.size() && source[position] != '"') {
            char c = source[position++];
            if (c != '\\') {
                value += c;
            } else if (!escape(value)) {
                return std::nullopt;
            }
        }
        return position++ < source.size() ? std::optional<std::string>(std::move(value))
                                          : std::nullopt;
    }

    bool escape(std::string& value) {
        constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
        char c = position < source.size() ? source[position++] : '\0';
        size_t letter = c == '\0' ? std::string_view::npos : kLetters.find(c);
        if (letter != std::string_view::npos) {
            value += kMeanings[letter];
            return true;
        }
        if (c != 'u' || source.size() - position < 4) {
            return false;
        }
        uint32_t code = 0;
        for (size_t i = 0; i < 4; ++i) {
            size_t digit = std::string_view("0123456789abcdefABCDEF").find(source[position++]);
            if (digit == std::string_view::npos) {
                return false;
            }
            code = code * 16 + static_cast<uint32_t>(digit > 15 ? digit - 6 : digit);
        }
        append_utf8(value, code);
        return true;
    }
};

Result<Tensor> to_tensor(Entry& entry, std::span<const std::byte> data,
                         const std::shared_ptr<const void>& owner) {
    ElementType type = ElementType::kUndefined;
    for (const DtypeRow& row : kDtypes) {
        type = row.name == entry.dtype ? row.type : type;
    }
    if (type == ElementType::kUndefined) {
        return Error{fmt::format("the tensor {} has the type {}, which ONNX does not have",
                                 quoted(entry.name), quoted(entry.dtype))};
    }
    std::optional<int64_t> count = element_count(entry.dims);
    bool has_offsets = entry.offsets.size() == 2 && entry.offsets[0] <= entry.offsets[1] &&
                       static_cast<uint64_t>(entry.offsets[1]) <= data.size();
    size_t begin = has_offsets ? static_cast<size_t>(entry.offsets[0]) : 0;
    size_t size = has_offsets ? static_cast<size_t>(entry.offsets[1]) - begin : 0;
    if (!count || !has_offsets || byte_size(type, *count) != size) {
        return Error{fmt::format("the data of the tensor {} does not fit its shape and the file",
                                 quoted(entry.name))};
    }
    return Tensor::view_of(type, std::move(entry.dims), data.subspan(begin, size), owner);
}

const DtypeRow* dtype_row(ElementType type) {
    for (const DtypeRow& row : kDtypes) {
        if (row.type == type) {
            return &row;
        }
    }
    return nullptr;
}

}  // namespace

bool has_safetensors(ElementType type) {
    return dtype_row(type) != nullptr;
}

Result<std::string> safetensors_header(const NamedTensors& tensors) {
    std::string header = "{";
    size_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        const DtypeRow* row = dtype_row(tensor.element_type());
        if (row == nullptr) {
            return Error{fmt::format("the tensor {} has the type {}, which .safetensors lack",
                                     quoted(name), sardonyx::name(tensor.element_type()))};
        }
        size_t end = offset + tensor.stored_bytes().size();
        header += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                              offset == 0 && header.size() == 1 ? "" : ",",
                              json_string(name, JsonText::kExact), row->name,
                              fmt::join(tensor.dims(), ","), offset, end);
        offset = end;
    }
    header += '}';
    constexpr size_t kAlignment = 64;
    header.append((kAlignment - (header.size() + sizeof(uint64_t)) % kAlignment) % kAlignment, ' ');
    std::string prefix;
    for (size_t i = 0; i < sizeof(uint64_t); ++i) {
        prefix += static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i) & 0xFFU);
    }
    return prefix + header;
}

Result<NamedTensors> read_safetensors(std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner) {
    constexpr size_t kPrefix = 8;
    uint64_t length = 0;
    for (size_t i = 0; i < kPrefix && i < bytes.size(); ++i) {
        length |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    }
    if (bytes.size() < kPrefix || length > kMaxSafetensorsHeader ||
        length > bytes.size() - kPrefix) {
        return Error{"it is not a .safetensors file, or ends in its header"};
    }
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::vector<Entry> entries;
    if (!SafetensorsHeader(text.substr(kPrefix, length)).parse(entries)) {
        return Error{"its header is damaged"};
    }
    NamedTensors tensors;
    std::span<const std::byte> data = bytes.subspan(kPrefix + length);
    size_t total = 0;
    for (Entry& entry : entries) {
        Result<Tensor> tensor = to_tensor(entry, data, owner);
        SDX_TRY(tensor);
        // The format forbids tensors that share their bytes.
        if (tensor->stored_bytes().size() > data.size() - total) {
            return Error{"its tensors overlap"};
        }
        total += tensor->stored_bytes().size();
        tensors.emplace_back(std::move(entry.name), std::move(*tensor));
    }
    return tensors;
}

}  // namespace sardonyx::weights
