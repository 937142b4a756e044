// TensorView, Tensor, RunValue: what flows into and out of a graph, without copies.
//
// A view borrows memory, and lives as long as that does. A Tensor shares the storage of the engine:
// copying one is cheap and copies no elements, and several threads may read it. Headers alone, over
// sardonyx/c.h; the names here are not in reach of the engine's sources.
#pragma once

#include <sardonyx/c.h>
#include <sardonyx/error.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// The numbers are those of TensorProto.DataType.
enum class ElementType : int32_t {
    kUndefined = 0,
    kFloat = SDX_FLOAT,
    kUint8 = SDX_UINT8,
    kInt8 = SDX_INT8,
    kUint16 = SDX_UINT16,
    kInt16 = SDX_INT16,
    kInt32 = SDX_INT32,
    kInt64 = SDX_INT64,
    kString = SDX_STRING,
    kBool = SDX_BOOL,
    kFloat16 = SDX_FLOAT16,
    kDouble = SDX_DOUBLE,
    kUint32 = SDX_UINT32,
    kUint64 = SDX_UINT64,
    kComplex64 = SDX_COMPLEX64,
    kComplex128 = SDX_COMPLEX128,
    kBfloat16 = SDX_BFLOAT16,
    kFloat8E4M3FN = SDX_FLOAT8E4M3FN,
    kFloat8E4M3FNUZ = SDX_FLOAT8E4M3FNUZ,
    kFloat8E5M2 = SDX_FLOAT8E5M2,
    kFloat8E5M2FNUZ = SDX_FLOAT8E5M2FNUZ,
    kUint4 = SDX_UINT4,
    kInt4 = SDX_INT4,
    kFloat4E2M1 = SDX_FLOAT4E2M1,
    kFloat8E8M0 = SDX_FLOAT8E8M0,
    kUint2 = SDX_UINT2,
    kInt2 = SDX_INT2,
    kFloat6E2M3 = SDX_FLOAT6E2M3,
    kFloat6E3M2 = SDX_FLOAT6E3M2,
};

// The 16-bit floats, by their bits; widening is exact.
struct Float16 {
    uint16_t bits = 0;

    float to_float() const {
        uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
        uint32_t rest = bits & 0x7fffu;
        if (rest >= 0x7c00u) {
            return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
        }
        // 2^112 moves the exponent of a number, and makes a subnormal one normal.
        float number = std::bit_cast<float>(rest << 13) * std::bit_cast<float>(0x77800000u);
        return std::bit_cast<float>(std::bit_cast<uint32_t>(number) | sign);
    }
    friend bool operator==(Float16, Float16) = default;
};
struct BFloat16 {
    uint16_t bits = 0;

    float to_float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
    friend bool operator==(BFloat16, BFloat16) = default;
};

// The element type that a C++ type is. The types below 16 bits but for integers are bytes.
template <typename T>
inline constexpr ElementType kTypeOf = ElementType::kUndefined;
template <>
inline constexpr ElementType kTypeOf<float> = ElementType::kFloat;
template <>
inline constexpr ElementType kTypeOf<double> = ElementType::kDouble;
template <>
inline constexpr ElementType kTypeOf<int8_t> = ElementType::kInt8;
template <>
inline constexpr ElementType kTypeOf<int16_t> = ElementType::kInt16;
template <>
inline constexpr ElementType kTypeOf<int32_t> = ElementType::kInt32;
template <>
inline constexpr ElementType kTypeOf<int64_t> = ElementType::kInt64;
template <>
inline constexpr ElementType kTypeOf<uint8_t> = ElementType::kUint8;
template <>
inline constexpr ElementType kTypeOf<uint16_t> = ElementType::kUint16;
template <>
inline constexpr ElementType kTypeOf<uint32_t> = ElementType::kUint32;
template <>
inline constexpr ElementType kTypeOf<uint64_t> = ElementType::kUint64;
template <>
inline constexpr ElementType kTypeOf<bool> = ElementType::kBool;
template <>
inline constexpr ElementType kTypeOf<Float16> = ElementType::kFloat16;
template <>
inline constexpr ElementType kTypeOf<BFloat16> = ElementType::kBfloat16;
template <>
inline constexpr ElementType kTypeOf<std::complex<float>> = ElementType::kComplex64;
template <>
inline constexpr ElementType kTypeOf<std::complex<double>> = ElementType::kComplex128;

// Throws what a function of sardonyx/c.h gives.
inline void check(sdx_error* error) {
    if (error != nullptr) {
        std::unique_ptr<sdx_error, void (*)(sdx_error*)> owner(error, sdx_error_free);
        switch (sdx_error_end(error)) {
            case SDX_CANCELLED:
                throw CancelledError(sdx_error_message(error));
            case SDX_TIMED_OUT:
                throw TimeoutError(sdx_error_message(error));
            default:
                throw Error(sdx_error_message(error));
        }
    }
}

