// Operators that move elements or only change the shape.
#include "eval/kernels/movement.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

Result<Tensor> concat(const KernelContext& c, std::span<const Tensor> parts, int64_t axis) {
    SDX_ASSIGN(int at, c.axis(axis, parts[0].rank()));
    Dims dims = parts[0].dims();
    dims[at] = 0;
    for (const Tensor& part : parts) {
        bool fits = part.rank() == parts[0].rank();
        for (int d = 0; fits && d < part.rank(); ++d) {
            fits = d == at || part.dims()[d] == dims[d];
        }
        if (!fits) {
            return Error{fmt::format("shapes {} and {} do not go together along axis {}",
                                     to_string(parts[0].dims()), to_string(part.dims()), at)};
        }
        if (__builtin_add_overflow(dims[at], part.dims()[at], &dims[at])) {
            return Error{"the sizes add up to too much"};
        }
    }
    SDX_ASSIGN(Tensor out, c.scratch(parts[0].element_type(), dims));
    ViewGeometry to{0, row_major_strides(dims)};
    for (const Tensor& part : parts) {
        copy_strided(c.threads(), part, {0, row_major_strides(part.dims())}, out, to, part.dims());
        to.offset += part.dims()[at] * to.strides[at];
    }
    return out;
}

Result<Tensor> part_of_axis(const KernelContext& c, const Tensor& source, int axis, int64_t start,
                            int64_t count) {
    Dims dims = source.dims();
    ViewGeometry from{0, row_major_strides(dims)};
    from.offset = count > 0 ? start * from.strides[axis] : 0;
    dims[axis] = count;
    return gather_view(c, source, from, std::move(dims));
}

