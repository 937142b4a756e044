#include "eval/loops/flat_windows.h"

#include "eval/loops/clones.h"
#include "eval/loops/strided.h"

namespace sardonyx::eval {
namespace {

template <typename S>
[[gnu::always_inline]] inline void copy_places(const S* in, int64_t stride, S* out, int64_t n) {
    if (stride == 1) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = in[i];
        }
    } else if (stride == 2) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = in[2 * i];
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = in[i * stride];
        }
    }
}

}  // namespace

SDX_CLONES void copy_strided(const float* in, int64_t stride, float* out, int64_t n) {
    copy_places(in, stride, out, n);
}
SDX_CLONES void copy_strided(const double* in, int64_t stride, double* out, int64_t n) {
    copy_places(in, stride, out, n);
}
SDX_CLONES void copy_strided(const uint32_t* in, int64_t stride, uint32_t* out, int64_t n) {
    copy_places(in, stride, out, n);
}
SDX_CLONES void copy_strided(const uint64_t* in, int64_t stride, uint64_t* out, int64_t n) {
    copy_places(in, stride, out, n);
}

FlatWindows::FlatWindows(const WindowGeometry& geometry, int64_t rows)
    : g_(geometry), windows_(geometry.out), phase_(geometry.in.size()), at_(geometry.in.size()) {
    size_t rank = g_.in.size();
    windows_[0] = rows;
    for (size_t d = 0; d < rank; ++d) {
        phases_.push_back(std::min(g_.strides[d], g_.extent(d)));
        sizes_.push_back(windows_[d] + (g_.extent(d) - 1) / g_.strides[d]);
    }
    Dims steps = row_major_strides(sizes_);
    int64_t phase_size = product(sizes_);
    plane_size_ = phase_size * product(phases_);
    run_size_ = 1;
    for (size_t d = 0; d < rank; ++d) {
        run_size_ += (windows_[d] - 1) * steps[d];
    }
    for (int64_t tap = 0; tap < g_.kernel_count(); ++tap) {
        int64_t rest = tap, offset = 0, phase = 0, phase_step = 1;
        for (size_t d = rank; d-- > 0;) {
            int64_t place = rest % g_.kernel[d] * g_.dilations[d];
            rest /= g_.kernel[d];
            offset += place / g_.strides[d] * steps[d];
            phase += place % g_.strides[d] * phase_step;
            phase_step *= phases_[d];
        }
        taps_.push_back(phase * phase_size + offset);
    }
}

bool FlatWindows::is_small(const WindowGeometry& g) {
    constexpr double kTimes = 4;
    constexpr double kSmall = 1 << 12;
    double size = 1;
    for (size_t d = 0; d < g.in.size(); ++d) {
        int64_t phases = std::min(g.strides[d], g.extent(d));
        int64_t places = g.out[d] + (g.extent(d) - 1) / g.strides[d];
        size *= static_cast<double>(phases) * static_cast<double>(places);
    }
    return !g.in.empty() && g.in_count() > 0 &&
           size <= kSmall + kTimes * static_cast<double>(g.in_count() + g.out_count());
}

}  // namespace sardonyx::eval
