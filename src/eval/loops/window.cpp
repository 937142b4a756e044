#include "eval/loops/window.h"

#include <algorithm>

#include <fmt/format.h>

#include "eval/loops/strided.h"

namespace sardonyx::eval {
namespace {

// Keeps the sums and products below from overflowing.
constexpr int64_t kLargest = int64_t{1} << 30;

Result<Dims> attribute_or(const KernelContext& c, std::string_view name, size_t count,
                          int64_t otherwise, int64_t least) {
    std::span<const int64_t> given = c.ints_attribute(name);
    if (given.empty()) {
        return Dims(count, otherwise);
    }
    bool valid = given.size() == count && std::all_of(given.begin(), given.end(), [&](int64_t x) {
                     return x >= least && x <= kLargest;
                 });
    if (!valid) {
        return Error{fmt::format("attribute `{}` is {}, but must be {} numbers from {}", name,
                                 to_string(given), count, least)};
    }
    return Dims(given.begin(), given.end());
}

// floor((in + pads - extent) / stride) + 1; 0 or less where the kernel is larger than the axis.
// `ceil_mode`: a window may reach past the end, but must start before the end padding.
int64_t output_size(const WindowGeometry& g, size_t d, bool ceil_mode) {
    int64_t room = g.in[d] + g.begin[d] + g.end[d] - g.extent(d);
    room += ceil_mode ? g.strides[d] - 1 : 0;
    int64_t size =
        (room < 0 ? -((-room + g.strides[d] - 1) / g.strides[d]) : room / g.strides[d]) + 1;
    if (ceil_mode && (size - 1) * g.strides[d] >= g.in[d] + g.begin[d]) {
        --size;
    }
    return size;
}

}  // namespace

int64_t WindowGeometry::in_count() const {
    return product(in);
}
int64_t WindowGeometry::out_count() const {
    return product(out);
}
int64_t WindowGeometry::kernel_count() const {
    return product(kernel);
}

Result<Dims> kernel_of_weights(const KernelContext& c, const Dims& weights) {
    Dims kernel(weights.begin() + 2, weights.end());
    std::span<const int64_t> given = c.ints_attribute("kernel_shape");
    if (!given.empty() && !std::equal(given.begin(), given.end(), kernel.begin(), kernel.end())) {
        return Error{fmt::format("`kernel_shape` {} is not that of the weights, {}",
                                 to_string(given), to_string(kernel))};
    }
    return kernel;
}

Result<WindowGeometry> window_attributes(const KernelContext& c, Dims in, Dims kernel) {
    WindowGeometry g;
    size_t rank = in.size();
    if (kernel.size() != rank) {
        return Error{fmt::format("the kernel has {} axes, but the input {} spatial ones",
                                 kernel.size(), rank)};
    }
    for (size_t d = 0; d < rank; ++d) {
        if (kernel[d] < 1 || kernel[d] > kLargest || in[d] < 0 || in[d] > kLargest) {
            return Error{fmt::format("kernel {} or input {} is not valid", to_string(kernel),
                                     to_string(in))};
        }
    }
    g.in = std::move(in);
    g.kernel = std::move(kernel);
    SDX_ASSIGN(g.strides, attribute_or(c, "strides", rank, 1, 1));
    SDX_ASSIGN(g.dilations, attribute_or(c, "dilations", rank, 1, 1));
    SDX_ASSIGN(Dims pads, attribute_or(c, "pads", 2 * rank, 0, 0));
    g.begin.assign(pads.begin(), pads.begin() + rank);
    g.end.assign(pads.begin() + rank, pads.end());
    return g;
}

Result<WindowGeometry> window_geometry(const KernelContext& c, Dims in, Dims kernel) {
    SDX_ASSIGN(WindowGeometry g, window_attributes(c, std::move(in), std::move(kernel)));
    std::string_view auto_pad = c.string_attribute("auto_pad");
    bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    for (size_t d = 0; d < g.in.size(); ++d) {
        if (auto_pad == "VALID") {
            g.begin[d] = g.end[d] = 0;
        }
        if (is_same) {
            int64_t out = (g.in[d] + g.strides[d] - 1) / g.strides[d];
            int64_t total = std::max<int64_t>(0, (out - 1) * g.strides[d] + g.extent(d) - g.in[d]);
            g.begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
            g.end[d] = total - g.begin[d];
            g.out.push_back(out);
        } else {
            int64_t out = output_size(g, d, c.int_attribute("ceil_mode", 0) != 0);
            // Also where the formula says 0, as inference: results would differ between runtimes.
            if (out < 1 && g.in[d] > 0) {
                return Error{
                    fmt::format("a window of {} does not fit axis {} of {} with its padding",
                                g.extent(d), d, to_string(g.in))};
            }
            g.out.push_back(std::max<int64_t>(out, 0));
        }
    }
    return g;
}

TapRow tap_row(const WindowGeometry& g, int64_t row, int64_t tap) {
    TapRow result;
    int64_t stride = 1;
    for (size_t d = g.in.size(); d-- > 0;) {
        int64_t shift = tap % g.kernel[d] * g.dilations[d] - g.begin[d];
        tap /= g.kernel[d];
        if (d + 1 == g.in.size()) {
            auto ceiling = [&](int64_t x) { return x <= 0 ? 0 : (x - 1) / g.strides[d] + 1; };
            result.offset = shift;
            result.first = std::min(ceiling(-shift), g.out[d]);
            result.end = std::clamp(ceiling(g.in[d] - shift), result.first, g.out[d]);
        } else {
            int64_t at = row % g.out[d] * g.strides[d] + shift;
            row /= g.out[d];
            result.inside = result.inside && at >= 0 && at < g.in[d];
            result.offset += at * stride;
        }
        stride *= g.in[d];
    }
    bool is_found = result.inside && result.first < result.end;
    return is_found ? result : TapRow{false};
}

WindowWalk::WindowWalk(const WindowGeometry& geometry)
    : g_(geometry), position_(geometry.in.size(), 0), in_strides_(row_major_strides(geometry.in)) {
    find_taps();
}

void WindowWalk::find_taps() {
    taps_.assign(1, {0, 0});
    std::vector<Tap> longer;
    for (size_t d = 0; d < position_.size(); ++d) {
        longer.clear();
        int64_t start = position_[d] * g_.strides[d] - g_.begin[d];
        int64_t first = start < 0 ? (-start + g_.dilations[d] - 1) / g_.dilations[d] : 0;
        for (const Tap& tap : taps_) {
            for (int64_t k = first; k < g_.kernel[d]; ++k) {
                int64_t at = start + k * g_.dilations[d];
                if (at >= g_.in[d]) {
                    break;
                }
                longer.push_back({tap.tap * g_.kernel[d] + k, tap.offset + at * in_strides_[d]});
            }
        }
        taps_.swap(longer);
    }
}

void WindowWalk::next() {
    for (size_t d = position_.size(); d-- > 0 && ++position_[d] == g_.out[d];) {
        position_[d] = 0;
    }
    find_taps();
}

}  // namespace sardonyx::eval
