#include "elaborate/objects/array_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "elaborate/objects/floor_division.h"
#include "types/small_floats.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using lowering::Unary;
using syntax::CompareOp;

namespace {

// Calls `body` with the C++ type of the elements; what it gives for others is default-made.
template <typename Result, typename Body>
Result with_elements(ElementType type, Body&& body) {
    switch (type) {
        case ElementType::kBool:
            return body.template operator()<bool>();
        case ElementType::kInt8:
            return body.template operator()<int8_t>();
        case ElementType::kInt16:
            return body.template operator()<int16_t>();
        case ElementType::kInt32:
            return body.template operator()<int32_t>();
        case ElementType::kInt64:
            return body.template operator()<int64_t>();
        case ElementType::kUint8:
            return body.template operator()<uint8_t>();
        case ElementType::kUint16:
            return body.template operator()<uint16_t>();
        case ElementType::kUint32:
            return body.template operator()<uint32_t>();
        case ElementType::kUint64:
            return body.template operator()<uint64_t>();
        case ElementType::kFloat16:
            return body.template operator()<Float16>();
        case ElementType::kFloat:
            return body.template operator()<float>();
        case ElementType::kDouble:
            return body.template operator()<double>();
        default:
            return Result{};
    }
}

int bits_of(ElementType type) {
    return static_cast<int>(byte_size(type, 1)) * 8;
}

ElementType float_of(int bits) {
    return bits <= 16   ? ElementType::kFloat16
           : bits <= 32 ? ElementType::kFloat
                        : ElementType::kDouble;
}

ElementType signed_of(int bits) {
    return bits <= 8    ? ElementType::kInt8
           : bits <= 16 ? ElementType::kInt16
           : bits <= 32 ? ElementType::kInt32
           : bits <= 64 ? ElementType::kInt64
                        : ElementType::kDouble;
}

}  // namespace

bool has_arithmetic(ElementType type) {
    return with_elements<bool>(type, []<typename T>() { return true; });
}

bool is_unsigned_type(ElementType type) {
    return type == ElementType::kUint8 || type == ElementType::kUint16 ||
           type == ElementType::kUint32 || type == ElementType::kUint64;
}

ElementType promoted(ElementType a, ElementType b) {
    if (a == b || b == ElementType::kBool) {
        return a;
    }
    if (a == ElementType::kBool) {
        return b;
    }
    if (is_floating(a) || is_floating(b)) {
        // An integer counts as the float that holds it: of 8 bits FLOAT16, of 16 FLOAT.
        auto width = [](ElementType type) {
            return is_floating(type) ? bits_of(type) : 2 * bits_of(type);
        };
        return float_of(std::max(width(a), width(b)));
    }
    if (is_unsigned_type(a) == is_unsigned_type(b)) {
        return bits_of(a) > bits_of(b) ? a : b;
    }
    ElementType without = is_unsigned_type(a) ? a : b, with = is_unsigned_type(a) ? b : a;
    return signed_of(std::max(bits_of(with), 2 * bits_of(without)));
}

std::optional<Broadcast> broadcast(const Dims& a, const Dims& b) {
    Broadcast both;
    size_t rank = std::max(a.size(), b.size());
    auto dim = [rank](const Dims& dims, size_t axis) {
        size_t missing = rank - dims.size();
        return axis < missing ? int64_t{1} : dims[axis - missing];
    };
    both.left = both.right = {0};
    bool is_empty = false;
    for (size_t axis = 0; axis < rank; ++axis) {
        int64_t x = dim(a, axis), y = dim(b, axis);
        if (x != y && x != 1 && y != 1) {
            return std::nullopt;
        }
        both.dims.push_back(x == 1 ? y : x);
        is_empty = is_empty || both.dims.back() == 0;
    }
    constexpr int64_t kMost = int64_t{1} << 24;
    std::optional<int64_t> count = element_count(both.dims);
    if (!count || *count > kMost) {
        return std::nullopt;
    }
    for (size_t axis = 0; axis < rank && !is_empty; ++axis) {
        int64_t size = both.dims[axis];
        auto extend = [size](std::vector<int64_t>& places, int64_t own) {
            std::vector<int64_t> next;
            next.reserve(places.size() * static_cast<size_t>(size));
            for (int64_t place : places) {
                for (int64_t i = 0; i < size; ++i) {
                    next.push_back(place * own + (own == 1 ? 0 : i));
                }
            }
            places = std::move(next);
        };
        extend(both.left, dim(a, axis));
        extend(both.right, dim(b, axis));
    }
    if (is_empty) {
        both.left.clear();
        both.right.clear();
    }
    return both;
}

// --- Operators -----------------------------------------------------------------------------------

namespace {

// What an element is computed in: FLOAT16 in FLOAT.
template <typename T>
using ComputedIn = std::conditional_t<std::is_same_v<T, Float16>, float, T>;

template <typename T>
std::optional<T> power(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::pow(a, b);
    } else {
        if (b < T(0)) {
            return std::nullopt;
        }
        uint64_t result = 1, base = static_cast<uint64_t>(a);
        for (auto rest = static_cast<uint64_t>(b); rest != 0; rest >>= 1) {
            result *= (rest & 1) != 0 ? base : 1;
            base *= base;
        }
        return static_cast<T>(result);
    }
}

