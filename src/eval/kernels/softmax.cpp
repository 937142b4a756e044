// Operators that go along the lines of one axis: Softmax and its kin, LpNormalization, LRN.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "eval/kernels/cast.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/functors.h"
#include "eval/loops/reduction.h"
#include "eval/loops/scratch.h"
#include "eval/loops/softmax.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// --- Along one axis ------------------------------------------------------------------------------

// Before version 13 the input is a matrix of rows from `axis` on; since then it is one axis.
Result<AxisView> softmax_view(KernelContext& c) {
    int64_t axis = c.int_attribute("axis");
    int rank = c.rank(0);
    if (c.version() < 13) {
        // Version 1 coerces to two dimensions as Flatten does, and may leave the second with one.
        int64_t most = c.version() < 11 || rank == 0 ? rank : rank - 1;
        if (axis < -rank || axis > most) {
            return Error{fmt::format("axis {} is out of range for rank {}", axis, rank)};
        }
        int first = static_cast<int>(axis < 0 ? axis + rank : axis);
        return axis_view(c.dims(0), first, rank);
    }
    SDX_ASSIGN(int at, c.axis(axis, rank));
    return axis_view(c.dims(0), at);
}

// Whether lines of float have loops of their own: Line::kRows(threads, in, n, count, out) and
// Line::kColumns(threads, in, n, stride, count, out).
template <typename Line>
concept HasRows = requires { Line::kRows; };

// Where line `i` starts.
int64_t start_of_line(const AxisView& view, int64_t i) {
    return i / view.inner * view.n * view.inner + i % view.inner;
}

// Calls body(k) for [0, n), and asks in between whether the run shall end; then some are left out.
template <typename Body>
void along_line(const Workers& threads, int64_t n, const Body& body) {
    in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            body(k);
        }
    });
}

// Lines [begin, end) by these loops, those of 16-bit floats as floats, which are rounded once.
// False: there is none for them.
template <typename Line, typename T>
bool run_float_rows(const Workers& threads, const T* in, const AxisView& view, int64_t begin,
                    int64_t end, T* out) {
    if constexpr (HasRows<Line> && std::is_same_v<T, float>) {
        if (view.inner == 1) {
            Line::kRows(threads, in + begin * view.n, view.n, end - begin, out + begin * view.n);
            return true;
        }
        for_each_columns(view, begin, end, [&](int64_t, int64_t start, int64_t count) {
            Line::kColumns(threads, in + start, view.n, view.inner, count, out + start);
        });
        return true;
    } else if constexpr (HasRows<Line> && std::is_same_v<Compute<T>, float>) {
        Scratch<float> row(view.n), result(view.n);
        for (int64_t i = begin; i < end; ++i) {
            int64_t start = start_of_line(view, i);
            along_line(threads, view.n, [&](int64_t k) {
                row.data()[k] = static_cast<float>(in[start + k * view.inner]);
            });
            Line::kRows(threads, row.data(), view.n, 1, result.data());
            along_line(threads, view.n, [&](int64_t k) {
                out[start + k * view.inner] = static_cast<T>(result.data()[k]);
            });
        }
        return true;
    }
    return false;
}

// Calls line(in, out, n, stride) for each run along the axis; `line` is templated on the element.
template <typename Line>
Status for_each_line(KernelContext& c, const AxisView& view, Line line) {
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), c.dims(0)));
    if (out->count() == 0) {
        return {};
    }
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* target = out->mutable_elements<T>().data();
        parallel_for(c.threads(), view.outer * view.inner, items_per_task(8 * view.n),
                     [&](int64_t begin, int64_t end) {
                         if (run_float_rows<Line>(c.threads(), in, view, begin, end, target)) {
                             return;
                         }
                         for (int64_t i = begin; i < end; ++i) {
                             int64_t start = start_of_line(view, i);
                             line(c.threads(), in + start, target + start, view.n, view.inner);
                         }
                     });
        return {};
    });
}

template <typename T>
Compute<T> line_maximum(const Workers& threads, const T* in, int64_t n, int64_t stride) {
    using V = Compute<T>;
    V greatest = static_cast<V>(in[0]);
    along_line(threads, n,
               [&](int64_t k) { greatest = std::max(greatest, static_cast<V>(in[k * stride])); });
    return greatest;
}

