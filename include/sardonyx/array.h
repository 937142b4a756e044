// Array: the elements of a tensor, and what else flows into and out of a graph.
#pragma once

#include <sardonyx/export.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// The ONNX name of the element type that a C++ type is: "FLOAT" for float. Types without a C++ type
// of their own (FLOAT16, BFLOAT16, INT4, ...) are bytes to the user of this library.
template <typename T>
inline constexpr std::string_view kElementType = {};
template <>
inline constexpr std::string_view kElementType<float> = "FLOAT";
template <>
inline constexpr std::string_view kElementType<double> = "DOUBLE";
template <>
inline constexpr std::string_view kElementType<int8_t> = "INT8";
template <>
inline constexpr std::string_view kElementType<int16_t> = "INT16";
template <>
inline constexpr std::string_view kElementType<int32_t> = "INT32";
template <>
inline constexpr std::string_view kElementType<int64_t> = "INT64";
template <>
inline constexpr std::string_view kElementType<uint8_t> = "UINT8";
template <>
inline constexpr std::string_view kElementType<uint16_t> = "UINT16";
template <>
inline constexpr std::string_view kElementType<uint32_t> = "UINT32";
template <>
inline constexpr std::string_view kElementType<uint64_t> = "UINT64";
template <>
inline constexpr std::string_view kElementType<bool> = "BOOL";

// A tensor: row-major, little-endian, elements below 8 bits packed from the low bits up, as in
// TensorProto.raw_data. An Array is plain data; what it says of itself is checked where it is used.
struct SDX_API Array {
    std::string element_type;          // "FLOAT", "INT64", "STRING", ...
    std::vector<int64_t> dims;         // empty: a scalar
    std::vector<std::byte> bytes;      // of all element types but STRING
    std::vector<std::string> strings;  // of STRING

    // The product of the dims; 1 for a scalar. Error: a negative dim, or one past int64.
    int64_t count() const;

    // Array::of<float>({2, 3}, values). Error: as many elements as the dims say are not there.
    template <typename T>
    static Array of(std::vector<int64_t> dims, std::span<const T> elements) {
        static_assert(!kElementType<T>.empty(), "give `element_type` and `bytes` instead");
        Array array;
        array.element_type = kElementType<T>;
        array.dims = std::move(dims);
        std::span<const std::byte> bytes = std::as_bytes(elements);
        array.bytes.assign(bytes.begin(), bytes.end());
        array.check(kElementType<T>, sizeof(T));
        return array;
    }
    template <typename T>
    static Array of(std::vector<int64_t> dims, std::initializer_list<T> elements) {
        return of<T>(std::move(dims), std::span<const T>(elements.begin(), elements.size()));
    }
    template <typename T>
    static Array scalar(T value) {
        return of<T>({}, std::span<const T>(&value, 1));
    }

    // The elements, valid as long as `bytes` stays as it is. Error: the element type is another, or
    // the bytes are not as many as the dims say.
    template <typename T>
    std::span<const T> elements() const& {
        static_assert(!kElementType<T>.empty(), "use `bytes`");
        check(kElementType<T>, sizeof(T));
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    template <typename T>
    std::span<const T> elements() && = delete;  // the bytes would be gone

  private:
    void check(std::string_view type, size_t size) const;
};

// What an input or output holds: nothing (an optional without element), a tensor, or a sequence.
using Value = std::variant<std::monostate, Array, std::vector<Array>>;

}  // namespace v1
}  // namespace sardonyx
