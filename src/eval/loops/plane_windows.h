// Folds of all windows of a plane, such as their sums or maxima, one axis after the other: a window
// of h x w elements takes h + w steps, and all of them are along runs of neighbours.
//
// The terms of a window are folded in an order that follows from the geometry alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "eval/loops/clones.h"
#include "eval/loops/window.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval {

// The folds of two numbers.
struct SumOf {
    template <typename S>
    [[gnu::always_inline]] static S fold(S a, S b) {
        return a + b;
    }
};
// NaN is the greatest.
struct GreatestOf {
    template <typename S>
    [[gnu::always_inline]] static S fold(S a, S b) {
        S greater = b > a ? b : a;  // without a branch, which would often be predicted wrong
        return b != b ? b : greater;
    }
};

// The windows along one axis, of a plane seen as [outer, size, inner].
struct AxisWindows {
    int64_t outer = 1;
    int64_t size = 1;
    int64_t inner = 1;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t step = 1;   // between the elements of a window
    int64_t begin = 0;  // padding
    int64_t count = 1;
    // The windows [full_begin, full_end) have all their elements inside.
    int64_t full_begin = 0;
    int64_t full_end = 0;

    // How many elements of window w, padding included, are before the place `end`.
    int64_t elements_before(int64_t w, int64_t end) const {
        int64_t room = end - (w * stride - begin);
        int64_t elements = room <= 0 ? 0 : (room - 1) / step + 1;
        return elements < kernel ? elements : kernel;
    }
    // The elements of window w that are inside: how many, and the place of the first.
    struct Window {
        int64_t count;
        int64_t first;
    };
    Window window(int64_t w) const {
        int64_t outside = elements_before(w, 0);
        return {elements_before(w, size) - outside, w * stride - begin + outside * step};
    }
    // The windows [first, last) alone, of some of the planes that `outer` counts.
    AxisWindows part(int64_t first, int64_t last, int64_t planes) const {
        AxisWindows some = *this;
        some.outer = planes;
        some.begin = begin - first * stride;
        some.count = last - first;
        some.full_begin = std::clamp<int64_t>(full_begin - first, 0, some.count);
        some.full_end = std::clamp<int64_t>(full_end - first, some.full_begin, some.count);
        return some;
    }
};

// How many elements inside the plane each window has, or with the padding; anything when the run
// shall end.
std::vector<double> window_counts(const Workers& threads, const WindowGeometry& geometry,
                                  bool with_padding);

// The axes of a geometry whose output has windows.
class PlaneWindows {
  public:
    explicit PlaneWindows(const WindowGeometry& geometry);

    // Elements that `scratch` has below.
    int64_t scratch_size() const {
        return std::clamp<int64_t>(static_cast<int64_t>(axes_.size()) - 1, 0, 2) * largest_;
    }
    // Additions, or the like, for one plane.
    int64_t operations() const { return operations_; }

    // out[i] = the fold of the elements of window i, each as S first; `nothing` for a window
    // without any. On one thread; when the run shall end, some are left out.
    template <typename Fold, typename In, typename S>
    void fold(const Workers& threads, const In* plane, S nothing, S* scratch, S* out) const;

  private:
    const WindowGeometry& g_;
    std::vector<AxisWindows> axes_;  // in the order of their work
    int64_t largest_ = 0;
    int64_t operations_ = 0;
};

// --- The loops -----------------------------------------------------------------------------------

// out[i] = the fold of in[i * stride + t * step] over t in [0, count), count >= 1. Two or three of
// them at a time, so that the results are read and written less often. `kStride` is the stride, or
// 0 for any.
template <typename Fold, int kStride, typename In, typename S>
[[gnu::always_inline]] inline void fold_run(const In* in, int64_t any_stride, int64_t step,
                                            int64_t count, S* __restrict out, int64_t n) {
    const int64_t stride = kStride > 0 ? kStride : any_stride;
    if (count == 1) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = S(in[i * stride]);
        }
        return;
    }
    int64_t t = 2 + count % 2;
    const In *second = in + step, *third = second + step;
    if (t == 2) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = Fold::fold(S(in[i * stride]), S(second[i * stride]));
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = Fold::fold(Fold::fold(S(in[i * stride]), S(second[i * stride])),
                                S(third[i * stride]));
        }
    }
    for (; t < count; t += 2) {
        const In *next = in + t * step, *after = next + step;
        for (int64_t i = 0; i < n; ++i) {
            out[i] = Fold::fold(Fold::fold(out[i], S(next[i * stride])), S(after[i * stride]));
        }
    }
}

