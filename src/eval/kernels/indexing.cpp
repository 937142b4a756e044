// Operators that choose elements by indices, and that write to chosen places.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "eval/kernels/cast.h"
#include "eval/kernels/take_slices.h"
#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/scratch.h"
#include "eval/loops/sorting.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

Error outside_axis(int64_t index, int64_t n) {
    return Error{fmt::format("index {} is out of range for an axis of size {}", index, n)};
}

// Input `i` as INT64 indices into an axis of size n, each made non-negative. Error: out of range.
Result<std::vector<int64_t>> indices_into(KernelContext& c, size_t i, int64_t n) {
    SDX_ASSIGN(Tensor wide, cast_tensor(c, c.tensor(i), ElementType::kInt64));
    std::span<const int64_t> given = wide.elements<int64_t>();
    std::vector<int64_t> indices;
    indices.reserve(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
        if (i % kPolled == 0) {
            SDX_TRY(check_interrupt(c.options()));
        }
        int64_t index = given[i];
        if (index < -n || index >= n) {
            return outside_axis(index, n);
        }
        indices.push_back(index + (index < 0 ? n : 0));
    }
    return indices;
}

// --- GatherElements and ScatterElements ----------------------------------------------------------

// Both pair element [o, i, k] of the index tensor with the element of the data at the same place,
// but for the axis, where the index says it.
struct ElementPairs {
    Tensor indices;              // INT64
    AxisView view;               // of the indices
    int64_t size = 0, step = 0;  // of the data's axis
    // Offsets of the places before and after the axis in the data.
    std::vector<int64_t> outer_at, inner_at;

    // Calls run(unit) for units of the index tensor that share no place of the data: all i of some
    // (o, k). Of those of one (o, i), each unit has `count` neighbours from `first` on.
    struct Unit {
        int64_t o, first, count;
    };
    template <typename Run>
    void for_each_unit(const Workers& threads, const Run& run) const {
        int64_t longest = std::clamp<int64_t>(kTaskMoves / std::max<int64_t>(1, view.n), 64,
                                              std::max<int64_t>(64, view.inner));
        int64_t pieces = (view.inner + longest - 1) / longest;
        int64_t elements = view.n * std::min(longest, view.inner);
        int64_t units = std::max<int64_t>(1, kTaskMoves / std::max<int64_t>(1, elements));
        parallel_for(threads, view.outer * pieces, units, [&](int64_t begin, int64_t end) {
            for (int64_t unit = begin; unit < end; ++unit) {
                int64_t first = unit % pieces * longest;
                run(Unit{unit / pieces, first, std::min(longest, view.inner - first)});
            }
        });
    }
};

// The offsets of all places of `dims` by `strides`, in row-major order.
std::vector<int64_t> place_offsets(std::span<const int64_t> dims,
                                   std::span<const int64_t> strides) {
    std::vector<int64_t> offsets{0}, longer;
    for (size_t d = 0; d < dims.size(); ++d) {
        longer.clear();
        longer.reserve(offsets.size() * dims[d]);
        for (int64_t offset : offsets) {
            for (int64_t i = 0; i < dims[d]; ++i) {
                longer.push_back(offset + i * strides[d]);
            }
        }
        offsets.swap(longer);
    }
    return offsets;
}

Result<ElementPairs> element_pairs(KernelContext& c, const Dims& data, size_t index_input,
                                   int axis) {
    const Dims& dims = c.dims(index_input);
    if (dims.size() != data.size()) {
        return Error{
            fmt::format("data {} and indices {} differ in rank", to_string(data), to_string(dims))};
    }
    for (size_t d = 0; d < dims.size(); ++d) {
        if (static_cast<int>(d) != axis && dims[d] > data[d]) {
            return Error{fmt::format("indices {} do not fit into data {}", to_string(dims),
                                     to_string(data))};
        }
    }
    ElementPairs pairs;
    SDX_ASSIGN(pairs.indices, cast_tensor(c, c.tensor(index_input), ElementType::kInt64));
    if (pairs.indices.count() == 0) {
        pairs.view = {0, 0, 0};
        return pairs;
    }
    if (data[axis] == 0) {
        return outside_axis(pairs.indices.elements<int64_t>()[0], 0);
    }
    Dims strides = row_major_strides(data);
    pairs.view = axis_view(dims, axis);
    pairs.size = data[axis];
    pairs.step = strides[axis];
    std::span<const int64_t> all(dims), steps(strides);
    pairs.outer_at = place_offsets(all.first(axis), steps.first(axis));
    pairs.inner_at = place_offsets(all.subspan(axis + 1), steps.subspan(axis + 1));
    return pairs;
}

