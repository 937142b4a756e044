// Activations and Clip: elementwise functors with parameters (activation.h has those that others
// use).
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/activation.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/functors.h"
#include "eval/loops/vector_math.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

struct ParametricRelu {
    template <typename T>
    T operator()(T x, T slope) const {
        return x < 0 ? Multiply{}(slope, x) : x;
    }
};
struct Selu {
    float alpha;
    float gamma;
    template <typename T>
    T operator()(T x) const {
        return static_cast<T>(gamma) * (x > 0 ? x : static_cast<T>(alpha) * vector_expm1(x));
    }
};
struct Celu {
    float alpha;
    template <typename T>
    T operator()(T x) const {
        T a = static_cast<T>(alpha);
        return x > 0 ? x : a * vector_expm1(x / a);
    }
};
struct HardSwish {
    template <typename T>
    T operator()(T x) const {
        return x * HardSigmoid{1.0f / 6.0f, 0.5f}(x);
    }
};
struct Swish {
    float alpha;
    template <typename T>
    T operator()(T x) const {
        return x * Sigmoid{}(static_cast<T>(alpha) * x);
    }
};
struct SwiGlu {
    float alpha;
    template <typename T>
    T operator()(T gate, T x) const {
        return Swish{alpha}(gate)*x;
    }
};
struct Mish {
    template <typename T>
    T operator()(T x) const {
        return x * vector_tanh(Softplus{}(x));
    }
};
struct Shrink {
    float lambda;
    float bias;
    template <typename T>
    T operator()(T x) const {
        if constexpr (std::is_integral_v<T>) {
            return saturate<T>((*this)(static_cast<double>(x)));
        } else {
            T l = static_cast<T>(lambda);
            T b = static_cast<T>(bias);
            return x < -l ? x + b : x > l ? x - b : T(0);
        }
    }
};
struct GeluErf {
    template <typename T>
    T operator()(T x) const {
        return vector_gelu(x);
    }
};
struct GeluTanh {
    template <typename T>
    T operator()(T x) const {
        T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
        return x * vector_sigmoid(T(2) * inner);  // (1 + tanh) / 2 without the cancellation
    }
};

template <typename T>
struct Clamp {
    T low;
    T high;
    template <typename U>
    U operator()(U x) const {
        // The upper bound wins where they cross; NaN stays.
        x = x < static_cast<U>(low) ? static_cast<U>(low) : x;
        return x > static_cast<U>(high) ? static_cast<U>(high) : x;
    }
};

template <typename T>
Clamp<T> clamp_all() {
    if constexpr (std::is_floating_point_v<T>) {
        return {-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity()};
    } else {
        return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
    }
}

}  // namespace

#define SDX_ACTIVATION(name, ...)               \
    Status name(KernelContext& c) {             \
        return unary(c, Floats{}, __VA_ARGS__); \
    }
SDX_ACTIVATION(leaky_relu, LeakyRelu{c.float_attribute("alpha")})
SDX_ACTIVATION(elu, Elu{c.float_attribute("alpha")})
SDX_ACTIVATION(selu, Selu{c.float_attribute("alpha"), c.float_attribute("gamma")})
SDX_ACTIVATION(celu, Celu{c.float_attribute("alpha")})
SDX_ACTIVATION(hard_sigmoid, HardSigmoid{c.float_attribute("alpha"), c.float_attribute("beta")})
SDX_ACTIVATION(hard_swish, HardSwish{})
SDX_ACTIVATION(sigmoid, Sigmoid{})
SDX_ACTIVATION(swish, Swish{c.float_attribute("alpha")})
SDX_ACTIVATION(softplus, Softplus{})
SDX_ACTIVATION(softsign, Softsign{})
SDX_ACTIVATION(mish, Mish{})
SDX_ACTIVATION(thresholded_relu, ThresholdedRelu{c.float_attribute("alpha")})
#undef SDX_ACTIVATION

// Without broadcasting.
Status swiglu(KernelContext& c) {
    if (c.dims(0) != c.dims(1)) {
        return Error{fmt::format("the shapes {} and {} are not the same", to_string(c.dims(0)),
                                 to_string(c.dims(1)))};
    }
    return binary(c, Floats{}, SwiGlu{c.float_attribute("alpha")});
}

Status relu(KernelContext& c) {
    return unary(c, Numbers{}, Relu{});
}

Status shrink(KernelContext& c) {
    return unary(c, Numbers{}, Shrink{c.float_attribute("lambd"), c.float_attribute("bias")});
}

Status gelu(KernelContext& c) {
    return c.string_attribute("approximate") == "tanh" ? unary(c, Floats{}, GeluTanh{})
                                                       : unary(c, Floats{}, GeluErf{});
}

Status prelu(KernelContext& c) {
    ParametricRelu op;
    Tensor slope = c.tensor(1);
    // Before version 7 a slope of rank 1 is one per channel.
    if (c.version() < 7 && slope.rank() == 1 && slope.count() != 1 && c.rank(0) > 2) {
        Dims dims(c.rank(0) - 1, 1);
        dims[0] = slope.count();
        slope = slope.reshaped(std::move(dims));
    }
    SDX_ASSIGN(Tensor out,
               apply_binary(c, c.tensor(0), slope, binary_call(Numbers{}, c.type(0), op)));
    if (out.dims() != c.dims(0)) {
        return Error{"the slope's shape " + to_string(c.dims(1)) + " does not broadcast to " +
                     to_string(c.dims(0))};
    }
    c.set_output(0, std::move(out));
    return {};
}

Status clip(KernelContext& c) {
    return visit(Numbers{}, c.type(0), [&]<typename T>() -> Status {
        Clamp<Compute<T>> op = clamp_all<Compute<T>>();
        if (c.version() < 11) {
            op.low = saturate<Compute<T>>(
                c.float_attribute("min", std::numeric_limits<float>::lowest()));
            op.high =
                saturate<Compute<T>>(c.float_attribute("max", std::numeric_limits<float>::max()));
        }
        for (size_t i = 1; i < 3; ++i) {
            if (!c.has_input(i)) {
                continue;
            }
            if (c.tensor(i).count() != 1) {
                return Error{"the bounds must be scalars, not " + to_string(c.dims(i))};
            }
            (i == 1 ? op.low : op.high) = static_cast<Compute<T>>(c.tensor(i).elements<T>()[0]);
        }
        return run_unary(c, &unary_loop<Clamp<Compute<T>>, T, T>, c.type(0), &op);
    });
}

}  // namespace sardonyx::eval::kernels
