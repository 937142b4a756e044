// Rules of differentiation: elementwise operators, and those that hand a value on.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

// The gradient by x, where `slope` is dy/dx.
void chain(Backward& b, const Expr& slope) {
    b.add(0, b.g() * slope);
}

// A slope of `left` up to 0 and 1 after it.
void chain_from_zero(Backward& b, const Expr& left) {
    chain(b, where(b.x() > 0, 1, left));
}

double parameter(Backward& b, std::string_view name) {
    return b.context().float_attribute(name);
}

// Input 1 of an operator of two operands. Before version 7 it was broadcast from an axis on, on
// demand.
Expr second(Backward& b) {
    Expr x = b.x(1);
    const KernelContext& c = b.context();
    if (b.version() >= 7 || c.int_attribute("broadcast") == 0 || !c.has_attribute("axis")) {
        return x;
    }
    Dims dims = x.dims();
    int rank = b.x(0).rank();
    dims.resize(std::max<int64_t>(x.rank(), rank - b.axis("axis", rank)), 1);
    return reshape(x, dims);
}

// Adds to the gradient by input 1 what was found for second().
void add_second(Backward& b, const Expr& gradient) {
    if (b.needs(1)) {
        b.add(1, reshape(sum_to(gradient, second(b).dims()), b.x(1).dims()));
    }
}

}  // namespace

// --- One operand

void abs(Backward& b) {
    chain(b, apply("Sign", b.x()));
}
void acos(Backward& b) {
    chain(b, -1.0 / apply("Sqrt", 1 - b.x() * b.x()));
}
void acosh(Backward& b) {
    chain(b, 1 / apply("Sqrt", b.x() * b.x() - 1));
}
void asin(Backward& b) {
    chain(b, 1 / apply("Sqrt", 1 - b.x() * b.x()));
}
void asinh(Backward& b) {
    chain(b, 1 / apply("Sqrt", b.x() * b.x() + 1));
}
void atan(Backward& b) {
    chain(b, 1 / (b.x() * b.x() + 1));
}
void atanh(Backward& b) {
    chain(b, 1 / (1 - b.x() * b.x()));
}
void cos(Backward& b) {
    chain(b, -apply("Sin", b.x()));
}
void cosh(Backward& b) {
    chain(b, apply("Sinh", b.x()));
}
void erf(Backward& b) {
    chain(b, apply("Exp", -(b.x() * b.x())) * (2 * std::numbers::inv_sqrtpi));
}
void exp(Backward& b) {
    chain(b, b.y());
}
void log(Backward& b) {
    b.add(0, b.g() / b.x());
}
void neg(Backward& b) {
    b.add(0, -b.g());
}
void reciprocal(Backward& b) {
    chain(b, -(b.y() * b.y()));
}
void sigmoid(Backward& b) {
    chain(b, b.y() * (1 - b.y()));
}
void sin(Backward& b) {
    chain(b, apply("Cos", b.x()));
}
void sinh(Backward& b) {
    chain(b, apply("Cosh", b.x()));
}
void sqrt(Backward& b) {
    b.add(0, b.g() / (b.y() * 2));
}
void tan(Backward& b) {
    chain(b, b.y() * b.y() + 1);
}
void tanh(Backward& b) {
    chain(b, 1 - b.y() * b.y());
}

// --- Activations

// Where x is negative, the slopes of the exponential ones are made from y, not from exp(x), which
// overflows where it is not used.
void celu(Backward& b) {
    chain_from_zero(b, b.y() / parameter(b, "alpha") + 1);
}
void elu(Backward& b) {
    chain_from_zero(b, b.y() + parameter(b, "alpha"));
}
void selu(Backward& b) {
    double gamma = parameter(b, "gamma");
    chain(b, where(b.x() > 0, gamma, b.y() + gamma * parameter(b, "alpha")));
}
std::vector<Expr> gelu(Backward& b) {
    Expr x = b.x();
    if (b.context().string_attribute("approximate") == "tanh") {
        Expr inner = (x + x * x * x * 0.044715) * std::sqrt(2 * std::numbers::inv_pi);
        return {x * 0.5 * (apply("Tanh", inner) + 1)};
    }
    return {x * 0.5 * (apply("Erf", x / std::numbers::sqrt2) + 1)};
}
void hard_sigmoid(Backward& b) {
    double alpha = parameter(b, "alpha");
    Expr line = b.x() * alpha + parameter(b, "beta");
    chain(b, where(line > 0 && line < 1, alpha, zeros_like(b.x())));
}
void hard_swish(Backward& b) {
    Expr x = b.x();
    chain(b, where(x < -3, 0, where(x > 3, 1, x / 3 + 0.5)));
}
void leaky_relu(Backward& b) {
    chain_from_zero(b, b.algebra().scalar(b.x().type(), parameter(b, "alpha")));
}
std::vector<Expr> mish(Backward& b) {
    return {b.x() * apply("Tanh", apply("Softplus", b.x()))};
}
void relu(Backward& b) {
    b.add(0, where(b.x() > 0, b.g(), 0));
}
void shrink(Backward& b) {
    b.add(0, where(apply("Abs", b.x()) > parameter(b, "lambd"), b.g(), 0));
}
void softplus(Backward& b) {
    chain(b, apply("Sigmoid", b.x()));
}
void softsign(Backward& b) {
    Expr base = apply("Abs", b.x()) + 1;
    b.add(0, b.g() / (base * base));
}
std::vector<Expr> swish(Backward& b) {
    return {b.x() * apply("Sigmoid", b.x() * parameter(b, "alpha"))};
}
std::vector<Expr> swiglu(Backward& b) {
    return {b.x(0) * apply("Sigmoid", b.x(0) * parameter(b, "alpha")) * b.x(1)};
}
void thresholded_relu(Backward& b) {
    b.add(0, where(b.x() > parameter(b, "alpha"), b.g(), 0));
}