// target[i] = use(offset of the element that index i says, from at[i] on), `at` null: from 0 on.
// False: an index is out of range.
template <typename T, typename Use>
[[gnu::always_inline]] inline bool pair_run(const ElementPairs& pairs, const int64_t* indices,
                                            const int64_t* at, int64_t n, T* target,
                                            const Use& use) {
    const int64_t size = pairs.size, step = pairs.step;
    int64_t outside = 0;
    for (int64_t i = 0; i < n; ++i) {
        int64_t index = indices[i] + (indices[i] < 0 ? size : 0);
        bool is_inside = static_cast<uint64_t>(index) < static_cast<uint64_t>(size);
        outside |= is_inside ? 0 : 1;
        index = is_inside ? index : 0;
        target[i] = use(index * step + (at == nullptr ? 0 : at[i]));
    }
    return outside == 0;
}

template <typename T>
SDX_CLONES bool gather_run(const ElementPairs& pairs, const int64_t* __restrict indices,
                           const int64_t* __restrict at, int64_t n, const T* __restrict in,
                           T* __restrict target) {
    auto read = [in](int64_t offset) __attribute__((always_inline)) {
        return in[offset];
    };
    return at == nullptr ? pair_run(pairs, indices, nullptr, n, target, read)
                         : pair_run(pairs, indices, at, n, target, read);
}

SDX_CLONES bool offset_run(const ElementPairs& pairs, const int64_t* __restrict indices,
                           const int64_t* __restrict at, int64_t n, int64_t start,
                           int64_t* __restrict target) {
    auto place = [start](int64_t offset) __attribute__((always_inline)) {
        return start + offset;
    };
    return at == nullptr ? pair_run(pairs, indices, nullptr, n, target, place)
                         : pair_run(pairs, indices, at, n, target, place);
}

// Calls run(first index, its `at`, how many, offset of the place) for all runs of neighbours.
template <typename Run>
Status for_each_pair_run(const ElementPairs& pairs, const Workers& threads, const Run& run) {
    std::atomic<bool> valid = true;
    const AxisView& view = pairs.view;
    pairs.for_each_unit(threads, [&](const ElementPairs::Unit& unit) {
        int64_t start = pairs.outer_at[unit.o];
        bool fits = true;
        int64_t lines = std::max<int64_t>(1, kPolled / (view.inner == 1 ? 1 : unit.count));
        in_turns(threads, view.n, lines, [&](int64_t begin, int64_t end) {
            if (view.inner == 1) {
                fits &= run(unit.o * view.n + begin, nullptr, end - begin, start);
            }
            for (int64_t i = begin; i < end && view.inner != 1; ++i) {
                fits &= run((unit.o * view.n + i) * view.inner + unit.first,
                            pairs.inner_at.data() + unit.first, unit.count, start);
            }
        });
        if (!fits) {
            valid = false;
        }
    });
    if (!valid) {
        for (int64_t index : pairs.indices.elements<int64_t>()) {
            if (index < -pairs.size || index >= pairs.size) {
                return outside_axis(index, pairs.size);
            }
        }
    }
    return {};
}

// --- GatherND and ScatterND ----------------------------------------------------------------------

// The data as slices that index tuples point at: `depth` dims after the first `batch` ones are
// indexed, and the rest is one slice.
struct SliceTable {
    std::vector<int64_t> offsets;  // of the slice for each tuple
    int64_t slice = 1;             // elements
};