// Elements of the caller: row-major, little-endian, elements below 8 bits packed from the low bits
// up. Plain data; what contradicts itself is an Error where it is used.
struct TensorView {
    ElementType element_type = ElementType::kUndefined;
    std::span<const int64_t> dims;
    const void* data = nullptr;
    size_t size = 0;  // in bytes

    template <typename T>
    static TensorView of(std::span<const int64_t> dims, std::span<const T> elements) {
        static_assert(kTypeOf<T> != ElementType::kUndefined, "say which element type it is");
        return {kTypeOf<T>, dims, elements.data(), elements.size_bytes()};
    }
    sdx_view to_c() const {
        return {static_cast<int32_t>(element_type), static_cast<int32_t>(dims.size()), dims.data(),
                const_cast<void*>(data), size};
    }
};

// The same for a result, which is written there.
struct MutableTensorView {
    ElementType element_type = ElementType::kUndefined;
    std::span<const int64_t> dims;
    void* data = nullptr;
    size_t size = 0;

    template <typename T>
    static MutableTensorView of(std::span<const int64_t> dims, std::span<T> elements) {
        static_assert(kTypeOf<T> != ElementType::kUndefined, "say which element type it is");
        return {kTypeOf<T>, dims, elements.data(), elements.size_bytes()};
    }
    sdx_view to_c() const {
        return {static_cast<int32_t>(element_type), static_cast<int32_t>(dims.size()), dims.data(),
                data, size};
    }
};

class Tensor;
struct MapOf;

// Nothing, a tensor, a sequence, or a map.
class RunValue {
  public:
    RunValue() = default;  // nothing
    // Takes the handle over.
    explicit RunValue(sdx_value* handle) : handle_(handle, sdx_value_free) {}

    // A sequence; `element_type` is for one without items.
    static RunValue sequence(std::span<const RunValue> items,
                             ElementType element_type = ElementType::kUndefined) {
        std::vector<const sdx_value*> handles;
        for (const RunValue& item : items) {
            handles.push_back(item.handle());
        }
        sdx_value* made = nullptr;
        check(sdx_value_sequence(static_cast<int32_t>(element_type), handles.data(), handles.size(),
                                 &made));
        return RunValue(made);
    }
    // Keys of INT64 or STRING and their values, both of rank 1.
    static RunValue map(const Tensor& keys, const Tensor& values);

    bool is_nothing() const { return kind() == SDX_NOTHING; }
    bool is_tensor() const { return kind() == SDX_TENSOR; }
    bool is_sequence() const { return kind() == SDX_SEQUENCE; }
    bool is_map() const { return kind() == SDX_MAP; }
    // Errors: it is something else.
    Tensor tensor() const;
    std::vector<RunValue> items() const {
        if (!is_sequence()) {
            throw Error("the value is not a sequence");
        }
        std::vector<RunValue> all;
        for (size_t i = 0; i < sdx_value_count(handle()); ++i) {
            sdx_value* item = nullptr;
            check(sdx_value_item(handle(), i, &item));
            all.emplace_back(item);
        }
        return all;
    }
    MapOf map() const;

    const sdx_value* handle() const { return handle_.get(); }

  private:
    int32_t kind() const { return handle_ == nullptr ? SDX_NOTHING : sdx_value_kind(handle()); }

    std::shared_ptr<sdx_value> handle_;
};

