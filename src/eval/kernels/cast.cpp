// Cast, CastLike, BitCast. A conversion goes in blocks through one of three wide types that hold
// every value of the source exactly (double, int64, uint64), so that n sources and m targets need
// n + 3m loops; strings are parsed and printed beside that.
#include "eval/kernels/cast.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "eval/loops/clones.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"
#include "types/packed.h"

namespace sardonyx::eval {
namespace {

constexpr int64_t kCastBlock = 256;

template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t,
                                std::conditional_t<std::is_integral_v<T>, int64_t, double>>;

template <typename R, typename W>
R narrow(W value) {
    if constexpr (std::is_same_v<R, bool>) {
        return value != 0;
    } else if constexpr (std::is_integral_v<R> && std::is_same_v<W, double>) {
        return saturate<R>(value);
    } else if constexpr (std::is_same_v<R, Float16> || std::is_same_v<R, BFloat16>) {
        return R(static_cast<double>(value));
    } else {
        return static_cast<R>(value);
    }
}

// Reads elements of any numeric type as its wide type.
enum class WideKind { kDouble, kInt64, kUint64 };

WideKind wide_kind(ElementType type) {
    return type == ElementType::kUint64 ? WideKind::kUint64
           : is_floating(type)          ? WideKind::kDouble
                                        : WideKind::kInt64;
}

int64_t sign_extended(uint8_t code, ElementType type) {
    int shift = 64 - info(type).bits;
    uint64_t top = static_cast<uint64_t>(code) << shift;
    return element_class(type) == ElementClass::kSigned ? static_cast<int64_t>(top) >> shift
                                                        : static_cast<int64_t>(top >> shift);
}

// `source` has one byte per element for the types below 8 bits; `type` is the true one.
Status read_wide(const Tensor& source, ElementType type, int64_t start, int64_t n, void* wide) {
    if (is_packed(type) || is_small_float(type)) {
        const auto* in = reinterpret_cast<const uint8_t*>(source.bytes().data()) + start;
        for (int64_t i = 0; i < n; ++i) {
            if (is_floating(type)) {
                static_cast<double*>(wide)[i] = decode(type, in[i]);
            } else {
                static_cast<int64_t*>(wide)[i] = sign_extended(in[i], type);
            }
        }
        return {};
    }
    return visit(NumbersAndBools{}, type, [&]<typename T>() -> Status {
        const T* in = source.elements<T>().data() + start;
        auto* out = static_cast<Wide<T>*>(wide);
        for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<Wide<T>>(in[i]);
        }
        return {};
    });
}

template <typename W>
Status write_narrow(const W* wide, int64_t n, Tensor& target, ElementType type, int64_t start,
                    const CastOptions& options) {
    if (is_packed(type) || is_small_float(type)) {
        auto* out = reinterpret_cast<uint8_t*>(target.mutable_bytes().data()) + start;
        for (int64_t i = 0; i < n; ++i) {
            if (type == ElementType::kFloat8E8M0) {
                out[i] =
                    encode_e8m0(static_cast<double>(wide[i]), options.saturate, options.rounding);
            } else if (is_floating(type)) {
                out[i] = encode(type, static_cast<double>(wide[i]), options.saturate);
            } else {
                out[i] = static_cast<uint8_t>(narrow<int64_t>(wide[i]));
            }
        }
        return {};
    }
    return visit(NumbersAndBools{}, type, [&]<typename R>() -> Status {
        R* out = target.mutable_elements<R>().data() + start;
        for (int64_t i = 0; i < n; ++i) {
            out[i] = narrow<R>(wide[i]);
        }
        return {};
    });
}

// --- The conversions that models are full of have loops of their own, with the same results.
// ------

// Without branches; bool stands there as its byte.
template <typename R, typename T>
[[gnu::always_inline]] inline R converted_element(T x) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        return converted_element<R>(static_cast<float>(x));
    } else if constexpr (std::is_same_v<R, bool>) {
        return x != 0;
    } else if constexpr (std::is_floating_point_v<T> && std::is_integral_v<R>) {
        // What is out of range is left out of the conversion, and saturates after it.
        using W = std::conditional_t<(sizeof(R) < 4), int32_t, R>;
        constexpr T kLow = static_cast<T>(std::numeric_limits<R>::min());
        constexpr T kHigh = static_cast<T>(std::numeric_limits<R>::max());
        bool fits = x >= kLow && x < kHigh;
        W value = static_cast<W>(fits ? x : T(0));
        value = x >= kHigh ? W{std::numeric_limits<R>::max()} : value;
        value = x < kLow ? W{std::numeric_limits<R>::min()} : value;
        return static_cast<R>(value);
    } else if constexpr (std::is_integral_v<T> &&
                         (std::is_same_v<R, Float16> || std::is_same_v<R, BFloat16>)) {
        return R(static_cast<double>(x));  // rounds once
    } else {
        return static_cast<R>(x);
    }
}

