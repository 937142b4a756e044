#include "eval/loops/plane_windows.h"

#include <numeric>

#include "eval/loops/strided.h"

namespace sardonyx::eval {
namespace {

// The windows of axis d, without what is around them.
AxisWindows axis_windows(const WindowGeometry& g, size_t d) {
    AxisWindows axis;
    axis.size = g.in[d];
    axis.kernel = g.kernel[d];
    axis.stride = g.strides[d];
    axis.step = g.dilations[d];
    axis.begin = g.begin[d];
    axis.count = g.out[d];
    // Window w begins at w * stride - begin.
    int64_t before = (axis.begin + axis.stride - 1) / axis.stride;
    int64_t room = axis.size - g.extent(d) + axis.begin;
    int64_t fitting = room < 0 ? 0 : room / axis.stride + 1;
    axis.full_begin = std::min(before, axis.count);
    axis.full_end = std::clamp(fitting, axis.full_begin, axis.count);
    return axis;
}

}  // namespace

PlaneWindows::PlaneWindows(const WindowGeometry& geometry) : g_(geometry) {
    // Axes that become shorter are first: then nothing in between is larger than both ends.
    std::vector<size_t> order(g_.in.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
        return g_.out[a] * g_.in[b] < g_.out[b] * g_.in[a];
    });
    Dims dims = g_.in;
    for (size_t d : order) {
        AxisWindows axis = axis_windows(g_, d);
        axis.outer = product(Dims(dims.begin(), dims.begin() + static_cast<int64_t>(d)));
        axis.inner = product(Dims(dims.begin() + static_cast<int64_t>(d) + 1, dims.end()));
        dims[d] = g_.out[d];
        largest_ = std::max(largest_, product(dims));
        operations_ += product(dims) * std::min(g_.kernel[d], g_.in[d]);
        axes_.push_back(axis);
    }
}

std::vector<double> window_counts(const Workers& threads, const WindowGeometry& g,
                                  bool with_padding) {
    std::vector<double> counts{1};
    for (size_t d = 0; d < g.in.size(); ++d) {
        AxisWindows axis = axis_windows(g, d);
        std::vector<double> longer(counts.size() * static_cast<size_t>(axis.count));
        double* next = longer.data();
        for (double outer : counts) {
            bool goes_on = in_turns(threads, axis.count, kPolled, [&](int64_t begin, int64_t end) {
                for (int64_t w = begin; w < end; ++w) {
                    bool is_full = w >= axis.full_begin && w < axis.full_end;
                    int64_t own = is_full        ? axis.kernel
                                  : with_padding ? axis.elements_before(w, axis.size + g.end[d])
                                                 : axis.window(w).count;
                    *next++ = outer * static_cast<double>(own);
                }
            });
            if (!goes_on) {
                return std::vector<double>(static_cast<size_t>(g.out_count()));
            }
        }
        counts = std::move(longer);
    }
    return counts;
}

}  // namespace sardonyx::eval
