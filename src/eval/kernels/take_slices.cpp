// Slices of a tensor, by their places, one behind the other.

#include "eval/kernels/take_slices.h"

#include <algorithm>

#include "eval/kernels/cast.h"
#include "eval/loops/clones.h"
#include "eval/loops/scratch.h"
#include "eval/loops/sorting.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

template <typename T>
SDX_CLONES void copy_single(const T* __restrict in, const int64_t* __restrict at, int64_t n,
                            int64_t step, T* __restrict out) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = in[at[i] * step];
    }
}

}  // namespace

void take_runs(const Workers& threads, const Tensor& data, const RunPlaces& places, Tensor* out) {
    if (out->count() == 0) {
        return;
    }
    auto n = static_cast<int64_t>(places.at.size());
    Status status = visit_width(data.element_type(), [&]<typename T>() -> Status {
        const T* in = data.elements<T>().data();
        T* target = out->mutable_elements<T>().data();
        int64_t runs = std::max<int64_t>(1, kTaskMoves / places.run);
        parallel_for(threads, places.outer * n, runs, [&](int64_t begin, int64_t end) {
            while (begin < end) {
                int64_t first = begin % n;
                int64_t count = std::min(n - first, end - begin);
                const T* from = in + begin / n * places.outer_step;
                const int64_t* at = places.at.data() + first;
                T* to = target + begin * places.run;
                if (places.run == 1) {
                    copy_single(from, at, count, places.step, to);
                }
                for (int64_t i = 0; i < count && places.run > 1; ++i) {
                    const T* start = from + at[i] * places.step;
                    std::copy(start, start + places.run, to + i * places.run);
                }
                begin += count;
            }
        });
        return {};
    });
    SDX_CHECK(status.ok());
}

void take_slices(const Workers& threads, const Tensor& data, const AxisView& view,
                 std::span<const int64_t> indices, Tensor* out) {
    take_runs(threads, data, {view.outer, view.n * view.inner, indices, view.inner, view.inner},
              out);
}

}  // namespace sardonyx::eval::kernels
