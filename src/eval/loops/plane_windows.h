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
};

// How many elements inside the plane each window has, or with the padding.
std::vector<double> window_counts(const WindowGeometry& geometry, bool with_padding);

// Asks after so much work whether the run shall end.
class Turns {
  public:
    explicit Turns(const Workers& workers) : workers_(workers) {}
    bool end_after(int64_t operations) {
        done_ += operations;
        if (done_ < kPolled) {
            return false;
        }
        done_ = 0;
        return workers_.poll();
    }

  private:
    const Workers& workers_;
    int64_t done_ = 0;
};

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
// In parts between which it asks. True: the run shall end.
template <typename Fold, typename In, typename S>
[[gnu::always_inline]] inline bool fold_alike(Turns& turns, const In* in, const AxisWindows& axis,
                                              int64_t w, int64_t n, S* out) {
    constexpr int64_t kPart = 1 << 16;
    AxisWindows::Window window = axis.window(w);
    const In* from = in + window.first * axis.inner;
    int64_t step = axis.step * axis.inner;
    S* to = out + w * axis.inner;
    for (int64_t i = 0; i < n; i += kPart) {
        int64_t part = std::min(kPart, n - i);
        if (axis.stride == 1 || axis.inner > 1) {
            fold_run<Fold, 1>(from + i, 1, step, window.count, to + i, part);
        } else if (axis.stride == 2) {
            fold_run<Fold, 2>(from + 2 * i, 2, step, window.count, to + i, part);
        } else {
            fold_run<Fold, 0>(from + axis.stride * i, axis.stride, step, window.count, to + i,
                              part);
        }
        if (turns.end_after(part * window.count)) [[unlikely]] {
            return true;
        }
    }
    return false;
}

// Folds along one axis: [outer, size, inner] to [outer, windows, inner], of the type S.
template <typename Fold, typename In, typename S>
SDX_CLONES void fold_axis(const Workers& threads, const In* in, const AxisWindows& axis, S nothing,
                          S* out) {
    Turns turns(threads);
    int64_t full = axis.full_end - axis.full_begin;
    int64_t from = axis.size * axis.inner, to = axis.count * axis.inner;  // steps of `outer`
    // Rows behind each other are like one, but for the windows at their ends, which are written
    // again behind it.
    bool is_whole = full > 0 && axis.inner == 1 && axis.size == axis.stride * axis.count;
    // Full windows in runs of neighbours; the others, `edges` of them, one by one.
    int64_t run = is_whole                              ? (axis.outer - 1) * axis.count + full
                  : axis.inner == 1 || axis.stride == 1 ? full * axis.inner
                                                        : axis.inner;
    int64_t runs = full <= 0 ? 0 : run == axis.inner ? full : 1;
    int64_t edges = axis.count - full;
    // One place for all of them: the loops below it are long, and cloned for each type.
    for (int64_t o = 0; o < axis.outer; ++o) {
        for (int64_t part = is_whole && o > 0 ? runs : 0; part < runs + edges; ++part) {
            int64_t edge = part - runs;
            int64_t w = edge < 0                 ? axis.full_begin + part
                        : edge < axis.full_begin ? edge
                                                 : edge + full;
            if (edge >= 0 && axis.window(w).count <= 0) {
                std::fill_n(out + o * to + w * axis.inner, axis.inner, nothing);
            } else if (fold_alike<Fold>(turns, in + o * from, axis, w, edge < 0 ? run : axis.inner,
                                        out + o * to)) {
                return;
            }
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
    fold_axis<Fold>(threads, plane, axes_[0], nothing, target(0));
    for (size_t i = 1; i < axes_.size(); ++i) {
        fold_axis<Fold>(threads, static_cast<const S*>(target(i - 1)), axes_[i], nothing,
                        target(i));
    }
}

}  // namespace sardonyx::eval
