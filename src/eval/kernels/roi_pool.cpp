// MaxRoiPool (https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html), as of Fast R-CNN (Girshick
// 2015): corners are rounded to whole elements, both ends included, and the region is divided into
// bins that may overlap by one element.
#include "eval/kernels/roi_pool.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// One axis of a region.
struct RoiAxis {
    int64_t start = 0;
    float bin = 1;
    int64_t size = 0;  // of the input

    RoiAxis(double first, double last, int64_t bins, int64_t input_size) : size(input_size) {
        // Far beyond any input, and far from overflow.
        constexpr double kFar = 0x1p40;
        start = saturate<int64_t>(std::round(std::clamp(first, -kFar, kFar)));
        auto end = saturate<int64_t>(std::round(std::clamp(last, -kFar, kFar)));
        bin = static_cast<float>(std::max<int64_t>(end - start + 1, 1)) / static_cast<float>(bins);
    }
    // The elements [first, last) of bin `i`.
    std::pair<int64_t, int64_t> range(int64_t i) const {
        auto first = saturate<int64_t>(std::floor(static_cast<float>(i) * bin));
        auto last = saturate<int64_t>(std::ceil(static_cast<float>(i + 1) * bin));
        return {std::clamp<int64_t>(first + start, 0, size),
                std::clamp<int64_t>(last + start, 0, size)};
    }
};

// The offset of the first of the greatest; -1 where there is none.
template <typename T>
int64_t greatest(const T* plane, int64_t width, std::pair<int64_t, int64_t> rows,
                 std::pair<int64_t, int64_t> columns) {
    using S = Compute<T>;
    int64_t best = -1;
    for (int64_t y = rows.first; y < rows.second; ++y) {
        for (int64_t x = columns.first; x < columns.second; ++x) {
            int64_t at = y * width + x;
            if (best < 0 || static_cast<S>(plane[best]) < static_cast<S>(plane[at])) {
                best = at;
            }
        }
    }
    return best;
}

}  // namespace

Result<Tensor> max_roi_places(const KernelContext& c) {
    const Dims& dims = c.dims(0);
    std::span<const int64_t> bins = c.ints_attribute("pooled_shape");
    if (dims.size() != 4 || c.rank(1) != 2 || c.dims(1)[1] != 5 || bins.size() != 2 ||
        bins[0] < 1 || bins[1] < 1) {
        return Error{fmt::format("an input {}, regions {} and a pooled shape {} do not match",
                                 to_string(dims), to_string(c.dims(1)), to_string(bins))};
    }
    double scale = c.float_attribute("spatial_scale");
    int64_t count = c.dims(1)[0];
    SDX_ASSIGN(Tensor regions, cast_tensor(c, c.tensor(1), ElementType::kDouble));
    SDX_ASSIGN(Tensor places, c.scratch(ElementType::kInt64, {count, dims[1], bins[0], bins[1]}));
    Status status = visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        int64_t* result = places.mutable_elements<int64_t>().data();
        for (int64_t r = 0; r < count && places.count() > 0; ++r) {
            const double* region = regions.elements<double>().data() + r * 5;
            if (!(region[0] >= 0 && region[0] < static_cast<double>(dims[0]))) {
                return Error{fmt::format("region {} is of image {} of {}", r, region[0], dims[0])};
            }
            auto image = static_cast<int64_t>(region[0]);
            RoiAxis vertical(region[2] * scale, region[4] * scale, bins[0], dims[2]);
            RoiAxis horizontal(region[1] * scale, region[3] * scale, bins[1], dims[3]);
            for (int64_t channel = 0; channel < dims[1]; ++channel) {
                SDX_TRY(check_interrupt(c.options()));
                int64_t start = (image * dims[1] + channel) * dims[2] * dims[3];
                for (int64_t i = 0; i < bins[0] * bins[1]; ++i) {
                    int64_t at = greatest(in + start, dims[3], vertical.range(i / bins[1]),
                                          horizontal.range(i % bins[1]));
                    *result++ = at < 0 ? 0 : start + at + 1;
                }
            }
        }
        return {};
    });
    SDX_TRY(status);
    return places;
}

Status max_roi_pool(KernelContext& c) {
    SDX_ASSIGN(Tensor places, max_roi_places(c));
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), places.dims()));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        for (int64_t place : places.elements<int64_t>()) {
            *result++ = place == 0 ? static_cast<T>(0.0) : in[place - 1];
        }
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
