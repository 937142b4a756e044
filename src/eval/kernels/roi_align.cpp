// RoiAlign: regions of images, read between their pixels.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "eval/kernels/cast.h"
#include "eval/kernels/taps.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/matmul.h"
#include "eval/loops/scratch.h"
#include "eval/loops/visit.h"
#include "eval/loops/window.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// --- RoiAlign ------------------------------------------------------------------------------------

// A place between four pixels: their offsets and weights; nothing further than a pixel outside.
int bilinear_taps(double y, double x, int64_t height, int64_t width,
                  std::array<PlaneTap, 4>& taps) {
    auto h = static_cast<double>(height), w = static_cast<double>(width);
    if (!(y >= -1 && y <= h && x >= -1 && x <= w)) {
        return 0;
    }
    auto split = [](double at, double size, int64_t& low, int64_t& high) {
        at = std::max(at, 0.0);
        low = static_cast<int64_t>(at);
        high = low + 1;
        if (static_cast<double>(low) >= size - 1) {
            low = high = static_cast<int64_t>(size) - 1;
            at = static_cast<double>(low);
        }
        return at - static_cast<double>(low);
    };
    int64_t y0, y1, x0, x1;
    double ry = split(y, h, y0, y1);
    double rx = split(x, w, x0, x1);
    taps = {PlaneTap{y0 * width + x0, (1 - ry) * (1 - rx)},
            {y0 * width + x1, (1 - ry) * rx},
            {y1 * width + x0, ry * (1 - rx)},
            {y1 * width + x1, ry * rx}};
    return 4;
}

struct RoiOptions {
    int64_t height = 1;
    int64_t width = 1;
    int64_t samples = 0;  // along each axis of a bin; 0: as many as it covers pixels
    double scale = 1;
    bool half_pixel = true;
    bool is_max = false;
};

// One axis of a region: where its bins begin, how wide they are, and how many samples each has.
struct AlignAxis {
    double begin;
    double bin;
    int64_t samples;

    double at(int64_t i, int64_t sample) const {
        return begin + static_cast<double>(i) * bin +
               (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
    }
};

Result<AlignAxis> roi_axis(const RoiOptions& o, double low, double high, int64_t bins) {
    double offset = o.half_pixel ? 0.5 : 0.0;
    double begin = low * o.scale - offset;
    double size = high * o.scale - offset - begin;
    if (!o.half_pixel) {
        size = std::max(size, 1.0);
    }
    double bin = size / static_cast<double>(bins);
    double samples = o.samples > 0 ? static_cast<double>(o.samples) : std::ceil(bin);
    if (!std::isfinite(begin) || !(samples <= 4096)) {
        return Error{fmt::format("a region from {} to {} needs too many samples", low, high)};
    }
    return AlignAxis{begin, bin, static_cast<int64_t>(std::max(samples, 0.0))};
}

struct Region {
    int64_t image;
    AlignAxis y, x;
};

// The bins of a region, [channels, height * width]: sample after sample, the taps of all bins for
// all channels.
template <bool is_max, typename T>
void pool_region(const RoiOptions& o, const T* image, const Dims& dims, const Region& region,
                 T* out) {
    int64_t bins = o.height * o.width;
    int64_t samples = region.y.samples * region.x.samples;
    Scratch<double> folded(dims[1] * bins);
    double start = is_max && samples > 0 ? -INFINITY : 0;
    std::fill_n(folded.data(), dims[1] * bins, start);
    TapTable<int64_t> table(4, bins);
    std::array<PlaneTap, 4> taps;
    for (int64_t sample = 0; sample < samples; ++sample) {
        for (int64_t bin = 0; bin < bins; ++bin) {
            double y = region.y.at(bin / o.width, sample / region.x.samples);
            double x = region.x.at(bin % o.width, sample % region.x.samples);
            int count = bilinear_taps(y, x, dims[2], dims[3], taps);
            table.set(bin, std::span(taps).first(count));
        }
        for (int64_t channel = 0; channel < dims[1]; ++channel) {
            fold_taps<is_max>(image + channel * dims[2] * dims[3], table, bins,
                              folded.data() + channel * bins);
        }
    }
    auto divisor = static_cast<double>(is_max ? 1 : std::max<int64_t>(1, samples));
    for (int64_t i = 0; i < dims[1] * bins; ++i) {
        out[i] = static_cast<T>(folded.data()[i] / divisor);
    }
}

}  // namespace

Status roi_align(KernelContext& c) {
    const Dims& dims = c.dims(0);
    if (dims.size() != 4 || c.rank(1) != 2 || c.dims(1)[1] != 4) {
        return Error{fmt::format("input {} and regions {} must be [N, C, H, W] and [count, 4]",
                                 to_string(dims), to_string(c.dims(1)))};
    }
    RoiOptions o;
    o.height = c.int_attribute("output_height");
    o.width = c.int_attribute("output_width");
    o.samples = c.int_attribute("sampling_ratio");
    o.scale = c.float_attribute("spatial_scale");
    o.is_max = c.string_attribute("mode") == "max";
    o.half_pixel = c.string_attribute("coordinate_transformation_mode") == "half_pixel";
    SDX_ASSIGN(std::vector<int64_t> images, c.ints(2));
    int64_t count = c.dims(1)[0];
    bool fits =
        static_cast<int64_t>(images.size()) == count && o.height > 0 && o.width > 0 &&
        o.samples >= 0 && o.samples <= 4096 &&
        std::all_of(images.begin(), images.end(), [&](int64_t i) { return i >= 0 && i < dims[0]; });
    if (!fits || (count > 0 && dims[2] * dims[3] == 0)) {
        return Error{fmt::format("batch indices {} or sizes do not fit {} regions of {}",
                                 to_string(images), count, to_string(dims))};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), {count, dims[1], o.height, o.width}));
    SDX_ASSIGN(Tensor regions, cast_tensor(c, c.tensor(1), ElementType::kDouble));
    std::vector<Region> all;
    for (int64_t r = 0; r < count; ++r) {
        const double* region = regions.elements<double>().data() + r * 4;
        SDX_ASSIGN(AlignAxis x, roi_axis(o, region[0], region[2], o.width));
        SDX_ASSIGN(AlignAxis y, roi_axis(o, region[1], region[3], o.height));
        all.push_back({images[r], y, x});
    }
    if (out->count() == 0) {
        return {};
    }
    int64_t per_region = dims[1] * o.height * o.width;
    SDX_TRY(check_size(ElementType::kDouble, Dims{per_region}, c.options()));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* pictures = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        auto pool = o.is_max ? &pool_region<true, T> : &pool_region<false, T>;
        parallel_for(c.threads(), count, items_per_task(16 * per_region),
                     [&](int64_t begin, int64_t end) {
                         for (int64_t r = begin; r < end; ++r) {
                             pool(o, pictures + all[r].image * dims[1] * dims[2] * dims[3], dims,
                                  all[r], result + r * per_region);
                         }
                     });
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
