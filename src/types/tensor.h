// Tensor storage and views.
//
// The elements lie row-major and little-endian exactly as in TensorProto.raw_data, so that a tensor
// can be a view of a model file: types below 8 bits are packed from the low bits up, BOOL is one
// byte, complex is two floats. STRING elements are std::string objects and have no such bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "types/element_type.h"
#include "types/type.h"

namespace sardonyx {

using Dims = std::vector<int64_t>;

// The product of the dims; nothing when one is negative or the product overflows int64.
std::optional<int64_t> element_count(std::span<const int64_t> dims);
// Bytes of `count` elements: ceil(count * bits / 8); SIZE_MAX when that is more than there can be.
// 0 for STRING.
size_t byte_size(ElementType type, int64_t count);

// A tensor that shares its storage. Copying is cheap and does not copy elements; elements that
// several tensors share must not be written.
class Tensor {
  public:
    Tensor() = default;

    // New storage; the elements are zero (strings empty). The dims must have an element_count.
    static Tensor zeros(ElementType type, Dims dims);
    // New storage with indeterminate elements, aligned to 64 bytes; for a kernel that fills it.
    static Tensor uninitialized(ElementType type, Dims dims);
    // Borrows `bytes`, which `owner` keeps alive; bytes.size() must be byte_size(type, count). The
    // bytes may be unaligned for the element type, or BOOL and neither 0 nor 1: then they are
    // copied, and made so; many unaligned ones not before somebody wants them aligned. Not for
    // STRING.
    static Tensor view_of(ElementType type, Dims dims, std::span<const std::byte> bytes,
                          std::shared_ptr<const void> owner);
    static Tensor of_strings(Dims dims, std::vector<std::string> strings);

    // A tensor with these elements; T is the C++ type of the element type (ElementTypeOf<T>).
    template <typename T>
    static Tensor of(Dims dims, std::span<const T> elements);
    template <typename T>
    static Tensor scalar(T value) {
        return of<T>({}, std::span<const T>(&value, 1));
    }

    bool is_valid() const { return type_ != ElementType::kUndefined; }
    ElementType element_type() const { return type_; }
    const Dims& dims() const { return dims_; }
    int rank() const { return static_cast<int>(dims_.size()); }
    int64_t count() const { return count_; }
    Type type() const;

    // The raw bytes; not for STRING.
    std::span<const std::byte> bytes() const {
        SDX_CHECK(type_ != ElementType::kString);
        return {static_cast<const std::byte*>(data()), byte_size(type_, count_)};
    }
    // The same bytes where they were borrowed, aligned or not: for those who only copy or compare.
    std::span<const std::byte> stored_bytes() const {
        SDX_CHECK(type_ != ElementType::kString);
        return {static_cast<const std::byte*>(data_), byte_size(type_, count_)};
    }
    // The elements as T, which must have the size of the element type (std::string for STRING).
    template <typename T>
    std::span<const T> elements() const {
        check_element_size(sizeof(T));
        return {static_cast<const T*>(data()), static_cast<size_t>(count_)};
    }
    // To fill a tensor that this code has just made, or one that nobody shares.
    template <typename T>
    std::span<T> mutable_elements() {
        SDX_CHECK(writable_);
        check_element_size(sizeof(T));
        return {static_cast<T*>(const_cast<void*>(data_)), static_cast<size_t>(count_)};
    }
    std::span<std::byte> mutable_bytes() {
        SDX_CHECK(writable_);
        return {static_cast<std::byte*>(const_cast<void*>(data_)), byte_size(type_, count_)};
    }

    // The same elements under other dims of the same count.
    Tensor reshaped(Dims dims) const;
    // The elements from `first` on under these dims, which share this storage. Not for types below
    // 8 bits.
    Tensor part(int64_t first, Dims dims) const;
    // Whether this is the only tensor on its storage, and the storage may be written in place.
    bool is_unique() const { return writable_ && owner_.use_count() == 1; }
    const std::shared_ptr<const void>& owner() const { return owner_; }

  private:
    struct Unaligned;

    void check_element_size(size_t size) const;
    const void* data() const { return is_unaligned_ ? aligned() : data_; }
    [[gnu::cold]] const void* aligned() const;

    ElementType type_ = ElementType::kUndefined;
    bool writable_ = false;
    bool is_unaligned_ = false;  // data_ is; owner_ is an Unaligned, which has them aligned
    Dims dims_;
    int64_t count_ = 0;
    const void* data_ = nullptr;
    std::shared_ptr<const void> owner_;
};

template <typename T>
Tensor Tensor::of(Dims dims, std::span<const T> elements) {
    static_assert(kElementTypeOf<T> != ElementType::kUndefined);
    Tensor tensor = uninitialized(kElementTypeOf<T>, std::move(dims));
    SDX_CHECK(static_cast<size_t>(tensor.count()) == elements.size());
    std::span<T> target = tensor.mutable_elements<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
        target[i] = elements[i];
    }
    return tensor;
}

// The elements of an integer or BOOL tensor as int64; nothing for other types, for values that do
// not fit, and for more than `limit` elements.
std::optional<std::vector<int64_t>> to_int64s(const Tensor& tensor, int64_t limit = 1 << 16);
// The elements of a real tensor (integer, BOOL or floating, of any width) as double.
std::optional<std::vector<double>> to_doubles(const Tensor& tensor, int64_t limit = 1 << 16);
// A tensor of a real element type from doubles, or from exact integers, each rounded to the nearest
// (ties to even) as Cast does: too large is infinity, or the greatest number of the 8-, 6- and
// 4-bit types; what is not 0 is True. Error: a value that the type cannot hold (for integer types
// also a fraction), a type that is not real, or dims with another count.
Result<Tensor> tensor_from_doubles(ElementType type, Dims dims, std::span<const double> values);
Result<Tensor> tensor_from_int64s(ElementType type, Dims dims, std::span<const int64_t> values);

// "FLOAT[2,2] {1, 2.5, ...}" with at most `limit` elements.
std::string to_string(const Tensor& tensor, int64_t limit = 8);

}  // namespace sardonyx
