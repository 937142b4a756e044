#include "weights/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "types/packed.h"
#include "weights/scanner.h"

namespace sardonyx::weights {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxNpyHeader = 64 * 1024;
constexpr size_t kMaxNpyRank = 64;  // NumPy's own limit
constexpr size_t kMaxStringBytes = size_t{1} << 30;

// NumPy's code of a type, without the byte order.
struct NumpyType {
    std::string_view code;
    ElementType type;
};

constexpr NumpyType kNumpyTypes[] = {
    {"b1", ElementType::kBool},      {"i1", ElementType::kInt8},
    {"i2", ElementType::kInt16},     {"i4", ElementType::kInt32},
    {"i8", ElementType::kInt64},     {"u1", ElementType::kUint8},
    {"u2", ElementType::kUint16},    {"u4", ElementType::kUint32},
    {"u8", ElementType::kUint64},    {"f2", ElementType::kFloat16},
    {"f4", ElementType::kFloat},     {"f8", ElementType::kDouble},
    {"c8", ElementType::kComplex64}, {"c16", ElementType::kComplex128},
};

struct Header {
    std::string descr;
    bool fortran_order = false;
    Dims dims;
};

// --- The header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ---------------------

class NpyHeader : Scanner {
  public:
    using Scanner::Scanner;

    Result<Header> parse() {
        Header header;
        bool has_descr = false, has_order = false, has_shape = false;
        if (!take('{')) {
            return fail();
        }
        while (!take('}')) {
            std::string key;
            if (!string(key) || !take(':')) {
                return fail();
            }
            bool known = false;
            if (key == "descr") {
                if (peek() == '[') {
                    return Error{"it is a structured array, which no tensor can hold"};
                }
                known = has_descr = string(header.descr);
            } else if (key == "fortran_order") {
                known = has_order = boolean(header.fortran_order);
            } else if (key == "shape") {
                known = has_shape = shape(header.dims);
            }
            if (!known || (!take(',') && peek() != '}')) {
                return fail();
            }
        }
        if (!has_descr || !has_order || !has_shape || peek() != '\0') {
            return fail();
        }
        return header;
    }

  private:
    static Error fail() { return Error{"its header is damaged"}; }

    bool word(std::string_view word) {
        bool is_there = peek() != '\0' && source.substr(position, word.size()) == word;
        position += is_there ? word.size() : 0;
        return is_there;
    }
    bool string(std::string& value) {
        char quote = peek();
        if (quote != '\'' && quote != '"') {
            return false;
        }
        size_t end = source.find(quote, position + 1);
        if (end == std::string_view::npos) {
            return false;
        }
        value = source.substr(position + 1, end - position - 1);
        position = end + 1;
        return value.find('\\') == std::string::npos;
    }
    bool boolean(bool& value) {
        value = word("True");
        return value || word("False");
    }
    bool integer(int64_t& value) {
        value = 0;
        size_t digits = 0;
        for (char c = peek(); c >= '0' && c <= '9'; ++digits) {
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, c - '0', &value)) {
                return false;
            }
            c = ++position < source.size() ? source[position] : '\0';
        }
        (void)word("L");  // files of Python 2
        return digits != 0;
    }
    bool shape(Dims& dims) {
        if (!take('(')) {
            return false;
        }
        while (!take(')')) {
            int64_t dim = 0;
            if (dims.size() == kMaxNpyRank || !integer(dim)) {
                return false;
            }
            dims.push_back(dim);
            if (!take(',') && peek() != ')') {
                return false;
            }
        }
        return true;
    }
};

// --- Elements ------------------------------------------------------------------------------------

// How the elements lie in the file.
struct Layout {
    char order = '|';  // '<', '>' or '|'
    char kind = 'V';
    size_t size = 0;                             // bytes of one element
    ElementType type = ElementType::kUndefined;  // undefined: a void type
};

Result<Layout> read_layout(const std::string& descr, ElementType wanted) {
    Layout layout;
    std::string_view code = descr;
    if (!code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos) {
        layout.order = code[0] == '=' ? '<' : code[0];
        code.remove_prefix(1);
    }
    if (code == "O") {
        return Error{"it holds Python objects; save it with a number type"};
    }
    for (const NumpyType& row : kNumpyTypes) {
        if (row.code == code) {
            return Layout{layout.order, code[0], info(row.type).bits / size_t{8}, row.type};
        }
    }
    code = code == "f1" ? "V1" : code;  // what ml_dtypes calls its float8_e5m2
    bool has_size = code.size() >= 2 && code.size() <= 10 &&
                    std::string_view("USV").find(code[0]) != std::string_view::npos &&
                    code.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (!has_size) {
        return Error{fmt::format("ONNX has no element type for NumPy's {}", quoted(descr))};
    }
    layout.kind = code[0];
    layout.size = 0;
    for (char digit : code.substr(1)) {
        layout.size = layout.size * 10 + static_cast<size_t>(digit - '0');
    }
    layout.size *= layout.kind == 'U' ? 4 : 1;
    layout.type = layout.kind == 'V' ? wanted : ElementType::kString;
    size_t expected = (info(wanted).bits + size_t{7}) / 8;
    if (layout.kind == 'V' && (wanted == ElementType::kUndefined || expected != layout.size)) {
        return Error{fmt::format(
            "NumPy's {} does not say what the bytes are; the model must want a type of {} bytes",
            quoted(descr), layout.size)};
    }
    return layout;
}