template <typename T, typename R>
SDX_CLONES void convert_run(const void* from, void* to, int64_t n) {
    const T* in = static_cast<const T*>(from);
    R* out = static_cast<R*>(to);
    for (int64_t i = 0; i < n; ++i) {
        out[i] = converted_element<R>(in[i]);
    }
}

struct DirectConversion {
    ElementType from;
    ElementType to;
    void (*run)(const void* from, void* to, int64_t n);
};

template <ElementType kFrom, typename T, ElementType kTo, typename R>
constexpr DirectConversion direct() {
    return {kFrom, kTo, &convert_run<T, R>};
}

template <ElementType kElement, typename T>
struct ToAndFromFloat {
    static constexpr DirectConversion kTo = direct<ElementType::kFloat, float, kElement, T>();
    static constexpr DirectConversion kFrom = direct<kElement, T, ElementType::kFloat, float>();
};

#define SDX_BESIDE_FLOAT(element, type)              \
    ToAndFromFloat<ElementType::element, type>::kTo, \
        ToAndFromFloat<ElementType::element, type>::kFrom
constexpr DirectConversion kDirect[] = {
    SDX_BESIDE_FLOAT(kFloat16, Float16),
    SDX_BESIDE_FLOAT(kBfloat16, BFloat16),
    SDX_BESIDE_FLOAT(kDouble, double),
    SDX_BESIDE_FLOAT(kInt8, int8_t),
    SDX_BESIDE_FLOAT(kUint8, uint8_t),
    SDX_BESIDE_FLOAT(kInt16, int16_t),
    SDX_BESIDE_FLOAT(kUint16, uint16_t),
    SDX_BESIDE_FLOAT(kInt32, int32_t),
    SDX_BESIDE_FLOAT(kInt64, int64_t),
    direct<ElementType::kFloat, float, ElementType::kBool, bool>(),
    direct<ElementType::kBool, uint8_t, ElementType::kFloat, float>(),
    direct<ElementType::kBool, uint8_t, ElementType::kInt32, int32_t>(),
    direct<ElementType::kBool, uint8_t, ElementType::kInt64, int64_t>(),
    direct<ElementType::kInt32, int32_t, ElementType::kInt64, int64_t>(),
    direct<ElementType::kInt64, int64_t, ElementType::kInt32, int32_t>(),
    direct<ElementType::kInt32, int32_t, ElementType::kBool, bool>(),
    direct<ElementType::kInt64, int64_t, ElementType::kBool, bool>(),
};
#undef SDX_BESIDE_FLOAT

const DirectConversion* find_direct(ElementType from, ElementType to) {
    const auto* found =
        std::find_if(std::begin(kDirect), std::end(kDirect),
                     [&](const DirectConversion& one) { return one.from == from && one.to == to; });
    return found != std::end(kDirect) ? found : nullptr;
}

// One block through the wide type; `codes` and `out` have a byte for each element below 8 bits.
Status convert_block(const Tensor& codes, ElementType type, int64_t start, int64_t n, Tensor& out,
                     ElementType target, const CastOptions& options) {
    alignas(64) unsigned char wide[kCastBlock * 8];
    SDX_TRY(read_wide(codes, type, start, n, wide));
    switch (wide_kind(type)) {
        case WideKind::kDouble:
            return write_narrow(reinterpret_cast<double*>(wide), n, out, target, start, options);
        case WideKind::kInt64:
            return write_narrow(reinterpret_cast<int64_t*>(wide), n, out, target, start, options);
        default:
            return write_narrow(reinterpret_cast<uint64_t*>(wide), n, out, target, start, options);
    }
}

