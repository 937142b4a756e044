// Elementwise operators of one operand: mathematics, rounding, tests of floats.
#include <cmath>

#include "eval/kernels/cast.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/vector_math.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// A functor for a function of one argument, on floats.
#define SDX_FUNCTOR(identifier, expression) \
    struct identifier {                     \
        template <typename T>               \
        T operator()(T x) const {           \
            return expression;              \
        }                                   \
    }
SDX_FUNCTOR(Acos, std::acos(x));
SDX_FUNCTOR(Acosh, std::acosh(x));
SDX_FUNCTOR(Asin, std::asin(x));
SDX_FUNCTOR(Asinh, std::asinh(x));
SDX_FUNCTOR(Atan, std::atan(x));
SDX_FUNCTOR(Atanh, std::atanh(x));
SDX_FUNCTOR(Ceil, std::ceil(x));
SDX_FUNCTOR(Cosh, std::cosh(x));
SDX_FUNCTOR(Exp, vector_exp(x));
SDX_FUNCTOR(Floor, std::floor(x));
SDX_FUNCTOR(Log, vector_log(x));
SDX_FUNCTOR(Reciprocal, T(1) / x);
SDX_FUNCTOR(RoundHalfToEven, std::nearbyint(x));
SDX_FUNCTOR(Sinh, std::sinh(x));
SDX_FUNCTOR(Sqrt, std::sqrt(x));
SDX_FUNCTOR(Tan, std::tan(x));
SDX_FUNCTOR(Tanh, vector_tanh(x));
#undef SDX_FUNCTOR

// Sin and Cos of float: in blocks, which are done again by <cmath> where an angle is too large for
// the vector loop.
template <bool is_cosine>
struct Sine {
    template <typename T>
    T operator()(T x) const {
        return is_cosine ? std::cos(x) : std::sin(x);
    }
};
template <bool is_cosine>
SDX_CLONES void sine_loop(const void* from, void* to, int64_t n, const void*) {
    constexpr int64_t kBlock = 64;
    const float* in = static_cast<const float*>(from);
    float* out = static_cast<float*>(to);
    for (int64_t first = 0; first < n; first += kBlock) {
        int64_t count = n - first < kBlock ? n - first : kBlock;
        float angles[kBlock] = {};  // the storage of the results may be that of the angles
        bool are_near = true;
        for (int64_t i = 0; i < count; ++i) {
            angles[i] = in[first + i];
            are_near &= std::fabs(angles[i]) < kLargestAngle;
        }
        for (int64_t i = 0; i < count; ++i) {
            out[first + i] = vector_sine(angles[i], is_cosine);
        }
        for (int64_t i = 0; !are_near && i < count; ++i) {
            out[first + i] = Sine<is_cosine>{}(angles[i]);
        }
    }
}
template <bool is_cosine>
Status sine(KernelContext& c) {
    return c.type(0) == ElementType::kFloat
               ? run_unary(c, &sine_loop<is_cosine>, ElementType::kFloat, nullptr)
               : unary(c, Floats{}, Sine<is_cosine>{});
}

// Also on integers: by wrapping arithmetic where the result may not fit (the least integer).
struct Abs {
    template <typename T>
    T operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::fabs(x);
        } else {
            return x < 0 ? static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x)) : x;
        }
    }
};
struct Negate {
    template <typename T>
    T operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return -x;
        } else {
            return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
        }
    }
};
struct Sign {
    template <typename T>
    T operator()(T x) const {
        return x > 0 ? T(1) : x < 0 ? static_cast<T>(-1) : x;  // NaN and -0.0 stay
    }
};
struct Erf {
    template <typename T>
    T operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return vector_erf(x);
        } else {
            return static_cast<T>(std::erf(static_cast<double>(x)));
        }
    }
};
struct BitwiseNot {
    template <typename T>
    T operator()(T x) const {
        return static_cast<T>(~x);
    }
};
struct LogicalNot {
    bool operator()(uint8_t x) const { return x == 0; }
};
struct IsNan {
    template <typename T>
    bool operator()(T x) const {
        return std::isnan(x);
    }
};
struct IsInf {
    bool negative;
    bool positive;
    template <typename T>
    bool operator()(T x) const {
        return std::isinf(x) && (x < 0 ? negative : positive);
    }
};

// Tests of floats take the 8-bit floats too: those are widened first.
template <typename Op>
Status test_floats(KernelContext& c, const Op& op) {
    if (info(c.type(0)).bits >= 16) {
        return unary_to_bool(c, Floats{}, op);
    }
    SDX_ASSIGN(Tensor wide, cast_tensor(c, c.tensor(0), ElementType::kFloat));
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kBool, wide.dims()));
    unary_loop<Op, float, bool>(wide.elements<float>().data(), out->mutable_elements<bool>().data(),
                                wide.count(), &op);
    return {};
}

}  // namespace

#define SDX_UNARY(name, list, Op)      \
    Status name(KernelContext& c) {    \
        return unary(c, list{}, Op{}); \
    }
SDX_UNARY(abs, Numbers, Abs)
SDX_UNARY(acos, Floats, Acos)
SDX_UNARY(acosh, Floats, Acosh)
SDX_UNARY(asin, Floats, Asin)
SDX_UNARY(asinh, Floats, Asinh)
SDX_UNARY(atan, Floats, Atan)
SDX_UNARY(atanh, Floats, Atanh)
SDX_UNARY(bitwise_not, Ints, BitwiseNot)
SDX_UNARY(ceil, Floats, Ceil)
SDX_UNARY(cosh, Floats, Cosh)
SDX_UNARY(erf, Numbers, Erf)
SDX_UNARY(exp, Floats, Exp)
SDX_UNARY(floor, Floats, Floor)
SDX_UNARY(log, Floats, Log)
SDX_UNARY(logical_not, BoolBytes, LogicalNot)
SDX_UNARY(negate, Numbers, Negate)
SDX_UNARY(reciprocal, Floats, Reciprocal)
SDX_UNARY(round, Floats, RoundHalfToEven)
SDX_UNARY(sign, Numbers, Sign)
SDX_UNARY(sinh, Floats, Sinh)
SDX_UNARY(sqrt, Floats, Sqrt)
SDX_UNARY(tan, Floats, Tan)
SDX_UNARY(tanh, Floats, Tanh)
#undef SDX_UNARY

Status cos(KernelContext& c) {
    return sine<true>(c);
}
Status sin(KernelContext& c) {
    return sine<false>(c);
}

Status is_nan(KernelContext& c) {
    return test_floats(c, IsNan{});
}

Status is_inf(KernelContext& c) {
    return test_floats(
        c, IsInf{c.int_attribute("detect_negative") != 0, c.int_attribute("detect_positive") != 0});
}

}  // namespace sardonyx::eval::kernels
