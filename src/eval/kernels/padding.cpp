// Pad. What is inside goes to its place; then one axis after the other, from the last, is filled at
// both ends from what the output has by then: in runs that are copied, without a table of indices.
// The ends of the last axis are filled as its lines are copied, while they are in the cache.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

enum class PadMode : uint8_t { kConstant, kEdge, kReflect, kWrap };

PadMode pad_mode(std::string_view name) {
    return name == "edge"      ? PadMode::kEdge
           : name == "reflect" ? PadMode::kReflect
           : name == "wrap"    ? PadMode::kWrap
                               : PadMode::kConstant;
}

struct Pads {
    std::vector<int64_t> begin, end;  // for each axis
};

Result<Pads> pad_sizes(KernelContext& c) {
    int rank = c.rank(0);
    SDX_ASSIGN(auto given, list_argument(c, c.version() == 1 ? "paddings" : "pads", 1));
    std::vector<int64_t> list = std::move(given).value_or(std::vector<int64_t>());
    std::vector<int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    if (c.has_input(3)) {
        SDX_ASSIGN(axes, c.ints(3));
    }
    if (list.size() != 2 * axes.size()) {
        return Error{fmt::format("pads {} must have two sizes for each of {} axes", to_string(list),
                                 axes.size())};
    }
    Pads pads{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
    for (size_t i = 0; i < axes.size(); ++i) {
        SDX_ASSIGN(int axis, c.axis(axes[i], rank));
        pads.begin[axis] = list[i];
        pads.end[axis] = list[i + axes.size()];
    }
    return pads;
}

// The constant that Pad fills with: a tensor of one element of the data's type.
Result<Tensor> pad_constant(KernelContext& c) {
    if (c.version() < 11) {
        double value = c.float_attribute("value");
        return tensor_from_doubles(c.type(0), {}, {&value, 1});
    }
    if (!c.has_input(2)) {
        return Tensor::zeros(c.type(0), {});
    }
    if (c.tensor(2).count() != 1) {
        return Error{"the constant must be one element"};
    }
    return c.tensor(2);
}

Result<Dims> padded_dims(const KernelContext& c, const Pads& pads, PadMode mode) {
    const Dims& dims = c.dims(0);
    Dims padded;
    for (size_t d = 0; d < dims.size(); ++d) {
        int64_t size = 0;
        if (__builtin_add_overflow(dims[d], pads.begin[d], &size) ||
            __builtin_add_overflow(size, pads.end[d], &size)) {
            return Error{"the padded size is too large"};
        }
        if (size < 0) {
            return Error{fmt::format("pads {} and {} take more than axis {} of {} has",
                                     pads.begin[d], pads.end[d], d, to_string(dims))};
        }
        padded.push_back(size);
        if (dims[d] == 0 && size > 0 && mode != PadMode::kConstant) {
            return Error{fmt::format("axis {} is empty: nothing to fill it from", d)};
        }
    }
    SDX_TRY(check_size(c.type(0), padded, c.options()));
    return padded;
}

// Neighbours of a padded axis whose sources are neighbours too, forward (1), backward (-1), or all
// the same place (0).
struct PadRun {
    int64_t source;
    int64_t step;
    int64_t count;
};

// The run that begins `index` places from the first of the axis's n own places; not of kConstant.
PadRun pad_run(PadMode mode, int64_t index, int64_t n) {
    if (mode == PadMode::kEdge || n == 1) {
        return {index < 0 ? 0 : n - 1, 0, INT64_MAX};
    }
    int64_t period = mode == PadMode::kWrap ? n : 2 * (n - 1);
    int64_t at = (index % period + period) % period;
    if (mode == PadMode::kWrap) {
        return {at, 1, n - at};
    }
    return at < n - 1 ? PadRun{at, 1, n - 1 - at} : PadRun{period - at, -1, period - at};
}

// The middle axis of out[outer, size, block], whose places [low, high) are done.
struct PaddedAxis {
    PadMode mode;
    int64_t low, high, size, block;

    // Fills places [begin, end), which are on one side of those that are done.
    template <typename T>
    void fill(const Workers& threads, T* axis, int64_t begin, int64_t end,
              const T& constant) const {
        int64_t places = std::max<int64_t>(1, 4 * kPolled / std::max<int64_t>(1, block));
        in_turns(threads, end - begin, places, [&](int64_t first, int64_t last) {
            fill_part(axis, begin + first, begin + last, constant);
        });
    }
    template <typename T>
    void fill_part(T* axis, int64_t begin, int64_t end, const T& constant) const {
        if (mode == PadMode::kConstant) {
            std::fill_n(axis + begin * block, (end - begin) * block, constant);
            return;
        }
        while (begin < end) {
            PadRun run = pad_run(mode, begin - low, high - low);
            int64_t count = std::min(run.count, end - begin);
            const T* source = axis + (low + run.source) * block;
            if (run.step == 1) {
                std::copy_n(source, count * block, axis + begin * block);
            } else if (block == 1) {
                for (int64_t i = 0; i < count; ++i) {
                    axis[begin + i] = source[i * run.step];
                }
            } else {
                for (int64_t i = 0; i < count; ++i) {
                    std::copy_n(source + i * run.step * block, block, axis + (begin + i) * block);
                }
            }
            begin += count;
        }
    }
    template <typename T>
    void fill_ends(const Workers& threads, T* axis, const T& constant) const {
        fill(threads, axis, 0, low, constant);
        fill(threads, axis, high, size, constant);
    }
};

// The lines along an axis `d`, one for each place of the axes before it that is done, [low, high)
// of each.
struct Lines {
    const Dims& low;
    const Dims& high;
    const ViewGeometry& to;
    const ViewGeometry& from;

    int64_t count(size_t d) const {
        int64_t outer = 1;
        for (size_t k = 0; k < d; ++k) {
            outer *= high[k] - low[k];
        }
        return outer;
    }
    // Calls body(where it begins in the output, where its inside begins in the input).
    template <typename Body>
    void for_each(size_t d, int64_t begin, int64_t end, const Body& body) const {
        Dims index(d);
        int64_t rest = begin, out = 0, in = from.offset;
        for (size_t k = d; k-- > 0; rest /= high[k] - low[k]) {
            int64_t inside = rest % (high[k] - low[k]);
            index[k] = low[k] + inside;
            out += index[k] * to.strides[k];
            in += inside * from.strides[k];
        }
        for (int64_t i = begin; i < end; ++i) {
            body(out, in);
            for (size_t k = d; k-- > 0;) {
                out += to.strides[k];
                in += from.strides[k];
                if (++index[k] < high[k]) {
                    break;
                }
                out -= (high[k] - low[k]) * to.strides[k];
                in -= (high[k] - low[k]) * from.strides[k];
                index[k] = low[k];
            }
        }
    }
};

// Both ends of axis `d` in all lines along it.
template <typename T>
void pad_axis(const Workers& threads, T* out, const Lines& lines, size_t d, const PaddedAxis& axis,
              const T& constant) {
    int64_t padding = (axis.size - (axis.high - axis.low)) * axis.block;
    parallel_for(threads, lines.count(d), items_per_task(padding), [&](int64_t begin, int64_t end) {
        lines.for_each(d, begin, end, [&](int64_t place, int64_t) {
            axis.fill_ends(threads, out + place, constant);
        });
    });
}

// The last axis: what is inside is copied, and both ends are filled.
template <typename T>
void pad_lines(const Workers& threads, const T* in, T* out, const Lines& lines,
               const PaddedAxis& axis, const T& constant) {
    size_t last = lines.low.size() - 1;
    parallel_for(threads, lines.count(last), items_per_task(axis.size),
                 [&](int64_t begin, int64_t end) {
                     lines.for_each(last, begin, end, [&](int64_t place, int64_t source) {
                         std::copy_n(in + source, axis.high - axis.low, out + place + axis.low);
                         axis.fill_ends(threads, out + place, constant);
                     });
                 });
}

// Padding and cutting off; where an axis has both, the mode must not need what is cut off.
Status pad_into(const KernelContext& c, const Pads& pads, PadMode mode, const Tensor& fill,
                Tensor* out) {
    const Dims &in = c.dims(0), &dims = out->dims();
    if (out->count() == 0) {
        return {};
    }
    size_t rank = dims.size();
    Dims low(rank), high(rank), inside(rank);
    ViewGeometry from{0, row_major_strides(in)}, to{0, row_major_strides(dims)};
    for (size_t d = 0; d < rank; ++d) {
        low[d] = std::clamp<int64_t>(pads.begin[d], 0, dims[d]);
        high[d] = std::clamp<int64_t>(pads.begin[d] + in[d], low[d], dims[d]);
        inside[d] = high[d] - low[d];
        from.offset += (low[d] - pads.begin[d]) * from.strides[d];
        to.offset += low[d] * to.strides[d];
    }
    Lines lines{low, high, to, from};
    // Long lines are copied in pieces, between which the run may end.
    bool by_lines = inside.back() < dims.back() && dims.back() <= kPolled && product(inside) > 0;
    if (!by_lines && product(inside) > 0) {
        copy_strided(c.threads(), c.tensor(0), from, *out, to, inside);
    }
    return visit_width(c.type(0), [&]<typename T>() -> Status {
        const T constant = fill.elements<T>()[0];
        T* result = out->mutable_elements<T>().data();
        for (size_t d = rank; d-- > 0;) {
            PaddedAxis axis{mode, low[d], high[d], dims[d], to.strides[d]};
            if (d == rank - 1 && by_lines) {
                pad_lines(c.threads(), c.tensor(0).elements<T>().data(), result, lines, axis,
                          constant);
            } else if (inside[d] < dims[d]) {
                pad_axis(c.threads(), result, lines, d, axis, constant);
            }
        }
        return {};
    });
}

}  // namespace

