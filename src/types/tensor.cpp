#include "types/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

#include "base/quote.h"
#include "types/allocation.h"
#include "types/integers.h"
#include "types/packed.h"
#include "types/small_floats.h"

namespace sardonyx {

namespace {

// Where the elements of empty tensors are: kernels compute addresses of rows and blocks before they
// know that there are none, which is undefined behaviour on a null pointer.
alignas(64) constexpr std::byte kNoElements[64] = {};

// Of the C++ type; but kernels that only move elements read complex numbers as words of 8 bytes.
size_t alignment_of(ElementType type) {
    return std::clamp<size_t>(info(type).bits / 8, 1, 8);
}

int64_t sign_extend(uint8_t code, int bits) {
    return code & (1 << (bits - 1)) ? static_cast<int64_t>(code) - (1 << bits) : code;
}

// Calls visit(T{}) with the C++ type of an integer type or BOOL; false for those that have none
// (packed types) and all others.
template <typename Visitor>
bool with_integer_type(ElementType type, Visitor visit) {
    switch (type) {
        case ElementType::kInt8:
            return visit(int8_t()), true;
        case ElementType::kInt16:
            return visit(int16_t()), true;
        case ElementType::kInt32:
            return visit(int32_t()), true;
        case ElementType::kInt64:
            return visit(int64_t()), true;
        case ElementType::kUint8:
            return visit(uint8_t()), true;
        case ElementType::kUint16:
            return visit(uint16_t()), true;
        case ElementType::kUint32:
            return visit(uint32_t()), true;
        case ElementType::kUint64:
            return visit(uint64_t()), true;
        case ElementType::kBool:
            return visit(bool()), true;
        default:
            return false;
    }
}

// The same for all real types; false for packed types and floating types of 8 bits.
template <typename Visitor>
bool with_native_type(ElementType type, Visitor visit) {
    switch (type) {
        case ElementType::kFloat:
            return visit(float()), true;
        case ElementType::kDouble:
            return visit(double()), true;
        case ElementType::kFloat16:
            return visit(Float16()), true;
        case ElementType::kBfloat16:
            return visit(BFloat16()), true;
        default:
            return with_integer_type(type, visit);
    }
}

bool is_real(ElementType type) {
    return is_floating(type) || is_integer(type) || type == ElementType::kBool;
}

// The code of element `index` of a type that with_native_type() does not know, as a number.
double decode_element(const Tensor& tensor, int64_t index) {
    ElementType type = tensor.element_type();
    int bits = info(type).bits;
    uint8_t code = get_packed(tensor.bytes(), index, bits);
    if (is_floating(type)) {
        return decode(type, code);
    }
    bool is_signed = element_class(type) == ElementClass::kSigned;
    return static_cast<double>(is_signed ? sign_extend(code, bits) : code);
}

// The least integer and one more than the greatest of an integer type: exact as doubles.
struct IntegerRange {
    double least;
    double end;
};

IntegerRange range_of(ElementType type) {
    int bits = info(type).bits;
    bool is_signed = element_class(type) == ElementClass::kSigned;
    return {is_signed ? -std::ldexp(1.0, bits - 1) : 0.0,
            std::ldexp(1.0, is_signed ? bits - 1 : bits)};
}

bool can_hold(ElementType type, double value) {
    if (!is_integer(type)) {
        return true;
    }
    IntegerRange range = range_of(type);
    return value >= range.least && value < range.end && value == std::trunc(value);
}

bool can_hold(ElementType type, int64_t value) {
    if (!is_integer(type)) {
        return true;
    }
    if (info(type).bits == 64) {
        return type == ElementType::kInt64 || value >= 0;
    }
    IntegerRange range = range_of(type);
    return value >= static_cast<int64_t>(range.least) && value < static_cast<int64_t>(range.end);
}

bool can_hold(ElementType type, Int128 value) {
    if (!is_integer(type)) {
        return true;
    }
    return type == ElementType::kUint64
               ? value >= 0 && value <= UINT64_MAX
               : fits_int64(value) && can_hold(type, static_cast<int64_t>(value));
}

// A double that every narrower type rounds to as it would round `value` itself. Where `value` has
// too many bits, the last one kept says whether any was lost (rounding to odd), so that no tie
// arises that was none.
double round_to_odd(int64_t value) {
    constexpr int kShift = 11;
    uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude >> 53 != 0) {
        uint64_t lost = magnitude & ((uint64_t{1} << kShift) - 1);
        magnitude = ((magnitude >> kShift) | (lost != 0 ? 1 : 0)) << kShift;
    }
    return value < 0 ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

// The same of more bits.
double round_to_odd(Int128 value) {
    bool lost = false;
    int shift = 0;
    for (; !fits_int64(value); ++shift) {
        lost = lost || (value & 1) != 0;
        value >>= 1;
    }
    return std::ldexp(round_to_odd(static_cast<int64_t>(value) | (lost ? 1 : 0)), shift);
}

double as_double(double value) {
    return value;
}

double as_double(int64_t value) {
    return round_to_odd(value);
}

double as_double(Int128 value) {
    return round_to_odd(value);
}

double shown(double value) {
    return value;
}

int64_t shown(int64_t value) {
    return value;
}

std::string shown(Int128 value) {
    return to_string(value);
}

template <typename T, typename Number>
T convert(Number value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value != 0;
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        return T(as_double(value));
    } else {
        return static_cast<T>(value);
    }
}

// A code of a type that with_native_type() does not know.
template <typename Number>
uint8_t encode_element(ElementType type, Number value) {
    int bits = info(type).bits;
    return is_floating(type)
               ? encode(type, as_double(value))
               : static_cast<uint8_t>(static_cast<int64_t>(value) & ((1 << bits) - 1));
}

template <typename Number>
Result<Tensor> tensor_from_numbers(ElementType type, Dims dims, std::span<const Number> values) {
    if (!is_real(type)) {
        return Error{fmt::format("numbers cannot be elements of a {} tensor", name(type))};
    }
    std::optional<int64_t> count = element_count(dims);
    if (!count.has_value() || static_cast<size_t>(*count) != values.size()) {
        return Error{fmt::format("{} elements do not fill the dims [{}]", values.size(),
                                 fmt::join(dims, ","))};
    }
    for (Number value : values) {
        if (!can_hold(type, value)) {
            return Error{fmt::format("{} cannot hold {}", name(type), shown(value))};
        }
    }
    Tensor tensor = Tensor::zeros(type, std::move(dims));
    bool done = with_native_type(type, [&](auto zero) {
        using T = decltype(zero);
        std::transform(values.begin(), values.end(), tensor.mutable_elements<T>().begin(),
                       convert<T, Number>);
    });
    for (size_t i = 0; !done && i < values.size(); ++i) {
        put_packed(tensor.mutable_bytes(), static_cast<int64_t>(i), info(type).bits,
                   encode_element(type, values[i]));
    }
    return tensor;
}

template <typename T>
void append_number(std::string& text, T value) {
    if constexpr (std::is_same_v<T, bool>) {
        text += value ? "True" : "False";
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        text += fmt::format("{}", static_cast<float>(value));
    } else {
        text += fmt::format("{}", value);
    }
}

template <typename T>
void append_complex(std::string& text, const Tensor& tensor, int64_t index) {
    T parts[2];
    std::memcpy(parts, tensor.bytes().data() + index * sizeof parts, sizeof parts);
    text += fmt::format("{}{:+}j", parts[0], parts[1]);
}

void append_element(std::string& text, const Tensor& tensor, int64_t index) {
    ElementType type = tensor.element_type();
    bool done = with_native_type(
        type, [&](auto zero) { append_number(text, tensor.elements<decltype(zero)>()[index]); });
    if (done) {
        return;
    }
    if (type == ElementType::kString) {
        text += quoted(tensor.elements<std::string>()[index]);
    } else if (type == ElementType::kComplex64) {
        append_complex<float>(text, tensor, index);
    } else if (type == ElementType::kComplex128) {
        append_complex<double>(text, tensor, index);
    } else {
        text += fmt::format("{}", decode_element(tensor, index));
    }
}

}  // namespace