Result<SliceTable> slice_table(KernelContext& c, const Dims& data, size_t index_input,
                               int64_t batch) {
    const Dims& dims = c.dims(index_input);
    int64_t rank = static_cast<int64_t>(data.size());
    int64_t index_rank = static_cast<int64_t>(dims.size());
    if (index_rank == 0 || batch < 0 || batch >= index_rank || batch > rank ||
        dims.back() > rank - batch) {
        return Error{fmt::format("indices {} do not fit into data {} with {} batch dimensions",
                                 to_string(dims), to_string(data), batch)};
    }
    for (int64_t d = 0; d < batch; ++d) {
        if (dims[d] != data[d]) {
            return Error{fmt::format("batch dimensions of data {} and indices {} differ",
                                     to_string(data), to_string(dims))};
        }
    }
    int64_t depth = dims.back();
    SDX_ASSIGN(Tensor wide, cast_tensor(c, c.tensor(index_input), ElementType::kInt64));
    std::span<const int64_t> indices = wide.elements<int64_t>();
    std::span<const int64_t> shape = data;
    Dims strides = row_major_strides(data);
    SliceTable table;
    table.slice = product(shape.subspan(batch + depth));
    int64_t tuples = product(std::span<const int64_t>(dims).first(index_rank - 1));
    int64_t batches = product(shape.first(batch));
    int64_t per_batch = batches == 0 ? 0 : tuples / batches;
    int64_t batch_stride = product(shape.subspan(batch));
    SDX_TRY(check_size(ElementType::kInt64, std::span<const int64_t>(&tuples, 1), c.options()));
    table.offsets.resize(tuples);
    std::atomic<bool> valid = true;
    parallel_for(c.threads(), tuples, items_per_task(8 * (depth + 1)),
                 [&](int64_t begin, int64_t end) {
                     int64_t in_batch = batches > 1 ? begin % per_batch : begin;
                     int64_t start = batches > 1 ? begin / per_batch * batch_stride : 0;
                     for (int64_t t = begin; t < end; ++t, ++in_batch) {
                         if (in_batch == per_batch) {
                             in_batch = 0;
                             start += batch_stride;
                         }
                         int64_t offset = start;
                         for (int64_t k = 0; k < depth; ++k) {
                             int64_t index = indices[t * depth + k];
                             int64_t n = shape[batch + k];
                             index += index < 0 ? n : 0;
                             if (index < 0 || index >= n) {
                                 valid = false;
                                 return;
                             }
                             offset += index * strides[batch + k];
                         }
                         table.offsets[t] = offset;
                     }
                 });
    SDX_TRY(check_interrupt(c.options()));  // the offsets are used
    for (int64_t i = 0; !valid && i < tuples * depth; ++i) {
        int64_t n = shape[batch + i % depth];
        if (indices[i] < -n || indices[i] >= n) {
            return outside_axis(indices[i], n);
        }
    }
    return table;
}

// --- What Scatter* do where they write -----------------------------------------------------------

struct ReduceAdd {
    template <typename T>
    T operator()(T old, T update) const {
        using W = Wrapping<T>;
        return static_cast<T>(static_cast<W>(old) + static_cast<W>(update));
    }
};

struct ReduceMul {
    template <typename T>
    T operator()(T old, T update) const {
        using W = Wrapping<T>;
        return static_cast<T>(static_cast<W>(old) * static_cast<W>(update));
    }
};

struct ReduceMax {
    template <typename T>
    T operator()(T old, T update) const {
        return update > old || update != update ? update : old;
    }
};

struct ReduceMin {
    template <typename T>
    T operator()(T old, T update) const {
        return update < old || update != update ? update : old;
    }
};

struct Overwrite {};

// Updates [first, first + count), of `run` elements each, of which [begin, end) are written:
// update p to the place at[p], in the order of the updates.
struct UpdatePart {
    const int64_t* at;
    int64_t first, count;
    int64_t run, begin, end;
};

using UpdateLoop = void (*)(const Tensor& updates, const UpdatePart& part, Tensor& target);

template <typename T, typename Op>
void update_loop(const Tensor& updates, const UpdatePart& part, Tensor& target) {
    using V = Compute<T>;
    [[maybe_unused]] const Op op{};
    const T* in = updates.elements<T>().data();
    T* out = target.mutable_elements<T>().data();
    for (int64_t p = part.first; p < part.first + part.count; ++p) {
        const T* from = in + p * part.run;
        T* to = out + part.at[p];
        if constexpr (std::is_same_v<Op, Overwrite>) {
            std::copy(from + part.begin, from + part.end, to + part.begin);
        } else {
            for (int64_t i = part.begin; i < part.end; ++i) {
                to[i] = static_cast<T>(op(static_cast<V>(to[i]), static_cast<V>(from[i])));
            }
        }
    }
}

template <typename Op, typename Types>
UpdateLoop update_loop_of(Types types, ElementType type) {
    return pick(types, type, []<typename T>() -> UpdateLoop { return &update_loop<T, Op>; });
}

Result<UpdateLoop> find_update_loop(const KernelContext& c) {
    std::string_view reduction = c.string_attribute("reduction");
    using Summable = Join<NumbersAndBools, Complexes>;
    UpdateLoop loop = reduction == "add"   ? update_loop_of<ReduceAdd>(Summable{}, c.type(0))
                      : reduction == "mul" ? update_loop_of<ReduceMul>(Summable{}, c.type(0))
                      : reduction == "max" ? update_loop_of<ReduceMax>(NumbersAndBools{}, c.type(0))
                      : reduction == "min"
                          ? update_loop_of<ReduceMin>(NumbersAndBools{}, c.type(0))
                          : update_loop_of<Overwrite>(Movable{}, movable_type(c.type(0)));
    if (loop == nullptr) {
        return unsupported_type(c.type(0));
    }
    return loop;
}