// The elements in C order from Fortran order: the first index runs fastest in the file.
std::vector<std::byte> from_fortran(std::span<const std::byte> bytes, const Dims& dims,
                                    size_t size) {
    std::vector<std::byte> result(bytes.size());
    std::vector<size_t> strides(dims.size());  // in the file, in elements
    size_t stride = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
        strides[i] = stride;
        stride *= static_cast<size_t>(dims[i]);
    }
    std::vector<int64_t> index(dims.size(), 0);
    size_t from = 0;
    for (size_t to = 0; to < bytes.size(); to += size) {
        std::memcpy(result.data() + to, bytes.data() + from * size, size);
        for (size_t axis = dims.size(); axis-- > 0;) {
            from += strides[axis];
            if (++index[axis] < dims[axis]) {
                break;
            }
            from -= strides[axis] * static_cast<size_t>(dims[axis]);
            index[axis] = 0;
        }
    }
    return result;
}

void swap_bytes(std::vector<std::byte>& bytes, size_t word) {
    for (size_t at = 0; at + word <= bytes.size(); at += word) {
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + word));
    }
}

void append_utf8(std::string& text, uint32_t code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(kLead[more] | (code >> (6 * more)));
    while (more-- > 0) {
        text += static_cast<char>(0x80 | ((code >> (6 * more)) & 0x3F));
    }
}

Result<Tensor> read_strings(const std::vector<std::byte>& bytes, const Layout& layout,
                            const Dims& dims, size_t count) {
    std::vector<std::string> strings(count);
    for (size_t i = 0; i < count; ++i) {
        const std::byte* element = bytes.data() + i * layout.size;
        std::string& text = strings[i];
        if (layout.kind == 'S') {
            text.assign(reinterpret_cast<const char*>(element), layout.size);
        }
        for (size_t at = 0; layout.kind == 'U' && at < layout.size; at += 4) {
            uint32_t code = 0;
            std::memcpy(&code, element + at, 4);
            if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
                return Error{"it holds a string that is not Unicode"};
            }
            append_utf8(text, code);
        }
        text.erase(text.find_last_not_of('\0') + 1);  // NumPy pads with zeros
    }
    return Tensor::of_strings(dims, std::move(strings));
}

// Bytes of a vector as storage that a tensor can own.
Tensor own(ElementType type, Dims dims, std::vector<std::byte> bytes) {
    auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    return Tensor::view_of(type, std::move(dims), *owner, owner);
}

Result<Tensor> read_elements(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const Layout& layout, const Header& header, size_t count) {
    size_t bits = info(layout.type).bits;
    bool is_string = layout.type == ElementType::kString;
    bool is_swapped = layout.order == '>' && layout.kind != 'S' && layout.kind != 'V';
    bool is_view = !is_string && !is_swapped && !header.fortran_order && bits >= 8;
    if (is_view) {
        return Tensor::view_of(layout.type, header.dims, bytes, std::move(owner));
    }
    if (is_string && bytes.size() > kMaxStringBytes) {
        return Error{"its strings take more than 1 GiB"};
    }
    std::vector<std::byte> elements = header.fortran_order && count != 0 && layout.size != 0
                                          ? from_fortran(bytes, header.dims, layout.size)
                                          : std::vector<std::byte>(bytes.begin(), bytes.end());
    if (is_swapped) {
        bool is_complex = layout.kind == 'c';
        swap_bytes(elements, layout.kind == 'U' ? 4 : is_complex ? layout.size / 2 : layout.size);
    }
    if (is_string) {
        return read_strings(elements, layout, header.dims, count);
    }
    if (bits < 8) {
        // One element a byte, as ml_dtypes has them.
        std::vector<std::byte> packed((elements.size() * bits + 7) / 8);
        pack_codes({reinterpret_cast<const uint8_t*>(elements.data()), elements.size()},
                   static_cast<int>(bits), packed);
        elements = std::move(packed);
    }
    return own(layout.type, header.dims, std::move(elements));
}

uint32_t little_endian(std::span<const std::byte> bytes, size_t at, size_t size) {
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
        value |= static_cast<uint32_t>(bytes[at + i]) << (8 * i);
    }
    return value;
}

// --- Writing -------------------------------------------------------------------------------------

