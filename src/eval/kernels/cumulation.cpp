// CumSum, CumProd.
#include <algorithm>

#include "eval/loops/clones.h"
#include "eval/loops/reduction.h"
#include "eval/loops/sorting.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// Lines [begin, end) along the middle axis of in[outer, n, inner].
template <typename Combine, typename T>
SDX_CLONES void cumulate_lines(const T* in, const AxisView& view, bool is_exclusive,
                               bool is_reversed, const Workers& threads, T* out, int64_t begin,
                               int64_t end) {
    using W = std::conditional_t<std::is_floating_point_v<Compute<T>>, Compute<T>, Wrapping<T>>;
    if (view.inner == 1) {
        // Many lines may be short: nothing but the sum is kept for one.
        for (int64_t line = begin; line < end; ++line) {
            const T* from = in + line * view.n;
            T* to = out + line * view.n;
            W total = static_cast<W>(Combine::kNeutral);
            for (int64_t first = 0; first < view.n; first += kPolled) {
                if (first > 0 && threads.poll()) {
                    return;
                }
                int64_t last = std::min(view.n, first + kPolled);
                for (int64_t step = first; step < last; ++step) {
                    int64_t at = is_reversed ? view.n - 1 - step : step;
                    W next =
                        Combine::apply(total, static_cast<W>(static_cast<Compute<T>>(from[at])));
                    to[at] = static_cast<T>(is_exclusive ? total : next);
                    total = next;
                }
            }
        }
        return;
    }
    for_each_columns(view, begin, end, [&](int64_t, int64_t start, int64_t count) {
        W totals[kColumnsAtOnce];
        std::fill(totals, totals + count, static_cast<W>(Combine::kNeutral));
        int64_t steps = std::max<int64_t>(1, kPolled / count);
        for (int64_t first = 0; first < view.n; first += steps) {
            if (first > 0 && threads.poll()) {
                return;
            }
            int64_t last = std::min(view.n, first + steps);
            for (int64_t step = first; step < last; ++step) {
                int64_t row = start + (is_reversed ? view.n - 1 - step : step) * view.inner;
                for (int64_t j = 0; j < count; ++j) {
                    W next = Combine::apply(totals[j],
                                            static_cast<W>(static_cast<Compute<T>>(in[row + j])));
                    out[row + j] = static_cast<T>(is_exclusive ? totals[j] : next);
                    totals[j] = next;
                }
            }
        }
    });
}

struct Summing {
    static constexpr int kNeutral = 0;
    template <typename W>
    static W apply(W a, W b) {
        return a + b;
    }
};
struct Multiplying {
    static constexpr int kNeutral = 1;
    template <typename W>
    static W apply(W a, W b) {
        return a * b;
    }
};

template <typename Combine>
Status cumulate(KernelContext& c) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(int64_t given, c.int_scalar(1));
    SDX_ASSIGN(int axis, c.axis(given, source.rank()));
    bool is_exclusive = c.int_attribute("exclusive") != 0;
    bool is_reversed = c.int_attribute("reverse") != 0;
    AxisView view = axis_view(source.dims(), axis);
    SDX_ASSIGN(Tensor * out, c.output(0, source.element_type(), source.dims()));
    if (source.count() == 0) {
        return {};
    }
    return visit(Numbers{}, source.element_type(), [&]<typename T>() -> Status {
        const T* in = source.elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        parallel_for(c.threads(), view.outer * view.inner, items_per_task(view.n),
                     [&](int64_t begin, int64_t end) {
                         cumulate_lines<Combine>(in, view, is_exclusive, is_reversed, c.threads(),
                                                 result, begin, end);
                     });
        return {};
    });
}

}  // namespace

Status cum_sum(KernelContext& c) {
    return cumulate<Summing>(c);
}
Status cum_prod(KernelContext& c) {
    return cumulate<Multiplying>(c);
}

}  // namespace sardonyx::eval::kernels