template <typename T>
T shifted(T a, T b, bool to_left) {
    bool is_past = b < T(0) || static_cast<uint64_t>(b) >= sizeof(T) * 8;
    if (is_past) {
        return !to_left && a < T(0) ? static_cast<T>(-1) : T(0);
    }
    return to_left ? static_cast<T>(static_cast<uint64_t>(a) << static_cast<uint64_t>(b))
                   : static_cast<T>(a >> b);
}

std::optional<bool> combined_bools(Binary op, bool a, bool b) {
    switch (op) {
        case Binary::kAdd:
        case Binary::kBitOr:
            return a || b;
        case Binary::kMul:
        case Binary::kBitAnd:
            return a && b;
        case Binary::kBitXor:
            return a != b;
        default:
            return std::nullopt;
    }
}

template <typename T>
std::optional<T> combined_bits(Binary op, T a, T b) {
    switch (op) {
        case Binary::kLeftShift:
        case Binary::kRightShift:
            return shifted(a, b, op == Binary::kLeftShift);
        case Binary::kBitOr:
            return static_cast<T>(a | b);
        case Binary::kBitAnd:
            return static_cast<T>(a & b);
        case Binary::kBitXor:
            return static_cast<T>(a ^ b);
        default:
            return std::nullopt;
    }
}

template <typename T>
std::optional<T> combined(Binary op, T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
        return combined_bools(op, a, b);
    } else {
        // Integers wrap, which unsigned ones do.
        using W = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
        W x = static_cast<W>(a), y = static_cast<W>(b);
        switch (op) {
            case Binary::kAdd:
                return static_cast<T>(x + y);
            case Binary::kSub:
                return static_cast<T>(x - y);
            case Binary::kMul:
                return static_cast<T>(x * y);
            case Binary::kFloorDiv:
                return floor_divide(a, b);
            case Binary::kMod:
                return remainder(a, b);
            case Binary::kPow:
                return power(a, b);
            default:
                break;
        }
        if constexpr (std::is_floating_point_v<T>) {
            return op == Binary::kDiv ? std::optional<T>(a / b) : std::nullopt;
        } else {
            return combined_bits(op, a, b);
        }
    }
}

template <typename T>
bool is_so(CompareOp op, T a, T b) {
    switch (op) {
        case CompareOp::kEq:
            return a == b;
        case CompareOp::kNotEq:
            return a != b;
        case CompareOp::kLt:
            return a < b;
        case CompareOp::kLtE:
            return a <= b;
        case CompareOp::kGt:
            return a > b;
        default:
            return a >= b;
    }
}

}  // namespace

std::optional<Tensor> combine(Binary op, const Tensor& a, const Tensor& b, const Broadcast& both) {
    return with_elements<std::optional<Tensor>>(
        a.element_type(), [&]<typename T>() -> std::optional<Tensor> {
            using C = ComputedIn<T>;
            Tensor result = Tensor::uninitialized(a.element_type(), both.dims);
            std::span<const T> left = a.elements<T>(), right = b.elements<T>();
            std::span<T> target = result.mutable_elements<T>();
            for (size_t i = 0; i < target.size(); ++i) {
                std::optional<C> one =
                    combined<C>(op, static_cast<C>(left[static_cast<size_t>(both.left[i])]),
                                static_cast<C>(right[static_cast<size_t>(both.right[i])]));
                if (!one) {
                    return std::nullopt;
                }
                target[i] = static_cast<T>(*one);
            }
            return result;
        });
}

std::optional<Tensor> compare(CompareOp op, const Tensor& a, const Tensor& b,
                              const Broadcast& both) {
    return with_elements<std::optional<Tensor>>(
        a.element_type(), [&]<typename T>() -> std::optional<Tensor> {
            using C = ComputedIn<T>;
            Tensor result = Tensor::uninitialized(ElementType::kBool, both.dims);
            std::span<const T> left = a.elements<T>(), right = b.elements<T>();
            std::span<bool> target = result.mutable_elements<bool>();
            for (size_t i = 0; i < target.size(); ++i) {
                target[i] = is_so<C>(op, static_cast<C>(left[static_cast<size_t>(both.left[i])]),
                                     static_cast<C>(right[static_cast<size_t>(both.right[i])]));
            }
            return result;
        });
}

