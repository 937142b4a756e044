// What attributes, methods and builtins of tensors mean in ONNX, over any emitter (see
// operators.h), and the NumPy methods that tensors do not have. Source: the Python array API
// standard.
#pragma once

#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "lowering/operators.h"

namespace sardonyx::lowering {

// round(x, -digits) of integers: to the nearest multiple of a power of ten, half to even.
template <typename E>
typename E::Value lower_integer_tens(E& e, typename E::Value x, int digits) {
    ElementType type = e.element(x);
    double tens = std::pow(10.0, digits);
    if (2 * tens >=
        std::ldexp(1.0, info(type).bits - (element_class(type) == ElementClass::kSigned ? 1 : 0))) {
        return e.fail("`round` of " + std::string(name(type)) + " to " + std::to_string(-digits) +
                          " digits, a multiple that the type cannot hold",
                      "cast it first");
    }
    auto rest = e.emit("Mod", {x, e.scalar_like(x, tens)});
    auto below = e.emit("Sub", {x, rest});
    auto half = e.scalar_like(x, tens / 2);
    auto is_odd = e.emit(
        "Greater", {e.emit("Mod", {below, e.scalar_like(x, 2 * tens)}), e.scalar_like(x, 0.0)});
    auto is_up = e.emit("Or", {e.emit("Greater", {rest, half}),
                               e.emit("And", {e.emit("Equal", {rest, half}), is_odd})});
    return e.emit("Where", {is_up, e.emit("Add", {below, e.scalar_like(x, tens)}), below});
}

// round(x, digits), as NumPy's: half to even, of floats by scaling.
template <typename E>
typename E::Value lower_round(E& e, typename E::Value x, int64_t digits) {
    if (is_integer(e.element(x)) && digits >= 0) {
        return x;
    }
    if (is_integer(e.element(x)) && digits >= -18) {
        return lower_integer_tens(e, x, static_cast<int>(-digits));
    }
    if (digits == 0) {
        return e.emit("Round", {x});
    }
    if (digits > 30 || digits < -30) {
        return e.fail("`round` to " + std::to_string(digits) + " digits", "use -30 to 30 digits");
    }
    auto scale = e.scalar_like(x, std::pow(10.0, std::abs(static_cast<double>(digits))));
    return digits > 0 ? e.emit("Div", {e.emit("Round", {e.emit("Mul", {x, scale})}), scale})
                      : e.emit("Mul", {e.emit("Round", {e.emit("Div", {x, scale})}), scale});
}

// x.mT: the last two axes in exchange.
template <typename E>
typename E::Value lower_matrix_transpose(E& e, typename E::Value x) {
    int rank = e.rank(x);
    if (rank < 2) {
        return e.fail(rank < 0 ? "`mT` of a tensor whose rank is not known"
                               : "`mT` of a tensor of rank " + std::to_string(rank),
                      "call `op.Transpose(x, perm=[...])`");
    }
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return e.emit("Transpose", {x}, {ir::make_attribute("perm", std::move(order))});
}

struct NumpyMethod {
    std::string_view name;
    std::string_view instead;
};

inline constexpr NumpyMethod kNumpyMethods[] = {
    {"all", "op.ReduceMin(op.Cast(x, to=INT32.dtype))"},
    {"any", "op.ReduceMax(op.Cast(x, to=INT32.dtype))"},
    {"argmax", "op.ArgMax(x, axis=0)"},
    {"argmin", "op.ArgMin(x, axis=0)"},
    {"clip", "op.Clip(x, low, high)"},
    {"copy", "op.Identity(x)"},
    {"cumsum", "op.CumSum(x, axis)"},
    {"dot", "x @ y"},
    {"expand", "op.Expand(x, shape)"},
    {"fill", "x[...] = value"},
    {"flatten", "op.Reshape(x, [-1])"},
    {"item", "float(x)"},
    {"max", "op.ReduceMax(x)"},
    {"mean", "op.ReduceMean(x)"},
    {"min", "op.ReduceMin(x)"},
    {"nonzero", "op.NonZero(x)"},
    {"permute", "op.Transpose(x, perm=[1, 0])"},
    {"prod", "op.ReduceProd(x)"},
    {"ravel", "op.Reshape(x, [-1])"},
    {"repeat", "op.Tile(x, repeats)"},
    {"reshape", "op.Reshape(x, shape)"},
    {"round", "op.Round(x)"},
    {"sort", "op.TopK(x, k)"},
    {"squeeze", "op.Squeeze(x, axes)"},
    {"sum", "op.ReduceSum(x)"},
    {"swapaxes", "op.Transpose(x, perm=[1, 0])"},
    {"take", "op.Gather(x, indices)"},
    {"transpose", "op.Transpose(x)"},
    {"unsqueeze", "op.Unsqueeze(x, axes)"},
    {"view", "op.Reshape(x, shape)"},
};

// The expression to write instead of x.name(...); "" for a name that NumPy does not have either.
inline std::string_view instead_of_method(std::string_view name) {
    for (const NumpyMethod& row : kNumpyMethods) {
        if (row.name == name) {
            return row.instead;
        }
    }
    return {};
}

}  // namespace sardonyx::lowering
