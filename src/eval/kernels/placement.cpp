// Operators that put a block into a larger tensor: CenterCropPad and TensorScatter.
#include <algorithm>

#include <fmt/format.h>

#include "eval/loops/strided.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// Where the rows of an update go along the axis of the cache, per batch.
Result<std::vector<int64_t>> write_starts(const KernelContext& c, int64_t rows, int64_t capacity) {
    std::vector<int64_t> starts(c.dims(0)[0], 0);
    bool is_circular = c.string_attribute("mode") == "circular";
    if (!is_circular && c.string_attribute("mode") != "linear") {
        return Error{fmt::format("mode `{}` is not known", c.string_attribute("mode"))};
    }
    if (c.has_input(2)) {
        if (c.dims(2) != Dims{c.dims(0)[0]}) {
            return Error{fmt::format("write_indices {} must have one index for each of {}",
                                     to_string(c.dims(2)), c.dims(0)[0])};
        }
        std::span<const int64_t> given = c.tensor(2).elements<int64_t>();
        starts.assign(given.begin(), given.end());
    }
    for (int64_t& start : starts) {
        if (start < 0 || (!is_circular && start > capacity - rows)) {
            return Error{
                fmt::format("{} rows do not fit from index {} on into {}", rows, start, capacity)};
        }
        start = capacity == 0 ? 0 : start % capacity;
    }
    return starts;
}

}  // namespace

// https://onnx.ai/onnx/operators/onnx__TensorScatter.html
Status tensor_scatter(KernelContext& c) {
    const Tensor& cache = c.tensor(0);
    const Tensor& update = c.tensor(1);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), cache.rank()));
    Dims expected = cache.dims();
    bool fits = axis > 0 && update.rank() == cache.rank() && update.dims()[axis] <= expected[axis];
    if (fits) {
        expected[axis] = update.dims()[axis];
    }
    if (!fits || update.dims() != expected) {
        return Error{fmt::format("an update {} does not fit axis {} of a cache {}",
                                 to_string(update.dims()), axis, to_string(cache.dims()))};
    }
    AxisView view = axis_view(cache.dims(), axis);
    int64_t rows = update.dims()[axis];
    if (update.count() == 0) {
        c.set_output(0, cache);
        return {};
    }
    SDX_ASSIGN(std::vector<int64_t> starts, write_starts(c, rows, view.n));
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), cache.dims()));
    copy_elements(cache, 0, *out, 0, cache.count());
    int64_t per_batch = view.outer / cache.dims()[0];
    for (int64_t o = 0; o < view.outer; ++o) {
        int64_t start = starts[o / per_batch];
        int64_t before_end = std::min(rows, view.n - start);
        copy_elements(update, o * rows * view.inner, *out, (o * view.n + start) * view.inner,
                      before_end * view.inner);
        copy_elements(update, (o * rows + before_end) * view.inner, *out, o * view.n * view.inner,
                      (rows - before_end) * view.inner);
    }
    return {};
}

// https://onnx.ai/onnx/operators/onnx__CenterCropPad.html
Status center_crop_pad(KernelContext& c) {
    int rank = c.rank(0);
    SDX_ASSIGN(std::vector<int64_t> sizes, c.ints(1));
    std::span<const int64_t> listed = c.ints_attribute("axes");
    std::vector<int64_t> all(listed.begin(), listed.end());
    if (!c.has_attribute("axes")) {
        for (int d = 0; d < rank; ++d) {
            all.push_back(d);
        }
    }
    if (all.size() != sizes.size()) {
        return Error{fmt::format("{} sizes for {} axes", sizes.size(), all.size())};
    }
    SDX_TRY(c.axes(all, rank));
    Dims dims = c.dims(0);
    for (size_t i = 0; i < all.size(); ++i) {
        SDX_ASSIGN(int axis, c.axis(all[i], rank));
        dims[axis] = sizes[i];
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    fill_zero(*out);
    if (out->count() == 0 || c.tensor(0).count() == 0) {
        return {};
    }
    ViewGeometry from{0, row_major_strides(c.dims(0))};
    ViewGeometry to{0, row_major_strides(dims)};
    Dims common(rank);
    for (int d = 0; d < rank; ++d) {
        int64_t surplus = c.dims(0)[d] - dims[d];  // cropped, or padded where it is negative
        common[d] = std::min(c.dims(0)[d], dims[d]);
        from.offset += surplus > 0 ? surplus / 2 * from.strides[d] : 0;
        to.offset += surplus < 0 ? -surplus / 2 * to.strides[d] : 0;
    }
    copy_strided(c.threads(), c.tensor(0), from, *out, to, common);
    return {};
}

}  // namespace sardonyx::eval::kernels