// A copy of input 0 as output 0. Updates that are the same tensor are read after places of it have
// been written, so that it may not be overwritten.
Result<Tensor*> copied_output(KernelContext& c) {
    bool are_updates = &c.tensor(0) == &c.tensor(2);
    SDX_ASSIGN(Tensor * out, are_updates ? c.output(0, c.type(0), c.dims(0))
                                         : c.output_over(0, 0, c.type(0), c.dims(0)));
    if (out->count() > 0 && !out->is_unique()) {
        return out;  // it is the input's own storage, which nobody needs
    }
    Dims count{out->count()};
    copy_strided(c.threads(), c.tensor(0), {0, {1}}, *out, {0, {1}}, count);
    return out;
}

}  // namespace

Status gather(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), data.rank()));
    AxisView view = axis_view(data.dims(), axis);
    SDX_ASSIGN(std::vector<int64_t> indices, indices_into(c, 1, view.n));
    Dims dims(data.dims().begin(), data.dims().begin() + axis);
    dims.insert(dims.end(), c.dims(1).begin(), c.dims(1).end());
    dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    take_slices(c.threads(), data, view, indices, out);
    return {};
}

Status gather_elements(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), data.rank()));
    SDX_ASSIGN(ElementPairs pairs, element_pairs(c, data.dims(), 1, axis));
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), c.dims(1)));
    return visit_width(data.element_type(), [&]<typename T>() -> Status {
        const T* in = data.elements<T>().data();
        T* target = out->mutable_elements<T>().data();
        const int64_t* indices = pairs.indices.elements<int64_t>().data();
        return for_each_pair_run(
            pairs, c.threads(), [&](int64_t p, const int64_t* at, int64_t count, int64_t start) {
                return gather_run(pairs, indices + p, at, count, in + start, target + p);
            });
    });
}

Status gather_nd(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    int64_t batch = c.int_attribute("batch_dims", 0);
    SDX_ASSIGN(SliceTable table, slice_table(c, data.dims(), 1, batch));
    Dims dims(c.dims(1).begin(), c.dims(1).end() - 1);
    dims.insert(dims.end(), data.dims().begin() + batch + c.dims(1).back(), data.dims().end());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    take_runs(c.threads(), data, {1, 0, table.offsets, 1, table.slice}, out);
    return {};
}

Status scatter_elements(KernelContext& c) {
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), c.rank(0)));
    if (c.dims(1) != c.dims(2)) {
        return Error{"indices and updates differ in shape"};
    }
    SDX_ASSIGN(UpdateLoop update, find_update_loop(c));
    SDX_ASSIGN(ElementPairs pairs, element_pairs(c, c.dims(0), 1, axis));
    Scratch<int64_t> at(c.tensor(1).count());
    const int64_t* indices = pairs.indices.elements<int64_t>().data();
    // All are looked at before the first is written: input 0 may be written over.
    SDX_TRY(for_each_pair_run(
        pairs, c.threads(), [&](int64_t p, const int64_t* inner_at, int64_t count, int64_t start) {
            return offset_run(pairs, indices + p, inner_at, count, start, at.data() + p);
        }));
    SDX_TRY(check_interrupt(c.options()));  // the offsets are used
    SDX_ASSIGN(Tensor * out, copied_output(c));
    return for_each_pair_run(pairs, c.threads(),
                             [&](int64_t p, const int64_t*, int64_t count, int64_t) {
                                 update(c.tensor(2), {at.data(), p, count, 1, 0, 1}, *out);
                                 return true;
                             });
}

Status scatter_nd(KernelContext& c) {
    SDX_ASSIGN(SliceTable table, slice_table(c, c.dims(0), 1, 0));
    Dims expected(c.dims(1).begin(), c.dims(1).end() - 1);
    expected.insert(expected.end(), c.dims(0).begin() + c.dims(1).back(), c.dims(0).end());
    if (c.dims(2) != expected) {
        return Error{fmt::format("updates {} should have shape {}", to_string(c.dims(2)),
                                 to_string(expected))};
    }
    SDX_ASSIGN(UpdateLoop update, find_update_loop(c));
    SDX_ASSIGN(Tensor * out, copied_output(c));
    // Along the slices, so that those of one place are written in their order.
    auto count = static_cast<int64_t>(table.offsets.size());
    int64_t piece = std::max<int64_t>(256, kTaskMoves / std::max<int64_t>(1, count));
    parallel_for(c.threads(), table.slice, piece, [&](int64_t begin, int64_t end) {
        int64_t updates = std::max<int64_t>(1, kPolled / (end - begin));
        in_turns(c.threads(), count, updates, [&](int64_t first, int64_t last) {
            update(c.tensor(2),
                   {table.offsets.data(), first, last - first, table.slice, begin, end}, *out);
        });
    });
    return {};
}

}  // namespace sardonyx::eval::kernels