// UCS-4 texts, all as wide as the widest.
Result<std::string> write_strings(const Tensor& tensor, std::string& descr) {
    std::vector<std::vector<uint32_t>> texts;
    size_t width = 1;
    for (const std::string& text : tensor.elements<std::string>()) {
        std::vector<uint32_t>& codes = texts.emplace_back();
        for (size_t at = 0; at < text.size();) {
            size_t length = utf8_sequence_length(std::string_view(text).substr(at));
            uint32_t code = static_cast<unsigned char>(text[at]);
            code = length == 0 ? 0xFFFD : length == 1 ? code : code & (0xFFU >> (length + 1));
            for (size_t i = 1; i < length; ++i) {
                code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
            }
            codes.push_back(code);
            at += std::max<size_t>(length, 1);
        }
        width = std::max(width, codes.size());
    }
    size_t size = 0;
    if (__builtin_mul_overflow(texts.size(), 4 * width, &size) || size > kMaxStringBytes) {
        return Error{
            "the strings take more than 1 GiB in a .npy file, where all are as wide as "
            "the widest"};
    }
    descr = fmt::format("<U{}", width);
    std::string bytes;
    bytes.reserve(size);
    for (std::vector<uint32_t>& codes : texts) {
        codes.resize(width);
        bytes.append(reinterpret_cast<const char*>(codes.data()), 4 * width);
    }
    return bytes;
}

std::string shape_text(const Dims& dims) {
    std::string text = "(";
    for (size_t i = 0; i < dims.size(); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : " ", dims[i]);
        text += i + 1 < dims.size() || dims.size() == 1 ? "," : "";
    }
    return text + ")";
}

}  // namespace

Result<Tensor> read_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                        ElementType wanted) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.substr(0, kMagic.size()) != kMagic) {
        return Error{"it is not a .npy file"};
    }
    size_t at = kMagic.size() + 2;
    unsigned major = bytes.size() > at ? static_cast<unsigned>(bytes[kMagic.size()]) : 0;
    if (major < 1 || major > 3) {
        return Error{fmt::format("version {} of the .npy format is not known", major)};
    }
    size_t width = major == 1 ? 2 : 4;
    if (bytes.size() < at + width) {
        return Error{"it ends in its header"};
    }
    size_t length = little_endian(bytes, at, width);
    at += width;
    if (length > kMaxNpyHeader || length > bytes.size() - at) {
        return Error{"it ends in its header"};
    }
    Result<Header> header = NpyHeader(text.substr(at, length)).parse();
    SDX_TRY(header);
    at += length;
    Result<Layout> layout = read_layout(header->descr, wanted);
    SDX_TRY(layout);
    std::optional<int64_t> count = element_count(header->dims);
    size_t size = 0;
    if (!count || __builtin_mul_overflow(static_cast<size_t>(*count), layout->size, &size) ||
        size > bytes.size() - at) {
        return Error{
            fmt::format("it is shorter than its shape {} needs", shape_text(header->dims))};
    }
    // Strings of no bytes would make a count that no bytes stand for.
    if (layout->size == 0 && *count > static_cast<int64_t>(kMaxNpyHeader)) {
        return Error{"it holds too many empty strings"};
    }
    return read_elements(bytes.subspan(at, size), std::move(owner), *layout, *header,
                         static_cast<size_t>(*count));
}

Result<Tensor> read_npy_file(const std::string& path, ElementType wanted) {
    Result<MappedFile> file = map_file(path);
    SDX_TRY(file);
    Result<Tensor> tensor = read_npy(file->bytes, file->owner, wanted);
    if (!tensor.ok()) {
        return Error{fmt::format("`{}`: {}", path, tensor.error().message)};
    }
    return tensor;
}

Result<std::string> write_npy(const Tensor& tensor) {
    ElementType type = tensor.element_type();
    std::string descr, elements;
    if (type == ElementType::kString) {
        Result<std::string> strings = write_strings(tensor, descr);
        SDX_TRY(strings);
        elements = std::move(*strings);
    } else {
        size_t bits = info(type).bits;
        descr = fmt::format("|V{}", (bits + 7) / 8);
        for (const NumpyType& row : kNumpyTypes) {
            if (row.type == type) {
                descr = fmt::format("{}{}", bits == 8 ? "|" : "<", row.code);
            }
        }
        std::span<const std::byte> bytes = tensor.stored_bytes();
        if (bits < 8) {
            elements.resize(static_cast<size_t>(tensor.count()));
            unpack_numbers(bytes, type,
                           {reinterpret_cast<uint8_t*>(elements.data()), elements.size()});
        } else {
            elements.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        }
    }
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                     descr, shape_text(tensor.dims()));
    // Padded with spaces so that the elements begin at a multiple of 64.
    constexpr size_t kPrefix = kMagic.size() + 4, kAlignment = 64;
    size_t padding = kAlignment - (kPrefix + header.size() + 1) % kAlignment;
    header.append(padding % kAlignment, ' ');
    header += '\n';
    if (header.size() > UINT16_MAX) {
        return Error{"the shape is too long for a .npy file"};
    }
    std::string file(kMagic);
    file += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
             static_cast<char>(header.size() >> 8)};
    return file + header + elements;
}

}  // namespace sardonyx::weights