// The lines of double.
struct SoftmaxLine {
    static constexpr auto kRows = &softmax_rows;
    static constexpr auto kColumns = &softmax_columns;
    template <typename T>
    void operator()(const Workers& threads, const T* in, T* out, int64_t n, int64_t stride) const {
        using V = Compute<T>;
        V greatest = line_maximum(threads, in, n, stride);
        double sum = 0;
        along_line(threads, n, [&](int64_t k) {
            out[k * stride] = static_cast<T>(std::exp(static_cast<V>(in[k * stride]) - greatest));
            sum += static_cast<V>(out[k * stride]);
        });
        V total = static_cast<V>(sum);
        along_line(threads, n, [&](int64_t k) {
            out[k * stride] = static_cast<T>(static_cast<V>(out[k * stride]) / total);
        });
    }
};

struct LogSoftmaxLine {
    static constexpr auto kRows = &log_softmax_rows;
    static constexpr auto kColumns = &log_softmax_columns;
    template <typename T>
    void operator()(const Workers& threads, const T* in, T* out, int64_t n, int64_t stride) const {
        using V = Compute<T>;
        V greatest = line_maximum(threads, in, n, stride);
        double sum = 0;
        along_line(threads, n,
                   [&](int64_t k) { sum += std::exp(static_cast<V>(in[k * stride]) - greatest); });
        V shift = static_cast<V>(std::log(sum));
        along_line(threads, n, [&](int64_t k) {
            out[k * stride] = static_cast<T>(static_cast<V>(in[k * stride]) - greatest - shift);
        });
    }
};

struct HardmaxLine {
    template <typename T>
    void operator()(const Workers& threads, const T* in, T* out, int64_t n, int64_t stride) const {
        int64_t best = 0;
        along_line(threads, n, [&](int64_t k) {
            auto x = static_cast<Compute<T>>(in[k * stride]);
            auto y = static_cast<Compute<T>>(in[best * stride]);
            best = x > y || (x != x && y == y) ? k : best;  // NaN is the greatest, as for ArgMax
            out[k * stride] = static_cast<T>(0.0f);
        });
        out[best * stride] = static_cast<T>(1.0f);
    }
};

struct LpLine {
    int64_t p;
    template <typename T>
    void operator()(const Workers& threads, const T* in, T* out, int64_t n, int64_t stride) const {
        double sum = 0;
        along_line(threads, n, [&](int64_t k) {
            double x = static_cast<double>(static_cast<Compute<T>>(in[k * stride]));
            sum += p == 1 ? std::fabs(x) : x * x;
        });
        double norm = p == 1 ? sum : std::sqrt(sum);
        along_line(threads, n, [&](int64_t k) {
            double x = static_cast<double>(static_cast<Compute<T>>(in[k * stride]));
            // A line of zeros stays as it is.
            out[k * stride] = static_cast<T>(norm == 0 ? 0 : x / norm);
        });
    }
};

}  // namespace

Status softmax(KernelContext& c) {
    SDX_ASSIGN(AxisView view, softmax_view(c));
    return for_each_line(c, view, SoftmaxLine{});
}

Status log_softmax(KernelContext& c) {
    SDX_ASSIGN(AxisView view, softmax_view(c));
    return for_each_line(c, view, LogSoftmaxLine{});
}

Status hardmax(KernelContext& c) {
    SDX_ASSIGN(AxisView view, softmax_view(c));
    return for_each_line(c, view, HardmaxLine{});
}

Status lp_normalization(KernelContext& c) {
    int64_t p = c.int_attribute("p");
    if (p != 1 && p != 2) {
        return Error{fmt::format("`p` is {}, but must be 1 or 2", p)};
    }
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), c.rank(0)));
    return for_each_line(c, axis_view(c.dims(0), axis), LpLine{p});
}

Status lrn(KernelContext& c) {
    int64_t size = c.int_attribute("size");
    if (size < 1 || c.rank(0) < 2) {
        return Error{fmt::format("size {} and rank {} must be at least 1 and 2", size, c.rank(0))};
    }
    double alpha = c.float_attribute("alpha");
    double beta = c.float_attribute("beta");
    double bias = c.float_attribute("bias");
    AxisView view = axis_view(c.dims(0), 1);
    auto line = [&]<typename T>(const Workers&, const T* in, T* out, int64_t n, int64_t stride) {
        for (int64_t k = 0; k < n; ++k) {
            int64_t first = std::max<int64_t>(0, k - (size - 1) / 2);
            int64_t last = std::min<int64_t>(n - 1, k + size / 2);
            double sum = 0;
            for (int64_t i = first; i <= last; ++i) {
                double x = static_cast<double>(static_cast<Compute<T>>(in[i * stride]));
                sum += x * x;
            }
            double x = static_cast<double>(static_cast<Compute<T>>(in[k * stride]));
            out[k * stride] =
                static_cast<T>(x / std::pow(bias + alpha / static_cast<double>(size) * sum, beta));
        }
    };
    return for_each_line(c, view, line);
}

}  // namespace sardonyx::eval::kernels