// The shortest text that reads back, with a point or an exponent; `NaN`, `INF`, `-INF`. NumPy
// prints doubles so; where it begins with exponents in smaller floats differs between its releases.
std::string print_float(double value, bool is_single) {
    if (std::isnan(value)) {
        return "NaN";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-INF" : "INF";
    }
    std::string text =
        is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    bool whole = text.find_first_of(".e") == std::string::npos;
    return whole ? text + ".0" : text;
}

Result<Tensor> to_strings(const KernelContext& c, const Tensor& source) {
    SDX_ASSIGN(Tensor target, c.scratch(ElementType::kString, source.dims()));
    std::span<std::string> out = target.mutable_elements<std::string>();
    ElementType type = source.element_type();
    Tensor codes = is_packed(type) ? unpacked(source) : source;
    bool is_single = type != ElementType::kDouble;
    alignas(8) unsigned char none[8];
    SDX_TRY(read_wide(codes, type, 0, 0, none));  // the type decides whether there is a text
    auto print = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            alignas(8) unsigned char wide[8];
            (void)read_wide(codes, type, i, 1, wide);
            switch (wide_kind(type)) {
                case WideKind::kDouble:
                    out[i] = print_float(*reinterpret_cast<double*>(wide), is_single);
                    break;
                case WideKind::kInt64:
                    out[i] = fmt::format("{}", *reinterpret_cast<int64_t*>(wide));
                    break;
                case WideKind::kUint64:
                    out[i] = fmt::format("{}", *reinterpret_cast<uint64_t*>(wide));
                    break;
            }
        }
    };
    constexpr int64_t kOfOneText = 100;  // operations, about
    parallel_for(c.threads(), source.count(), items_per_task(kOfOneText), print);
    return target;
}

Error unreadable(const std::string& text, ElementType type) {
    return Error{
        fmt::format("the string \"{}\" cannot be read as {}", text.substr(0, 40), name(type))};
}

Result<Tensor> from_strings(const KernelContext& c, const Tensor& source, ElementType type,
                            const CastOptions& options) {
    bool is_float = is_floating(type);
    SDX_ASSIGN(Tensor wide,
               c.scratch(is_float ? ElementType::kDouble : ElementType::kInt64, source.dims()));
    std::span<const std::string> in = source.elements<std::string>();
    for (int64_t i = 0; i < source.count(); ++i) {
        if (i % kCastBlock == kCastBlock - 1) {
            SDX_TRY(check_interrupt(c.options()));
        }
        const char* begin = in[i].c_str();
        char* end = nullptr;
        if (is_float) {
            wide.mutable_elements<double>()[i] = std::strtod(begin, &end);
        } else {
            errno = 0;
            int64_t value = type == ElementType::kUint64
                                ? static_cast<int64_t>(std::strtoull(begin, &end, 10))
                                : std::strtoll(begin, &end, 10);
            if (errno != 0) {
                return unreadable(in[i], type);
            }
            wide.mutable_elements<int64_t>()[i] = value;
        }
        if (end == begin || *end != '\0') {
            return unreadable(in[i], type);
        }
    }
    return cast_tensor(c, wide, type, options);
}

}  // namespace

Tensor unpacked(const Tensor& packed) {
    Tensor codes = Tensor::uninitialized(ElementType::kUint8, packed.dims());
    unpack_codes(packed.bytes(), info(packed.element_type()).bits,
                 codes.mutable_elements<uint8_t>());
    return codes;
}

Tensor packed(const Tensor& codes, ElementType type) {
    Tensor result = Tensor::zeros(type, codes.dims());
    pack_codes(codes.elements<uint8_t>(), info(type).bits, result.mutable_bytes());
    return result;
}