Status pad(KernelContext& c) {
    SDX_ASSIGN(Pads pads, pad_sizes(c));
    SDX_ASSIGN(Tensor fill, pad_constant(c));
    PadMode mode = pad_mode(c.string_attribute("mode"));
    SDX_ASSIGN(Dims dims, padded_dims(c, pads, mode));
    if (dims.empty()) {
        c.set_output(0, c.tensor(0));
        return {};
    }
    bool changes = false, cuts_what_it_adds = false;
    for (size_t d = 0; d < dims.size(); ++d) {
        bool adds = pads.begin[d] > 0 || pads.end[d] > 0;
        bool cuts = pads.begin[d] < 0 || pads.end[d] < 0;
        changes = changes || adds || cuts;
        cuts_what_it_adds = cuts_what_it_adds || (adds && cuts && mode != PadMode::kConstant);
    }
    if (!changes) {
        c.set_output(0, c.tensor(0));
        return {};
    }
    if (!cuts_what_it_adds) {
        SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), std::move(dims)));
        return pad_into(c, pads, mode, fill, out);
    }
    // What is cut off at one end of an axis may be what its other end is filled from.
    Pads added = pads;
    for (size_t d = 0; d < dims.size(); ++d) {
        added.begin[d] = std::max<int64_t>(pads.begin[d], 0);
        added.end[d] = std::max<int64_t>(pads.end[d], 0);
    }
    SDX_ASSIGN(Dims whole, padded_dims(c, added, mode));
    SDX_ASSIGN(Tensor all, c.scratch(c.type(0), std::move(whole)));
    SDX_TRY(pad_into(c, added, mode, fill, &all));
    ViewGeometry cut{0, row_major_strides(all.dims())};
    for (size_t d = 0; d < dims.size(); ++d) {
        cut.offset += (added.begin[d] - pads.begin[d]) * cut.strides[d];
    }
    SDX_ASSIGN(Tensor out, gather_view(c, all, cut, std::move(dims)));
    c.set_output(0, std::move(out));
    return {};
}

}  // namespace sardonyx::eval::kernels