class Tensor {
  public:
    // New storage, which starts as zero.
    static Tensor zeros(ElementType type, std::span<const int64_t> dims) {
        sdx_value* made = nullptr;
        check(sdx_value_zeros(static_cast<int32_t>(type), dims.data(),
                              static_cast<int32_t>(dims.size()), &made));
        return Tensor(RunValue(made));
    }
    // New storage with these elements.
    template <typename T>
    static Tensor of(std::initializer_list<int64_t> dims, std::initializer_list<T> elements) {
        return copy(TensorView::of<T>({dims.begin(), dims.size()},
                                      std::span<const T>(elements.begin(), elements.size())));
    }
    static Tensor copy(const TensorView& view) {
        Tensor tensor = zeros(view.element_type, view.dims);
        if (view.size != tensor.view().size || (view.size > 0 && view.data == nullptr)) {
            throw Error("the view has not the bytes that its type and shape take");
        }
        const auto* from = static_cast<const std::byte*>(view.data);
        auto* to = static_cast<std::byte*>(tensor.mutable_data());
        if (view.element_type == ElementType::kBool) {
            std::transform(from, from + view.size, to,
                           [](std::byte b) { return std::byte{b != std::byte{0}}; });
        } else {
            std::copy(from, from + view.size, to);
        }
        return tensor;
    }
    static Tensor strings(std::span<const int64_t> dims, std::span<const std::string> elements) {
        std::vector<const char*> texts;
        std::vector<size_t> sizes;
        for (const std::string& element : elements) {
            texts.push_back(element.data());
            sizes.push_back(element.size());
        }
        sdx_value* made = nullptr;
        check(sdx_value_strings(texts.data(), sizes.data(), texts.size(), dims.data(),
                                static_cast<int32_t>(dims.size()), &made));
        return Tensor(RunValue(made));
    }
    // The memory itself: it must not change while this tensor, or a result that shares the memory,
    // lives. `owner`, if any, is kept until then. Not copied but where elements are not aligned, or
    // BOOL is neither 0 nor 1.
    static Tensor borrow(const TensorView& view, std::shared_ptr<const void> owner = nullptr) {
        using Owner = std::shared_ptr<const void>;
        auto kept = std::make_unique<Owner>(std::move(owner));
        sdx_view borrowed = view.to_c();
        sdx_value* made = nullptr;
        check(sdx_value_borrow(
            &borrowed, [](void* context) { delete static_cast<Owner*>(context); }, kept.get(),
            &made));
        static_cast<void>(kept.release());
        return Tensor(RunValue(made));
    }

    // Error: the value is no tensor.
    explicit Tensor(RunValue value) : value_(std::move(value)) {
        check(sdx_value_view(value_.handle(), &view_));
    }
    // A tensor that was moved from is none: it has no elements, and is nothing as a value.
    Tensor(Tensor&& other) noexcept
        : value_(std::exchange(other.value_, {})), view_(std::exchange(other.view_, {})) {}
    Tensor& operator=(Tensor&& other) noexcept {
        value_ = std::exchange(other.value_, {});
        view_ = std::exchange(other.view_, {});
        return *this;
    }
    Tensor(const Tensor&) = default;
    Tensor& operator=(const Tensor&) = default;
    ~Tensor() = default;
    operator RunValue() const { return value_; }  // NOLINT: a tensor is a value

    ElementType element_type() const { return static_cast<ElementType>(view_.element_type); }
    std::span<const int64_t> dims() const& { return {view_.dims, static_cast<size_t>(view_.rank)}; }
    size_t count() const { return sdx_value_count(value_.handle()); }
    // Valid as long as a tensor on this storage. No data for STRING.
    TensorView view() const& { return {element_type(), dims(), view_.data, view_.size}; }
    // Error: the element type is another. Of STRING: texts().
    template <typename T>
    std::span<const T> elements() const& {
        static_assert(kTypeOf<T> != ElementType::kUndefined, "use view()");
        if (element_type() == ElementType::kUndefined) {
            throw Error("the tensor has been moved to another one");
        }
        if (kTypeOf<T> != element_type()) {
            throw Error("the elements are of type " + std::to_string(view_.element_type) +
                        " of TensorProto.DataType, not " +
                        std::to_string(static_cast<int32_t>(kTypeOf<T>)));
        }
        return {static_cast<const T*>(view_.data), view_.size / sizeof(T)};
    }
    template <typename T>
    std::span<const T> elements() && = delete;  // they might be gone
    std::vector<std::string_view> texts() const& {
        std::vector<std::string_view> all;
        for (size_t i = 0; i < count(); ++i) {
            const char* text = nullptr;
            size_t size = 0;
            check(sdx_value_text(value_.handle(), i, &text, &size));
            all.emplace_back(text, size);
        }
        return all;
    }
    // To fill a tensor of zeros() before anything else has it. A byte of BOOL is 0 or 1.
    void* mutable_data() { return view_.data; }

  private:
    RunValue value_;
    sdx_view view_{};
};

struct MapOf {
    Tensor keys;
    Tensor values;
};

inline Tensor RunValue::tensor() const {
    return Tensor(*this);
}

inline RunValue RunValue::map(const Tensor& keys, const Tensor& values) {
    RunValue k = keys;
    RunValue v = values;
    sdx_value* made = nullptr;
    check(sdx_value_map(k.handle(), v.handle(), &made));
    return RunValue(made);
}

inline MapOf RunValue::map() const {
    sdx_value* made = nullptr;
    check(sdx_value_keys(handle(), &made));
    RunValue keys(made);
    check(sdx_value_values(handle(), &made));
    return {Tensor(std::move(keys)), Tensor(RunValue(made))};
}

}  // namespace v1
}  // namespace sardonyx