namespace kernels {
namespace {

Status set_reshaped(KernelContext& c, Dims dims) {
    std::optional<int64_t> count = element_count(dims);
    if (count != c.tensor(0).count()) {
        return Error{
            fmt::format("{} elements do not fit shape {}", c.tensor(0).count(), to_string(dims))};
    }
    c.set_output(0, c.tensor(0).reshaped(std::move(dims)));
    return {};
}

// The sizes of the parts of Split along an axis of size n.
Result<std::vector<int64_t>> split_sizes(KernelContext& c, int64_t n) {
    SDX_ASSIGN(std::optional<std::vector<int64_t>> given, list_argument(c, "split", 1));
    if (!given.has_value() && c.has_input(1)) {  // version 1 has both, the input in the data's type
        SDX_ASSIGN(Tensor sizes, cast_tensor(c, c.tensor(1), ElementType::kInt64));
        given.emplace(sizes.elements<int64_t>().begin(), sizes.elements<int64_t>().end());
    }
    if (given.has_value() && !given->empty()) {
        int64_t total = 0;
        for (int64_t size : *given) {
            if (size < 0 || __builtin_add_overflow(total, size, &total)) {
                return Error{fmt::format("split sizes {} are not valid", to_string(*given))};
            }
        }
        if (c.has_attribute("num_outputs")) {
            return Error{"one of `split` and `num_outputs` may be given, and not both"};
        }
        if (total != n || given->size() != c.output_count()) {
            return Error{fmt::format("split sizes {} do not divide {} into {} parts",
                                     to_string(*given), n, c.output_count())};
        }
        return *std::move(given);
    }
    if (c.version() >= 18 && !c.has_attribute("num_outputs")) {
        return Error{"neither `split` nor `num_outputs` is given"};
    }
    int64_t parts = c.int_attribute("num_outputs", static_cast<int64_t>(c.output_count()));
    if (parts < 1 || static_cast<size_t>(parts) != c.output_count()) {
        return Error{
            fmt::format("`num_outputs` is {}, but there are {} outputs", parts, c.output_count())};
    }
    bool may_differ = c.version() >= 18;
    if (n % parts != 0 && !may_differ) {
        return Error{fmt::format("{} is not divisible into {} equal parts", n, parts)};
    }
    // All of one size but the last, which is what is left.
    int64_t size = n / parts + (n % parts != 0 ? 1 : 0);
    std::vector<int64_t> sizes;
    for (int64_t i = 0, left = n; i < parts; ++i) {
        sizes.push_back(std::min(size, left));
        left -= sizes.back();
    }
    return sizes;
}

// --- Slice ---------------------------------------------------------------------------------------

struct SliceAxis {
    int64_t start;
    int64_t count;
    int64_t step;
};

// The standard's rules for a slice of an axis of size n. They are Python's, but that backwards a
// start before the first element is the first element.
SliceAxis slice_axis(int64_t start, int64_t end, int64_t step, int64_t n) {
    auto absolute = [n](int64_t index) { return index < 0 ? index + n : index; };
    if (step > 0) {
        start = std::clamp<int64_t>(absolute(start), 0, n);
        end = std::clamp<int64_t>(absolute(end), 0, n);
        return {start, end > start ? (end - start - 1) / step + 1 : 0, step};
    }
    start = std::min(std::max<int64_t>(absolute(start), 0), n - 1);
    end = std::clamp<int64_t>(absolute(end), -1, n - 1);
    // -(step + 1) + 1 without overflow for the least integer.
    uint64_t stride = static_cast<uint64_t>(-(step + 1)) + 1;
    uint64_t distance = start > end ? static_cast<uint64_t>(start - end - 1) / stride + 1 : 0;
    return {start, static_cast<int64_t>(distance), step};
}

struct SliceArguments {
    std::vector<int64_t> starts, ends, axes, steps;
};

Result<SliceArguments> slice_arguments(KernelContext& c) {
    SliceArguments a;
    SDX_ASSIGN(auto starts, list_argument(c, "starts", 1));
    SDX_ASSIGN(auto ends, list_argument(c, "ends", 2));
    SDX_ASSIGN(auto axes, list_argument(c, "axes", 3));
    a.starts = std::move(starts).value_or(std::vector<int64_t>());
    a.ends = std::move(ends).value_or(std::vector<int64_t>());
    if (c.has_input(4)) {
        SDX_ASSIGN(a.steps, c.ints(4));
    } else {
        a.steps.assign(a.starts.size(), 1);
    }
    if (axes.has_value()) {
        a.axes = *std::move(axes);
    } else {
        a.axes.resize(a.starts.size());
        std::iota(a.axes.begin(), a.axes.end(), 0);
    }
    if (a.ends.size() != a.starts.size() || a.axes.size() != a.starts.size() ||
        a.steps.size() != a.starts.size()) {
        return Error{fmt::format("{} starts, {} ends, {} axes and {} steps do not go together",
                                 a.starts.size(), a.ends.size(), a.axes.size(), a.steps.size())};
    }
    return a;
}

// --- Blocks --------------------------------------------------------------------------------------

// Blocks of DepthToSpace and SpaceToDepth.
Status permute_blocks(KernelContext& c, Dims split, std::vector<int> permutation, Dims merged) {
    SDX_ASSIGN(Tensor out, transposed(c, c.tensor(0).reshaped(std::move(split)), permutation));
    c.set_output(0, out.reshaped(std::move(merged)));
    return {};
}

Result<int64_t> block_size(KernelContext& c) {
    int64_t block = c.int_attribute("blocksize");
    if (block < 1 || block > (1 << 20) || c.rank(0) != 4) {
        return Error{
            fmt::format("block size {} and rank {} must be positive and 4", block, c.rank(0))};
    }
    return block;
}

}  // namespace

Status identity(KernelContext& c) {
    c.set_output(0, c.value(0));
    return {};
}

Status reshape(KernelContext& c) {
    SDX_ASSIGN(auto given, list_argument(c, "shape", 1));
    Dims dims = std::move(given).value_or(Dims());
    const Dims& in = c.dims(0);
    bool zero_is_zero = c.int_attribute("allowzero", 0) != 0;
    int64_t known = 1;
    int64_t* inferred = nullptr;
    for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] == 0 && !zero_is_zero) {
            if (d >= in.size()) {
                return Error{fmt::format("shape {} copies dimension {}, which {} does not have",
                                         to_string(dims), d, to_string(in))};
            }
            dims[d] = in[d];
        } else if (dims[d] == -1 && inferred == nullptr) {
            inferred = &dims[d];
            continue;
        }
        if (dims[d] < 0 || __builtin_mul_overflow(known, dims[d], &known)) {
            return Error{fmt::format("shape {} is not valid", to_string(dims))};
        }
    }
    if (inferred != nullptr) {
        int64_t count = c.tensor(0).count();
        if (known == 0 ? count != 0 : count % known != 0) {
            return Error{fmt::format("{} elements do not fit shape {}", count, to_string(dims))};
        }
        *inferred = known == 0 ? 0 : count / known;
    }
    return set_reshaped(c, std::move(dims));
}