// `n` results in a row, from the window w on, which has elements. All of the windows have as many.
template <typename Fold, typename In, typename S>
[[gnu::always_inline]] inline void fold_alike(const In* in, const AxisWindows& axis, int64_t w,
                                              int64_t n, S* out) {
    AxisWindows::Window window = axis.window(w);
    const In* from = in + window.first * axis.inner;
    int64_t step = axis.step * axis.inner;
    S* to = out + w * axis.inner;
    if (axis.stride == 1 || axis.inner > 1) {
        fold_run<Fold, 1>(from, 1, step, window.count, to, n);
    } else if (axis.stride == 2) {
        fold_run<Fold, 2>(from, 2, step, window.count, to, n);
    } else {
        fold_run<Fold, 0>(from, axis.stride, step, window.count, to, n);
    }
}

// Folds along one axis: [outer, size, inner] to [outer, windows, inner], of the type S.
template <typename Fold, typename In, typename S>
SDX_CLONES void fold_axis(const In* in, const AxisWindows& axis, S nothing, S* out) {
    int64_t full = axis.full_end - axis.full_begin;
    int64_t from = axis.size * axis.inner, to = axis.count * axis.inner;  // steps of `outer`
    if (full > 0 && axis.inner == 1 && axis.size == axis.stride * axis.count) {
        // Rows behind each other are like one, but for the windows at their ends, which are written
        // again below.
        fold_alike<Fold>(in, axis, axis.full_begin, (axis.outer - 1) * axis.count + full, out);
    } else if (full > 0 && (axis.inner == 1 || axis.stride == 1)) {
        for (int64_t o = 0; o < axis.outer; ++o) {
            fold_alike<Fold>(in + o * from, axis, axis.full_begin, full * axis.inner, out + o * to);
        }
    } else {
        for (int64_t o = 0; o < axis.outer; ++o) {
            for (int64_t w = axis.full_begin; w < axis.full_end; ++w) {
                fold_alike<Fold>(in + o * from, axis, w, axis.inner, out + o * to);
            }
        }
    }
    for (int64_t part = 0; part < axis.count - full; ++part) {
        int64_t w = part < axis.full_begin ? part : part + full;
        bool is_empty = axis.window(w).count <= 0;
        for (int64_t o = 0; o < axis.outer; ++o) {
            if (is_empty) {
                std::fill_n(out + o * to + w * axis.inner, axis.inner, nothing);
            } else {
                fold_alike<Fold>(in + o * from, axis, w, axis.inner, out + o * to);
            }
        }
    }
}

// The same in parts between which it asks whether the run shall end: some planes, or some windows
// of one. What takes little time is one part.
template <typename Fold, typename In, typename S>
void fold_in_parts(const Workers& threads, const In* in, const AxisWindows& axis, S nothing,
                   S* out) {
    constexpr int64_t kPart = 1 << 22;  // additions, or the like: some milliseconds
    int64_t of_window = std::max<int64_t>(1, axis.inner * std::min(axis.kernel, axis.size));
    int64_t of_plane = std::max<int64_t>(1, axis.count) * of_window;
    if (axis.outer * of_plane <= kPart) {
        fold_axis<Fold>(in, axis, nothing, out);
        return;
    }
    int64_t planes = std::max<int64_t>(1, kPart / of_plane);
    int64_t windows =
        planes > 1 ? axis.count
                   : std::clamp<int64_t>(kPart / of_window, 1, std::max<int64_t>(1, axis.count));
    for (int64_t o = 0; o < axis.outer; o += planes) {
        for (int64_t w = 0; w < axis.count; w += windows) {
            if (threads.poll()) {
                return;
            }
            fold_axis<Fold>(
                in + o * axis.size * axis.inner,
                axis.part(w, std::min(w + windows, axis.count), std::min(planes, axis.outer - o)),
                nothing, out + (o * axis.count + w) * axis.inner);
        }
    }
}

template <typename Fold, typename In, typename S>
void PlaneWindows::fold(const Workers& threads, const In* plane, S nothing, S* scratch,
                        S* out) const {
    if (g_.in_count() == 0) {
        std::fill_n(out, g_.out_count(), nothing);  // windows of padding alone
        return;
    }
    if (axes_.empty()) {
        *out = static_cast<S>(*plane);  // one window, one element
        return;
    }
    auto target = [&](size_t i) {
        return i + 1 == axes_.size() ? out : scratch + i % 2 * static_cast<size_t>(largest_);
    };
    fold_in_parts<Fold>(threads, plane, axes_[0], nothing, target(0));
    for (size_t i = 1; i < axes_.size(); ++i) {
        fold_in_parts<Fold>(threads, static_cast<const S*>(target(i - 1)), axes_[i], nothing,
                            target(i));
    }
}

}  // namespace sardonyx::eval