Result<Tensor> cast_tensor(const KernelContext& c, const Tensor& source, ElementType target,
                           const CastOptions& options) {
    ElementType type = source.element_type();
    if (type == target) {
        return source;
    }
    if (target == ElementType::kString) {
        return to_strings(c, source);
    }
    if (type == ElementType::kString) {
        return from_strings(c, source, target, options);
    }
    constexpr int64_t kTaskElements = 64 * kCastBlock;
    Tensor codes = is_packed(type) ? unpacked(source) : source;
    SDX_ASSIGN(Tensor out,
               c.scratch(is_packed(target) ? ElementType::kUint8 : target, source.dims()));
    int64_t count = source.count();
    if (const DirectConversion* direct = find_direct(type, target)) {
        const std::byte* from = source.bytes().data();
        std::byte* to = out.mutable_bytes().data();
        parallel_for(c.threads(), count, kTaskElements, [&](int64_t begin, int64_t end) {
            direct->run(from + begin * info(type).bits / 8, to + begin * info(target).bits / 8,
                        end - begin);
        });
        return out;
    }
    // The types decide whether a block can be converted: the first one tells for all.
    SDX_TRY(convert_block(codes, type, 0, std::min(kCastBlock, count), out, target, options));
    parallel_for(c.threads(), count, kTaskElements, [&](int64_t begin, int64_t end) {
        for (int64_t start = begin; start < end; start += kCastBlock) {
            (void)convert_block(codes, type, start, std::min(kCastBlock, end - start), out, target,
                                options);
        }
    });
    return is_packed(target) ? packed(out, target) : out;
}

Status run_on_codes(KernelContext& c, Kernel kernel) {
    ElementType type = ElementType::kUndefined;
    std::vector<RuntimeValue> codes(c.input_count());
    std::vector<const RuntimeValue*> inputs(c.inputs().begin(), c.inputs().end());
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i]->is_tensor() && is_packed(inputs[i]->tensor().element_type())) {
            type = inputs[i]->tensor().element_type();
            codes[i] = unpacked(inputs[i]->tensor());
            inputs[i] = &codes[i];
        }
    }
    KernelContext inner(c.schema(), inputs, c.attributes(), c.outputs(), c.options(), c.random());
    SDX_TRY(kernel(inner));
    for (RuntimeValue& output : c.outputs()) {
        if (output.is_tensor() && output.tensor().element_type() == ElementType::kUint8) {
            output = packed(output.tensor(), type);
        }
    }
    return {};
}

namespace kernels {
namespace {

CastOptions cast_options(const KernelContext& c) {
    CastOptions options;
    options.saturate = c.int_attribute("saturate", 1) != 0;
    std::string_view mode = c.string_attribute("round_mode");
    options.rounding = mode == "down"      ? E8M0Rounding::kDown
                       : mode == "nearest" ? E8M0Rounding::kNearest
                                           : E8M0Rounding::kUp;
    return options;
}

Status cast_to(KernelContext& c, ElementType target) {
    SDX_ASSIGN(Tensor out, cast_tensor(c, c.tensor(0), target, cast_options(c)));
    c.set_output(0, std::move(out));
    return {};
}

}  // namespace

Status cast(KernelContext& c) {
    // Before version 6 the type is a name.
    ElementType target = c.version() < 6 ? element_type_from_name(c.string_attribute("to"))
                                         : element_type_from_number(c.int_attribute("to"));
    if (target == ElementType::kUndefined || element_class(target) == ElementClass::kComplex) {
        return Error{fmt::format(
            "attribute `to` is {}, which is not an element type that Cast makes",
            c.version() < 6 ? c.string_attribute("to") : std::to_string(c.int_attribute("to")))};
    }
    return cast_to(c, target);
}

Status cast_like(KernelContext& c) {
    return cast_to(c, c.type(1));
}

Status bit_cast(KernelContext& c) {
    ElementType target = element_type_from_number(c.int_attribute("to"));
    if (info(target).bits == 0 || info(target).bits != info(c.type(0)).bits) {
        return Error{fmt::format("{} and {} differ in width", name(c.type(0)), name(target))};
    }
    const Tensor& in = c.tensor(0);
    c.set_output(0, Tensor::view_of(target, in.dims(), in.bytes(), in.owner()));
    return {};
}

}  // namespace kernels
}  // namespace sardonyx::eval