Status flatten(KernelContext& c) {
    int64_t axis = c.int_attribute("axis");
    int rank = c.rank(0);
    if (axis < -rank || axis > rank) {
        return Error{fmt::format("axis {} is out of range for rank {}", axis, rank)};
    }
    axis += axis < 0 ? rank : 0;
    std::span<const int64_t> dims = c.dims(0);
    return set_reshaped(c, {product(dims.first(axis)), product(dims.subspan(axis))});
}

Status squeeze(KernelContext& c) {
    SDX_ASSIGN(auto given, list_argument(c, "axes", 1));
    const Dims& in = c.dims(0);
    std::vector<bool> drop(in.size(), false);
    if (given.has_value()) {
        SDX_ASSIGN(std::vector<int> axes, c.axes(*given, c.rank(0)));
        for (int axis : axes) {
            if (in[axis] != 1) {
                return Error{fmt::format("axis {} has size {}, not 1", axis, in[axis])};
            }
            drop[axis] = true;
        }
    } else {
        for (size_t d = 0; d < in.size(); ++d) {
            drop[d] = in[d] == 1;
        }
    }
    Dims dims;
    for (size_t d = 0; d < in.size(); ++d) {
        if (!drop[d]) {
            dims.push_back(in[d]);
        }
    }
    return set_reshaped(c, std::move(dims));
}

Status unsqueeze(KernelContext& c) {
    SDX_ASSIGN(auto given, list_argument(c, "axes", 1));
    std::vector<int64_t> list = std::move(given).value_or(std::vector<int64_t>());
    SDX_ASSIGN(std::vector<int> axes, c.axes(list, c.rank(0) + static_cast<int>(list.size())));
    Dims dims = c.dims(0);
    for (int axis : axes) {  // ascending, so each is a place in the result
        dims.insert(dims.begin() + axis, 1);
    }
    return set_reshaped(c, std::move(dims));
}

Status shape(KernelContext& c) {
    int64_t rank = c.rank(0);
    auto clamped = [rank](int64_t index) {
        return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank);
    };
    int64_t start = clamped(c.int_attribute("start", 0));
    int64_t end = clamped(c.int_attribute("end", rank));
    Dims dims;
    if (start < end) {
        dims.assign(c.dims(0).begin() + start, c.dims(0).begin() + end);
    }
    int64_t count = static_cast<int64_t>(dims.size());
    c.set_output(0, Tensor::of<int64_t>({count}, dims));
    return {};
}

Status size(KernelContext& c) {
    c.set_output(0, Tensor::scalar<int64_t>(c.tensor(0).count()));
    return {};
}

