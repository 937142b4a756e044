// Windows laid out so that each of their taps is one run of elements: the planes are copied with
// their padding, and places that are a stride apart stand beside each other. Then element i of the
// run of any tap belongs to window i, and loops along windows need neither bounds nor strides.
//
// Windows lie as in the output, but rows may be longer than the output's: what is computed for the
// places between is thrown away.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "eval/loops/window.h"

namespace sardonyx::eval {

// out[i] = in[i * stride]
void copy_strided(const float* in, int64_t stride, float* out, int64_t n);
void copy_strided(const double* in, int64_t stride, double* out, int64_t n);
void copy_strided(const uint32_t* in, int64_t stride, uint32_t* out, int64_t n);
void copy_strided(const uint64_t* in, int64_t stride, uint64_t* out, int64_t n);

class FlatWindows {
  public:
    // At least one spatial axis. `rows`: of windows along the first axis, from any place on.
    FlatWindows(const WindowGeometry& geometry, int64_t rows);
    // Whether planes have axes and elements, and take not many times the room that they have.
    static bool is_small(const WindowGeometry& geometry);
    int64_t rows() const { return windows_.front(); }

    // Elements of a plane that is laid out; loops may read `kBeyond` more behind the last plane.
    static constexpr int64_t kBeyond = 128;
    int64_t plane_size() const { return plane_size_; }
    // Where the run of each tap begins in a plane.
    const std::vector<int64_t>& taps() const { return taps_; }
    // How long the runs are.
    int64_t run_size() const { return run_size_; }

    // Lays out the plane `in` for the windows of the rows [first, first + rows) of the output.
    template <typename S>
    void lay_out(const S* in, int64_t first, S outside, S* plane);
    // The results of those windows, without what lies between: rows * windows of a row elements.
    template <typename S>
    void take_results(const S* run, S* out);

  private:
    // Calls body() with the indices `at`, of the first axes of `sizes`, in row-major order.
    template <typename Body>
    static void for_each_index(const Dims& sizes, size_t axes, Dims& at, const Body& body);

    const WindowGeometry& g_;
    Dims phases_;   // along each axis: the places of a stride that taps see
    Dims sizes_;    // of one phase
    Dims windows_;  // of the rows that are laid out
    int64_t plane_size_ = 0;
    int64_t run_size_ = 0;
    std::vector<int64_t> taps_;
    Dims phase_, at_;  // where a loop is
};

template <typename Body>
void FlatWindows::for_each_index(const Dims& sizes, size_t axes, Dims& at, const Body& body) {
    std::fill(at.begin(), at.end(), 0);
    int64_t count = 1;
    for (size_t d = 0; d < axes; ++d) {
        count *= sizes[d];
    }
    for (int64_t i = 0; i < count; ++i) {
        body();
        for (size_t d = axes; d-- > 0 && ++at[d] == sizes[d];) {
            at[d] = 0;
        }
    }
}

template <typename S>
void FlatWindows::lay_out(const S* in, int64_t first, S outside, S* plane) {
    size_t last = sizes_.size() - 1;
    int64_t stride = g_.strides[last], size = sizes_[last];
    const Dims &phase = phase_, &at = at_;
    for_each_index(phases_, last + 1, phase_, [&] {
        // Place j of a row is element j * stride - shift.
        int64_t shift = g_.begin[last] - phase[last] - (last == 0 ? first * stride : 0);
        auto ceiling = [&](int64_t x) { return x <= 0 ? 0 : (x - 1) / stride + 1; };
        int64_t from = std::min(ceiling(shift), size);
        int64_t to = std::clamp(ceiling(g_.in[last] + shift), from, size);
        for_each_index(sizes_, last, at_, [&] {
            int64_t row = 0;
            bool inside = true;
            for (size_t d = 0; d < last; ++d) {
                int64_t place = at[d] + (d == 0 ? first : 0);
                int64_t index = place * g_.strides[d] + phase[d] - g_.begin[d];
                inside = inside && index >= 0 && index < g_.in[d];
                row = inside ? row * g_.in[d] + index : 0;
            }
            if (inside) {
                std::fill_n(plane, from, outside);
                copy_strided(in + row * g_.in[last] + from * stride - shift, stride, plane + from,
                             to - from);
                std::fill_n(plane + to, size - to, outside);
            } else {
                std::fill_n(plane, size, outside);
            }
            plane += size;
        });
    });
}

template <typename S>
void FlatWindows::take_results(const S* run, S* out) {
    int64_t width = windows_.back();
    size_t last = windows_.size() - 1;
    for_each_index(windows_, last, at_, [&] {
        int64_t offset = 0;
        for (size_t d = 0; d < last; ++d) {
            offset = (offset + at_[d]) * sizes_[d + 1];
        }
        out = std::copy_n(run + offset, width, out);
    });
}

}  // namespace sardonyx::eval