std::optional<Tensor> apply_unary(Unary op, const Tensor& a) {
    ElementType type = a.element_type();
    if (op == Unary::kNot || (op == Unary::kInvert && is_floating(type)) ||
        (op != Unary::kInvert && type == ElementType::kBool)) {
        return std::nullopt;
    }
    return with_elements<std::optional<Tensor>>(type, [&]<typename T>() -> std::optional<Tensor> {
        using C = ComputedIn<T>;
        Tensor result = Tensor::uninitialized(type, a.dims());
        std::span<T> target = result.mutable_elements<T>();
        auto apply = [&](C x) -> C {
            if constexpr (std::is_floating_point_v<C>) {
                return op == Unary::kMinus ? -x : x;
            } else if constexpr (std::is_same_v<C, bool>) {
                return !x;
            } else {
                auto bits = static_cast<uint64_t>(x);
                return static_cast<C>(op == Unary::kMinus    ? uint64_t{0} - bits
                                      : op == Unary::kInvert ? ~bits
                                                             : bits);
            }
        };
        std::span<const T> source = a.elements<T>();
        for (size_t i = 0; i < target.size(); ++i) {
            target[i] = static_cast<T>(apply(static_cast<C>(source[i])));
        }
        return result;
    });
}

Tensor absolute(const Tensor& a) {
    return with_elements<Tensor>(a.element_type(), [&]<typename T>() -> Tensor {
        using C = ComputedIn<T>;
        Tensor result = Tensor::uninitialized(a.element_type(), a.dims());
        std::span<T> target = result.mutable_elements<T>();
        std::span<const T> source = a.elements<T>();
        for (size_t i = 0; i < target.size(); ++i) {
            C x = static_cast<C>(source[i]);
            if constexpr (std::is_floating_point_v<C>) {
                x = std::fabs(x);
            } else if constexpr (!std::is_same_v<C, bool>) {
                x = x < 0 ? static_cast<C>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
            }
            target[i] = static_cast<T>(x);
        }
        return result;
    });
}

// --- Elements ------------------------------------------------------------------------------------

std::optional<Tensor> cast_array(const Tensor& array, ElementType type) {
    if (array.element_type() == type) {
        return array;
    }
    if (!has_arithmetic(array.element_type()) || !has_arithmetic(type)) {
        return std::nullopt;
    }
    return with_elements<std::optional<Tensor>>(type, [&]<typename To>() -> std::optional<Tensor> {
        Tensor result = Tensor::uninitialized(type, array.dims());
        std::span<To> target = result.mutable_elements<To>();
        bool fits = with_elements<bool>(array.element_type(), [&]<typename From>() {
            std::span<const From> source = array.elements<From>();
            for (size_t i = 0; i < source.size(); ++i) {
                if constexpr (std::is_same_v<To, bool>) {
                    target[i] = static_cast<ComputedIn<From>>(source[i]) != ComputedIn<From>(0);
                } else if constexpr (std::is_same_v<To, Float16>) {
                    target[i] = Float16(static_cast<double>(source[i]));
                } else {
                    // The standard does not define the result of a float beyond the limits of an
                    // integer.
                    if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
                        auto value = static_cast<double>(source[i]);
                        auto most = std::ldexp(1.0, std::numeric_limits<To>::digits);
                        if (!(value > -1.0 || (std::is_signed_v<To> && value >= -most)) ||
                            !(value < most)) {
                            return false;
                        }
                    }
                    target[i] = static_cast<To>(static_cast<ComputedIn<From>>(source[i]));
                }
            }
            return true;
        });
        return fits ? std::optional(std::move(result)) : std::nullopt;
    });
}

Tensor gather(const Tensor& array, std::span<const int64_t> places, Dims dims) {
    Tensor result = Tensor::uninitialized(array.element_type(), std::move(dims));
    with_elements<bool>(array.element_type(), [&]<typename T>() {
        std::span<const T> source = array.elements<T>();
        std::span<T> target = result.mutable_elements<T>();
        for (size_t i = 0; i < target.size(); ++i) {
            target[i] = source[static_cast<size_t>(places[i])];
        }
        return true;
    });
    return result;
}

Tensor scatter(const Tensor& array, std::span<const int64_t> places, const Tensor& items,
               std::span<const int64_t> from) {
    Tensor result = Tensor::uninitialized(array.element_type(), array.dims());
    with_elements<bool>(array.element_type(), [&]<typename T>() {
        std::span<const T> before = array.elements<T>(), source = items.elements<T>();
        std::span<T> target = result.mutable_elements<T>();
        std::copy(before.begin(), before.end(), target.begin());
        for (size_t i = 0; i < places.size(); ++i) {
            target[static_cast<size_t>(places[i])] = source[static_cast<size_t>(from[i])];
        }
        return true;
    });
    return result;
}

std::vector<int64_t> transposed_places(const Dims& dims) {
    std::vector<int64_t> places{0};
    int64_t stride = 1;
    if (element_count(dims) == 0) {
        return {};
    }
    // The last axis of the array is the first of the result.
    for (size_t axis = dims.size(); axis-- > 0;) {
        std::vector<int64_t> next;
        next.reserve(places.size() * static_cast<size_t>(dims[axis]));
        for (int64_t place : places) {
            for (int64_t i = 0; i < dims[axis]; ++i) {
                next.push_back(place + i * stride);
            }
        }
        places = std::move(next);
        stride *= dims[axis];
    }
    return places;
}

}  // namespace sardonyx::elaborate