Status transpose(KernelContext& c) {
    int rank = c.rank(0);
    std::vector<int> permutation;
    if (c.has_attribute("perm")) {
        for (int64_t axis : c.ints_attribute("perm")) {
            SDX_ASSIGN(int normalized, c.axis(axis, rank));
            permutation.push_back(normalized);
        }
        std::vector<int> sorted = permutation;
        std::sort(sorted.begin(), sorted.end());
        bool is_permutation = static_cast<int>(sorted.size()) == rank;
        for (int d = 0; is_permutation && d < rank; ++d) {
            is_permutation = sorted[d] == d;
        }
        if (!is_permutation) {
            return Error{fmt::format("`perm` {} is not a permutation of {} axes",
                                     to_string(c.ints_attribute("perm")), rank)};
        }
    } else {
        for (int d = rank; d-- > 0;) {
            permutation.push_back(d);
        }
    }
    SDX_ASSIGN(Tensor out, transposed(c, c.tensor(0), permutation));
    c.set_output(0, std::move(out));
    return {};
}

Status expand(KernelContext& c) {
    SDX_ASSIGN(std::vector<int64_t> shape, c.ints(1));
    SDX_ASSIGN(Dims dims, broadcast_dims(c.dims(0), shape));
    SDX_TRY(check_size(c.type(0), dims, c.options()));
    Dims strides = broadcast_strides(c.dims(0), dims);
    SDX_ASSIGN(Tensor out, gather_view(c, c.tensor(0), {0, std::move(strides)}, std::move(dims)));
    c.set_output(0, std::move(out));
    return {};
}

Status tile(KernelContext& c) {
    const Dims& in = c.dims(0);
    std::vector<int64_t> repeats(in.size(), 1);
    if (c.version() < 6) {
        SDX_ASSIGN(double count, c.real_scalar(1));
        SDX_ASSIGN(double axis_value, c.real_scalar(2));
        SDX_ASSIGN(int axis, c.axis(saturate<int64_t>(axis_value), c.rank(0)));
        repeats[axis] = saturate<int64_t>(count);
    } else {
        SDX_ASSIGN(repeats, c.ints(1));
    }
    if (repeats.size() != in.size()) {
        return Error{fmt::format("{} repeats for rank {}", repeats.size(), in.size())};
    }
    Dims own = row_major_strides(in);
    Dims dims, doubled;
    ViewGeometry from;
    for (size_t d = 0; d < in.size(); ++d) {
        int64_t size = 0;
        if (repeats[d] < 0 || __builtin_mul_overflow(repeats[d], in[d], &size)) {
            return Error{fmt::format("repeats {} are not valid", to_string(repeats))};
        }
        dims.push_back(size);
        doubled.insert(doubled.end(), {repeats[d], in[d]});
        from.strides.insert(from.strides.end(), {0, own[d]});
    }
    SDX_TRY(check_size(c.type(0), dims, c.options()));
    if (product(dims) == 0) {
        return c.output(0, c.type(0), std::move(dims)).ok() ? Status() : Status(Error{"too large"});
    }
    SDX_ASSIGN(Tensor out, gather_view(c, c.tensor(0), from, std::move(doubled)));
    c.set_output(0, out.reshaped(std::move(dims)));
    return {};
}

Status concat(KernelContext& c) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < c.input_count(); ++i) {
        parts.push_back(c.tensor(i));
    }
    int64_t axis = c.wants_channels_last() ? -1 : c.int_attribute("axis", 1);
    SDX_ASSIGN(Tensor out, eval::concat(c, parts, axis));
    c.set_output(0, std::move(out));
    return {};
}

Status split(KernelContext& c) {
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), c.rank(0)));
    SDX_ASSIGN(std::vector<int64_t> sizes, split_sizes(c, c.dims(0)[axis]));
    int64_t start = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
        SDX_ASSIGN(Tensor part, part_of_axis(c, c.tensor(0), axis, start, sizes[i]));
        c.set_output(i, std::move(part));
        start += sizes[i];
    }
    return {};
}