std::optional<int64_t> element_count(std::span<const int64_t> dims) {
    int64_t count = 1;
    bool is_empty = false;
    bool overflows = false;
    for (int64_t dim : dims) {
        if (dim < 0) {
            return std::nullopt;
        }
        is_empty = is_empty || dim == 0;
        overflows = overflows || __builtin_mul_overflow(count, dim, &count);
    }
    return is_empty ? std::optional<int64_t>(0) : overflows ? std::nullopt : std::optional(count);
}

size_t byte_size(ElementType type, int64_t count) {
    size_t bits = info(type).bits;
    if (bits % 8 == 0) {
        size_t size;
        return __builtin_mul_overflow(bits / 8, static_cast<size_t>(count), &size) ? SIZE_MAX
                                                                                   : size;
    }
    // In two parts, so that the number of bits cannot overflow.
    size_t groups = static_cast<size_t>(count) / 8, rest = static_cast<size_t>(count) % 8;
    return groups * bits + (rest * bits + 7) / 8;
}

Tensor Tensor::uninitialized(ElementType type, Dims dims) {
    std::optional<int64_t> count = sardonyx::element_count(dims);
    SDX_CHECK(type != ElementType::kUndefined && count.has_value());
    if (type == ElementType::kString) {
        return of_strings(std::move(dims), std::vector<std::string>(static_cast<size_t>(*count)));
    }
    Tensor tensor;
    tensor.type_ = type;
    tensor.writable_ = true;
    tensor.dims_ = std::move(dims);
    tensor.count_ = *count;
    std::shared_ptr<std::byte> storage = allocate(byte_size(type, *count));
    tensor.data_ = tensor.count_ == 0 ? kNoElements : storage.get();
    tensor.owner_ = std::move(storage);
    return tensor;
}