// --- Two operands and more

void add(Backward& b) {
    b.add(0, b.g());
    add_second(b, b.g());
    for (size_t i = 2; i < b.input_count(); ++i) {
        b.add(i, b.g());
    }
}

void sub(Backward& b) {
    b.add(0, b.g());
    add_second(b, -b.g());
}

void mul(Backward& b) {
    b.add(0, b.g() * second(b));
    add_second(b, b.g() * b.x(0));
}

void div(Backward& b) {
    b.add(0, b.g() / second(b));
    add_second(b, -b.g() * b.y() / second(b));
}

void pow(Backward& b) {
    Expr x = b.x(0);
    Expr exponent = cast(second(b), x.type());
    if (b.needs(0)) {
        Expr slope = exponent * b.algebra().call("Pow", {x, exponent - 1});
        b.add(0, b.g() * where(equals(exponent, 0), 0, slope));
    }
    if (b.needs(1)) {
        // At x = 0, y is 0 wherever there is a derivative.
        Expr is_zero = equals(x, 0);
        add_second(b, where(is_zero, 0, b.g() * b.y() * apply("Log", where(is_zero, 1, x))));
    }
}

// fmod(x, m) = x - trunc(x / m) * m.
void mod(Backward& b) {
    b.add(0, b.g());
    b.add(1, b.g() * (b.y() - b.x(0)) / b.x(1));
}

// Where several inputs are the greatest, each of them has its part.
void extremum(Backward& b) {
    Expr y = b.y();
    std::vector<Expr> chosen;
    Expr count = zeros_like(y);
    for (size_t i = 0; i < b.input_count(); ++i) {
        chosen.push_back(cast(equals(b.x(i), y), y.type()));
        count = count + chosen.back();
    }
    Expr part = b.g() / where(count > 0, count, 1);  // none: NaN
    for (size_t i = 0; i < b.input_count(); ++i) {
        b.add(i, part * chosen[i]);
    }
}

void mean_of(Backward& b) {
    Expr part = b.g() / static_cast<double>(b.input_count());
    for (size_t i = 0; i < b.input_count(); ++i) {
        b.add(i, part);
    }
}

void clip(Backward& b) {
    Expr x = b.x();
    Algebra& a = b.algebra();
    Expr low;
    Expr high;
    if (b.version() < 11) {
        low = b.context().has_attribute("min") ? a.scalar(x.type(), parameter(b, "min")) : low;
        high = b.context().has_attribute("max") ? a.scalar(x.type(), parameter(b, "max")) : high;
    } else {
        low = b.x(1);
        high = b.x(2);
    }
    // As min(max(x, low), high).
    Expr g = b.g();
    if (!high.is_none()) {
        Expr raised = low.is_none() ? x : a.call("Max", {x, low});
        b.add(2, where(raised > high, g, 0));
        g = where(raised > high, 0, g);
    }
    if (!low.is_none()) {
        b.add(1, where(x < low, g, 0));
        g = where(x < low, 0, g);
    }
    b.add(0, g);
}

void prelu(Backward& b) {
    Expr x = b.x();
    b.add(0, where(x > 0, b.g(), b.g() * second(b)));
    add_second(b, where(x > 0, 0, b.g() * x));
}

void where_else(Backward& b) {
    b.add(1, where(b.x(0), b.g(), 0));
    b.add(2, where(b.x(0), 0, b.g()));
}

// --- Handed on

void bit_cast(Backward& b) {
    if (b.x().type() != b.y().type()) {
        b.fail(fmt::format("the bits of {} as {} have no derivative: insert a Cast instead",
                           name(b.x().type()), name(b.y().type())));
        return;
    }
    b.add(0, b.g());
}

void same(Backward& b) {
    b.add(0, b.g());
}

void dropout(Backward& b) {
    const KernelContext& c = b.context();
    Result<int64_t> mode = int64_t{b.version() < 7 && c.int_attribute("is_test") == 0};
    Result<double> ratio = double{c.float_attribute("ratio", 0.5F)};
    if (b.version() >= 12) {
        mode = b.has_x(2) ? c.int_scalar(2) : mode;
        ratio = b.has_x(1) ? c.real_scalar(1) : ratio;
    }
    if (!mode.ok() || !ratio.ok() || *mode == 0 || *ratio == 0) {
        b.add(0, b.g());
        return;
    }
    b.add(0, where(cast(b.y(1), ElementType::kBool), b.g() / (1 - *ratio), 0));
}

}  // namespace sardonyx::eval::derivatives
