// Converts numbers for tests/python/run/test_small_floats.py; all numbers are fields of bytes.
//   decode TYPE CODES                          codes (one byte each, two for 16 bits) -> floats
//   encode TYPE NUMBERS float|double MODE      -> codes; MODE: saturate, infinite, up, down,
//   nearest tensor TYPE DOUBLES                        -> the raw bytes of a tensor, then its
//   doubles again
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../requests.h"
#include "types/small_floats.h"
#include "types/tensor.h"

namespace sardonyx {
namespace {

template <typename T>
std::vector<T> items_of(std::string_view bytes) {
    std::vector<T> items(bytes.size() / sizeof(T));
    if (!items.empty()) {
        std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
    }
    return items;
}

template <typename T>
void add(std::string& bytes, T item) {
    bytes.append(reinterpret_cast<const char*>(&item), sizeof item);
}

std::string decoded(ElementType type, std::string_view bytes) {
    std::string out;
    if (info(type).bits == 16) {
        for (uint16_t code : items_of<uint16_t>(bytes)) {
            add(out, type == ElementType::kFloat16 ? static_cast<float>(Float16::from_bits(code))
                                                   : static_cast<float>(BFloat16::from_bits(code)));
        }
        return out;
    }
    for (uint8_t code : items_of<uint8_t>(bytes)) {
        add(out, decode(type, code));
    }
    return out;
}

template <typename T>
std::string encoded(ElementType type, std::string_view bytes, std::string_view mode) {
    std::string out;
    for (T value : items_of<T>(bytes)) {
        if (type == ElementType::kFloat16) {
            add(out, Float16(value).bits);
        } else if (type == ElementType::kBfloat16) {
            add(out, BFloat16(value).bits);
        } else if (type == ElementType::kFloat8E8M0 && mode == "down") {
            add(out, encode_e8m0(value, true, E8M0Rounding::kDown));
        } else if (type == ElementType::kFloat8E8M0 && mode == "nearest") {
            add(out, encode_e8m0(value, true, E8M0Rounding::kNearest));
        } else {
            add(out, encode(type, value, mode != "infinite"));
        }
    }
    return out;
}

std::string as_tensor(ElementType type, std::string_view bytes) {
    std::vector<double> values = items_of<double>(bytes);
    Dims dims = {static_cast<int64_t>(values.size())};
    Result<Tensor> tensor = tensor_from_doubles(type, dims, values);
    if (!tensor.ok()) {
        return "error: " + tensor.error().message;
    }
    std::string raw, back;
    for (std::byte byte : tensor->bytes()) {
        add(raw, byte);
    }
    std::optional<std::vector<double>> doubles = to_doubles(*tensor);
    for (double value : *doubles) {
        add(back, value);
    }
    return test::to_hex(raw) + '\t' + test::to_hex(back);
}

std::string answer(const std::vector<std::string>& fields) {
    ElementType type = element_type_from_name(fields[1]);
    std::string bytes = test::from_hex(fields[2]);
    if (type != ElementType::kUndefined && fields[0] == "decode") {
        return test::to_hex(decoded(type, bytes));
    }
    if (type != ElementType::kUndefined && fields[0] == "tensor") {
        return as_tensor(type, bytes);
    }
    if (type != ElementType::kUndefined && fields[0] == "encode") {
        return test::to_hex(fields[3] == "float" ? encoded<float>(type, bytes, fields[4])
                                                 : encoded<double>(type, bytes, fields[4]));
    }
    return "unknown request";
}

}  // namespace
}  // namespace sardonyx

int main() {
    return sardonyx::test::serve(5, sardonyx::answer);
}