Tensor Tensor::zeros(ElementType type, Dims dims) {
    Tensor tensor = uninitialized(type, std::move(dims));
    if (type != ElementType::kString && tensor.count_ != 0) {
        std::span<std::byte> bytes = tensor.mutable_bytes();
        std::memset(bytes.data(), 0, bytes.size());
    }
    return tensor;
}

namespace {

// As vectors: each run looks at all its inputs.
bool are_bools(std::span<const std::byte> bytes) {
    using Words = uint64_t __attribute__((vector_size(16)));
    Words seen[2] = {};
    size_t i = 0;
    for (; i + sizeof seen <= bytes.size(); i += sizeof seen) {
        Words first;
        Words second;
        std::memcpy(&first, bytes.data() + i, sizeof first);
        std::memcpy(&second, bytes.data() + i + sizeof first, sizeof second);
        seen[0] |= first;
        seen[1] |= second;
    }
    Words both = seen[0] | seen[1];
    uint64_t any = both[0] | both[1];
    for (; i < bytes.size(); ++i) {
        any |= static_cast<uint64_t>(bytes[i]);
    }
    constexpr uint64_t kOthers = 0xfefefefefefefefe;  // the bits that 0 and 1 have not
    return (any & kOthers) == 0;
}

}  // namespace

// Borrowed elements that lie nowhere aligned: weights of a file that is only looked at or written
// again are never copied.
struct Tensor::Unaligned {
    std::shared_ptr<const void> owner;
    std::once_flag once;
    Tensor aligned = {};
};

const void* Tensor::aligned() const {
    auto& shared = *static_cast<Unaligned*>(const_cast<void*>(owner_.get()));
    std::call_once(shared.once, [&] {
        Tensor copy = uninitialized(type_, dims_);
        std::memcpy(copy.mutable_bytes().data(), data_, byte_size(type_, count_));
        shared.aligned = std::move(copy);
    });
    return shared.aligned.data_;
}

Tensor Tensor::view_of(ElementType type, Dims dims, std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner) {
    std::optional<int64_t> count = sardonyx::element_count(dims);
    SDX_CHECK(type != ElementType::kString && type != ElementType::kUndefined && count.has_value());
    SDX_CHECK(bytes.size() == byte_size(type, *count));
    bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % alignment_of(type) == 0;
    // A C++ bool that is neither 0 nor 1 is undefined behaviour.
    bool is_clean = type != ElementType::kBool || are_bools(bytes);
    constexpr size_t kMany = 1 << 16;
    bool is_later = !is_aligned && is_clean && bytes.size() >= kMany;
    if ((!is_aligned && !is_later) || !is_clean) {
        Tensor copy = uninitialized(type, std::move(dims));
        std::byte* target = copy.mutable_bytes().data();
        if (is_clean && !bytes.empty()) {
            std::memcpy(target, bytes.data(), bytes.size());
            return copy;
        }
        std::transform(bytes.begin(), bytes.end(), target,
                       [](std::byte byte) { return byte == std::byte{0} ? byte : std::byte{1}; });
        return copy;
    }
    Tensor tensor;
    tensor.type_ = type;
    tensor.dims_ = std::move(dims);
    tensor.count_ = *count;
    tensor.data_ = tensor.count_ == 0 ? kNoElements : bytes.data();
    if (is_later) {
        tensor.is_unaligned_ = true;
        // An aggregate. NOLINTNEXTLINE(modernize-make-shared)
        owner = std::shared_ptr<Unaligned>(new Unaligned{std::move(owner), {}, {}});
    }
    tensor.owner_ = std::move(owner);
    return tensor;
}