Status slice(KernelContext& c) {
    SDX_ASSIGN(SliceArguments arguments, slice_arguments(c));
    Dims dims = c.dims(0);
    ViewGeometry from{0, row_major_strides(dims)};
    SDX_TRY(c.axes(arguments.axes, c.rank(0)));
    for (size_t i = 0; i < arguments.axes.size(); ++i) {
        SDX_ASSIGN(int axis, c.axis(arguments.axes[i], c.rank(0)));
        if (arguments.steps[i] == 0) {
            return Error{"a step must not be 0"};
        }
        SliceAxis part =
            slice_axis(arguments.starts[i], arguments.ends[i], arguments.steps[i], c.dims(0)[axis]);
        dims[axis] = part.count;
        if (part.count > 0) {
            from.offset += part.start * from.strides[axis];
            from.strides[axis] *= part.count > 1 ? part.step : 1;
        }
    }
    SDX_ASSIGN(Tensor out, gather_view(c, c.tensor(0), from, std::move(dims)));
    c.set_output(0, std::move(out));
    return {};
}

Status depth_to_space(KernelContext& c) {
    SDX_ASSIGN(int64_t b, block_size(c));
    const Dims& d = c.dims(0);
    if (d[1] % (b * b) != 0) {
        return Error{fmt::format("{} channels are not divisible by {}", d[1], b * b)};
    }
    int64_t depth = d[1] / (b * b);
    Dims merged{d[0], depth, d[2] * b, d[3] * b};
    bool columns_first = c.string_attribute("mode") == "CRD";
    return columns_first
               ? permute_blocks(c, {d[0], depth, b, b, d[2], d[3]}, {0, 1, 4, 2, 5, 3}, merged)
               : permute_blocks(c, {d[0], b, b, depth, d[2], d[3]}, {0, 3, 4, 1, 5, 2}, merged);
}

Status space_to_depth(KernelContext& c) {
    SDX_ASSIGN(int64_t b, block_size(c));
    const Dims& d = c.dims(0);
    if (d[2] % b != 0 || d[3] % b != 0) {
        return Error{fmt::format("height {} and width {} are not divisible by {}", d[2], d[3], b)};
    }
    Dims merged{d[0], d[1] * b * b, d[2] / b, d[3] / b};
    Dims split{d[0], d[1], d[2] / b, b, d[3] / b, b};
    bool columns_first = c.string_attribute("mode") == "CRD";
    return columns_first ? permute_blocks(c, split, {0, 1, 3, 5, 2, 4}, merged)
                         : permute_blocks(c, split, {0, 3, 5, 1, 2, 4}, merged);
}

Status trilu(KernelContext& c) {
    int rank = c.rank(0);
    if (rank < 2) {
        return Error{fmt::format("rank {} is not a matrix", rank)};
    }
    int64_t k = 0;
    if (c.has_input(1)) {
        SDX_ASSIGN(k, c.int_scalar(1));
    }
    bool is_upper = c.int_attribute("upper") != 0;
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), c.dims(0)));
    int64_t rows = c.dims(0)[rank - 2];
    int64_t columns = c.dims(0)[rank - 1];
    if (out->count() == 0) {
        return {};
    }
    k = std::clamp(k, -rows, columns);
    return visit_width(c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        auto cut_rows = [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) {
                int64_t at = std::clamp<int64_t>(r % rows + k + (is_upper ? 0 : 1), 0, columns);
                const T* from = in + r * columns;
                T* to = result + r * columns;
                std::fill(to + (is_upper ? 0 : at), to + (is_upper ? at : columns), T{});
                std::copy(from + (is_upper ? at : 0), from + (is_upper ? columns : at),
                          to + (is_upper ? at : 0));
            }
        };
        parallel_for(c.threads(), out->count() / columns, items_per_task(8 * columns), cut_rows);
        return {};
    });
}

}  // namespace kernels
}  // namespace sardonyx::eval
