// Converts numbers for tests/python/run/test_small_floats.py, from standard input to standard
// output.
//   decode TYPE                    codes (one byte each, two for 16 bits) -> float
//   encode TYPE float|double MODE  numbers -> codes; MODE: saturate, infinite, up, down, nearest
//   tensor TYPE                    doubles -> the raw bytes of a tensor, then its doubles again
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "types/small_floats.h"
#include "types/tensor.h"

namespace sardonyx {
namespace {

template <typename T>
std::vector<T> read_all() {
    std::vector<char> bytes;
    char buffer[4096];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
        bytes.insert(bytes.end(), buffer, buffer + count);
    }
    std::vector<T> items(bytes.size() / sizeof(T));
    if (!items.empty()) {
        std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
    }
    return items;
}

template <typename T>
void write_one(T item) {
    std::fwrite(&item, sizeof item, 1, stdout);
}

void decode_all(ElementType type) {
    if (info(type).bits == 16) {
        for (uint16_t code : read_all<uint16_t>()) {
            write_one(type == ElementType::kFloat16
                          ? static_cast<float>(Float16::from_bits(code))
                          : static_cast<float>(BFloat16::from_bits(code)));
        }
        return;
    }
    for (uint8_t code : read_all<uint8_t>()) {
        write_one(decode(type, code));
    }
}

template <typename T>
void encode_all(ElementType type, std::string_view mode) {
    for (T value : read_all<T>()) {
        if (type == ElementType::kFloat16) {
            write_one(Float16(value).bits);
        } else if (type == ElementType::kBfloat16) {
            write_one(BFloat16(value).bits);
        } else if (type == ElementType::kFloat8E8M0 && mode == "down") {
            write_one(encode_e8m0(value, true, E8M0Rounding::kDown));
        } else if (type == ElementType::kFloat8E8M0 && mode == "nearest") {
            write_one(encode_e8m0(value, true, E8M0Rounding::kNearest));
        } else {
            write_one(encode(type, value, mode != "infinite"));
        }
    }
}

int convert_tensor(ElementType type) {
    std::vector<double> values = read_all<double>();
    Dims dims = {static_cast<int64_t>(values.size())};
    Result<Tensor> tensor = tensor_from_doubles(type, dims, values);
    if (!tensor.ok()) {
        std::fprintf(stderr, "%s\n", tensor.error().message.c_str());
        return 1;
    }
    for (std::byte byte : tensor->bytes()) {
        write_one(byte);
    }
    std::optional<std::vector<double>> back = to_doubles(*tensor);
    for (double value : *back) {
        write_one(value);
    }
    return 0;
}

int run(int count, char** words) {
    std::string_view command = count > 1 ? words[1] : "";
    ElementType type = count > 2 ? element_type_from_name(words[2]) : ElementType::kUndefined;
    if (command == "decode" && type != ElementType::kUndefined) {
        decode_all(type);
    } else if (command == "tensor" && type != ElementType::kUndefined) {
        return convert_tensor(type);
    } else if (command == "encode" && count == 5) {
        std::string_view mode = words[4];
        words[3] == std::string_view("float") ? encode_all<float>(type, mode)
                                              : encode_all<double>(type, mode);
    } else {
        std::fprintf(stderr, "see the top of types_tool.cpp\n");
        return 2;
    }
    return 0;
}

}  // namespace
}  // namespace sardonyx

int main(int count, char** words) {
    return sardonyx::run(count, words);
}
