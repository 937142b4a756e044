// The elementwise drivers. A kernel is a functor: `op(x)` or `op(x, y)` on the compute type. The
// loops over contiguous and strided elements are templates; everything around them (broadcasting,
// allocation, reuse of a dying input) is one function that calls a loop through a pointer.
#pragma once

#include <cstdint>

#include "eval/loops/clones.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// An output is one of the inputs or apart from them, so element i depends on element i only.
#if defined(__clang__)
#define SDX_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SDX_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

using UnaryLoop = void (*)(const void* in, void* out, int64_t n, const void* op);
// False: an operand is not in the operator's domain (integer division by zero).
using BinaryLoop = bool (*)(const void* a, int64_t stride_a, const void* b, int64_t stride_b,
                            void* out, int64_t n, const void* op);

template <typename Op, typename T, typename R>
SDX_CLONES void unary_loop(const void* in, void* out, int64_t n, const void* op_data) {
    const Op op = *static_cast<const Op*>(op_data);
    const T* a = static_cast<const T*>(in);
    R* r = static_cast<R*>(out);
    SDX_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) {
        r[i] = static_cast<R>(op(static_cast<Compute<T>>(a[i])));
    }
}

template <typename Op>
concept HasDomain = requires(const Op op) { op.admits(1, 1); };

template <typename Op, typename T, typename U, typename R>
SDX_CLONES bool binary_loop(const void* left, int64_t stride_a, const void* right, int64_t stride_b,
                            void* out, int64_t n, const void* op_data) {
    const Op op = *static_cast<const Op*>(op_data);
    const T* a = static_cast<const T*>(left);
    const U* b = static_cast<const U*>(right);
    R* r = static_cast<R*>(out);
    auto at = [&](const T& x, const U& y) {
        if constexpr (std::is_same_v<T, std::string>) {
            return static_cast<R>(op(x, y));
        } else {
            return static_cast<R>(op(static_cast<Compute<T>>(x), static_cast<Compute<U>>(y)));
        }
    };
    if constexpr (HasDomain<Op> && std::is_integral_v<T>) {
        for (int64_t i = 0; i < n; ++i) {
            if (!op.admits(a[i * stride_a], b[i * stride_b])) {
                return false;
            }
        }
    }
    if (stride_a == 1 && stride_b == 1) {
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            r[i] = at(a[i], b[i]);
        }
    } else if (stride_a == 1 && stride_b == 0) {
        const U y = *b;
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            r[i] = at(a[i], y);
        }
    } else if (stride_a == 0 && stride_b == 1) {
        const T x = *a;
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            r[i] = at(x, b[i]);
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            r[i] = at(a[i * stride_a], b[i * stride_b]);
        }
    }
    return true;
}

// Runs a loop over input 0 into output 0.
Status run_unary(KernelContext& c, UnaryLoop loop, ElementType result, const void* op);

// An operand pair and what comes out; strings have the width of their object.
struct BinaryCall {
    BinaryLoop loop = nullptr;
    const void* op = nullptr;
    ElementType result = ElementType::kUndefined;
};
Result<Tensor> apply_binary(KernelContext& c, const Tensor& a, const Tensor& b,
                            const BinaryCall& call);
// Inputs 0 and 1 into output 0, with the `axis` and `broadcast` attributes of versions before 7.
Status run_binary(KernelContext& c, const BinaryCall& call);

// A unary operator whose result has the type of its input.
template <typename List, typename Op>
Status unary(KernelContext& c, List list, const Op& op) {
    UnaryLoop loop =
        pick(list, c.type(0), []<typename T>() -> UnaryLoop { return &unary_loop<Op, T, T>; });
    return run_unary(c, loop, c.type(0), &op);
}

template <typename List, typename Op>
Status unary_to_bool(KernelContext& c, List list, const Op& op) {
    UnaryLoop loop =
        pick(list, c.type(0), []<typename T>() -> UnaryLoop { return &unary_loop<Op, T, bool>; });
    return run_unary(c, loop, ElementType::kBool, &op);
}

template <typename List, typename Op>
BinaryCall binary_call(List list, ElementType type, const Op& op) {
    BinaryLoop loop =
        pick(list, type, []<typename T>() -> BinaryLoop { return &binary_loop<Op, T, T, T>; });
    return {loop, &op, type};
}

template <typename List, typename Op>
Status binary(KernelContext& c, List list, const Op& op) {
    return run_binary(c, binary_call(list, c.type(0), op));
}

template <typename List, typename Op>
Status binary_to_bool(KernelContext& c, List list, const Op& op) {
    BinaryLoop loop = pick(list, c.type(0),
                           []<typename T>() -> BinaryLoop { return &binary_loop<Op, T, T, bool>; });
    return run_binary(c, {loop, &op, ElementType::kBool});
}

}  // namespace sardonyx::eval
