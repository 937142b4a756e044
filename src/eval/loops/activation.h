// Activation functions of one element, for the elementwise drivers and the recurrent operators.
#pragma once

#include <cmath>

#include "eval/loops/vector_math.h"

namespace sardonyx::eval {

struct Relu {
    template <typename T>
    T operator()(T x) const {
        return x < 0 ? T(0) : x;
    }
};
struct LeakyRelu {
    float alpha;
    template <typename T>
    T operator()(T x) const {
        return x < 0 ? static_cast<T>(alpha) * x : x;
    }
};
struct Elu {
    float alpha;
    template <typename T>
    T operator()(T x) const {
        return x < 0 ? static_cast<T>(alpha) * vector_expm1(x) : x;
    }
};
struct HardSigmoid {
    float alpha;
    float beta;
    template <typename T>
    T operator()(T x) const {
        T y = static_cast<T>(alpha) * x + static_cast<T>(beta);
        return y < 0 ? T(0) : y > 1 ? T(1) : y;
    }
};
struct Sigmoid {
    template <typename T>
    T operator()(T x) const {
        return vector_sigmoid(x);
    }
};
struct Softplus {
    template <typename T>
    T operator()(T x) const {
        // log(1 + e^x) without overflow.
        return (x > 0 ? x : T(0)) + vector_log1p_unit(vector_exp(-std::fabs(x)));
    }
};
struct Softsign {
    template <typename T>
    T operator()(T x) const {
        return x / (T(1) + std::fabs(x));
    }
};
struct ThresholdedRelu {
    float alpha;
    template <typename T>
    T operator()(T x) const {
        return x > static_cast<T>(alpha) ? x : T(0);
    }
};

}  // namespace sardonyx::eval