Tensor Tensor::of_strings(Dims dims, std::vector<std::string> strings) {
    std::optional<int64_t> count = sardonyx::element_count(dims);
    SDX_CHECK(count.has_value() && static_cast<size_t>(*count) == strings.size());
    auto storage = std::make_shared<std::vector<std::string>>(std::move(strings));
    Tensor tensor;
    tensor.type_ = ElementType::kString;
    tensor.writable_ = true;
    tensor.dims_ = std::move(dims);
    tensor.count_ = *count;
    tensor.data_ = tensor.count_ == 0 ? static_cast<const void*>(kNoElements) : storage->data();
    tensor.owner_ = std::move(storage);
    return tensor;
}

Type Tensor::type() const {
    if (!is_valid()) {
        return Type();
    }
    return Type::tensor(type_, Shape(dims_.begin(), dims_.end()));
}

Tensor Tensor::reshaped(Dims dims) const {
    SDX_CHECK(sardonyx::element_count(dims) == count_);
    Tensor tensor = *this;
    tensor.dims_ = std::move(dims);
    return tensor;
}

Tensor Tensor::part(int64_t first, Dims dims) const {
    std::optional<int64_t> count = sardonyx::element_count(dims);
    SDX_CHECK(count.has_value() && first >= 0 && *count <= count_ && first <= count_ - *count);
    SDX_CHECK(type_ == ElementType::kString || info(type_).bits % 8 == 0);
    size_t width = type_ == ElementType::kString ? sizeof(std::string) : info(type_).bits / 8;
    Tensor tensor = *this;
    tensor.dims_ = std::move(dims);
    tensor.count_ = *count;
    tensor.data_ = static_cast<const std::byte*>(data()) + static_cast<size_t>(first) * width;
    tensor.is_unaligned_ = false;
    return tensor;
}

void Tensor::check_element_size(size_t size) const {
    if (type_ == ElementType::kString) {
        SDX_CHECK(size == sizeof(std::string));
    } else {
        SDX_CHECK(size * 8 == info(type_).bits);
    }
}

std::optional<std::vector<int64_t>> to_int64s(const Tensor& tensor, int64_t limit) {
    ElementType type = tensor.element_type();
    if ((!is_integer(type) && type != ElementType::kBool) || tensor.count() > limit) {
        return std::nullopt;
    }
    std::vector<int64_t> values(static_cast<size_t>(tensor.count()));
    bool fits = true;
    bool done = with_integer_type(type, [&](auto zero) {
        using T = decltype(zero);
        std::span<const T> elements = tensor.elements<T>();
        for (size_t i = 0; i < elements.size(); ++i) {
            if constexpr (std::is_same_v<T, uint64_t>) {
                fits = fits && elements[i] <= uint64_t{INT64_MAX};
            }
            values[i] = static_cast<int64_t>(elements[i]);
        }
    });
    for (size_t i = 0; !done && i < values.size(); ++i) {
        values[i] = static_cast<int64_t>(decode_element(tensor, static_cast<int64_t>(i)));
    }
    return fits ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<std::vector<double>> to_doubles(const Tensor& tensor, int64_t limit) {
    if (!is_real(tensor.element_type()) || tensor.count() > limit) {
        return std::nullopt;
    }
    std::vector<double> values(static_cast<size_t>(tensor.count()));
    bool done = with_native_type(tensor.element_type(), [&](auto zero) {
        using T = decltype(zero);
        std::span<const T> elements = tensor.elements<T>();
        std::transform(elements.begin(), elements.end(), values.begin(),
                       [](T element) { return static_cast<double>(element); });
    });
    for (size_t i = 0; !done && i < values.size(); ++i) {
        values[i] = decode_element(tensor, static_cast<int64_t>(i));
    }
    return values;
}

Result<Tensor> tensor_from_doubles(ElementType type, Dims dims, std::span<const double> values) {
    return tensor_from_numbers(type, std::move(dims), values);
}

Result<Tensor> tensor_from_int64s(ElementType type, Dims dims, std::span<const int64_t> values) {
    return tensor_from_numbers(type, std::move(dims), values);
}

Result<Tensor> tensor_from_integers(ElementType type, Dims dims, std::span<const Int128> values) {
    return tensor_from_numbers(type, std::move(dims), values);
}

std::string to_string(const Tensor& tensor, int64_t limit) {
    if (!tensor.is_valid()) {
        return "?";
    }
    std::string text = tensor.type().to_string() + " {";
    int64_t shown = std::min(limit, tensor.count());
    for (int64_t i = 0; i < shown; ++i) {
        text += i > 0 ? ", " : "";
        append_element(text, tensor, i);
    }
    if (shown < tensor.count()) {
        text += shown > 0 ? ", ..." : "...";
    }
    return text + "}";
}

}  // namespace sardonyx
