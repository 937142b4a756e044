// Operators that choose elements by indices or conditions, and that write to chosen places.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/movement.h"
#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/scratch.h"
#include "eval/loops/sorting.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

using AllTypes = Join<Join<NumbersAndBools, Strings>, Complexes>;

// Elements that make a task; so few are moved where they are.
constexpr int64_t kTaskMoves = 1 << 14;

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

// A copy of input 0 as output 0.
Result<Tensor*> copied_output(KernelContext& c) {
    SDX_ASSIGN(Tensor * out, c.output_over(0, 0, c.type(0), c.dims(0)));
    if (out->count() > 0 && !out->is_unique()) {
        return out;  // it is the input's own storage, which nobody needs
    }
    Dims count{out->count()};
    copy_strided(c.threads(), c.tensor(0), {0, {1}}, *out, {0, {1}}, count);
    return out;
}

// Runs of a tensor: `run` elements from outer * outer_step + at[p] * step on, for each p of each
// `outer`.
struct RunPlaces {
    int64_t outer = 1, outer_step = 0;
    std::span<const int64_t> at;
    int64_t step = 1, run = 1;
};

template <typename T>
SDX_CLONES void copy_single(const T* __restrict in, const int64_t* __restrict at, int64_t n,
                            int64_t step, T* __restrict out) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = in[at[i] * step];
    }
}

// The runs of `data`, one behind the other.
void take_runs(const Workers& threads, const Tensor& data, const RunPlaces& places, Tensor* out) {
    if (out->count() == 0) {
        return;
    }
    auto n = static_cast<int64_t>(places.at.size());
    Status status = visit_width(data.element_type(), [&]<typename T>() -> Status {
        const T* in = data.elements<T>().data();
        T* target = out->mutable_elements<T>().data();
        int64_t runs = std::max<int64_t>(1, kTaskMoves / places.run);
        parallel_for(threads, places.outer * n, runs, [&](int64_t begin, int64_t end) {
            while (begin < end) {
                int64_t first = begin % n;
                int64_t count = std::min(n - first, end - begin);
                const T* from = in + begin / n * places.outer_step;
                const int64_t* at = places.at.data() + first;
                T* to = target + begin * places.run;
                if (places.run == 1) {
                    copy_single(from, at, count, places.step, to);
                }
                for (int64_t i = 0; i < count && places.run > 1; ++i) {
                    const T* start = from + at[i] * places.step;
                    std::copy(start, start + places.run, to + i * places.run);
                }
                begin += count;
            }
        });
        return {};
    });
    SDX_CHECK(status.ok());
}

// The slices of `data` at these indices along the axis of `view`, one behind the other.
void take_slices(const Workers& threads, const Tensor& data, const AxisView& view,
                 std::span<const int64_t> indices, Tensor* out) {
    take_runs(threads, data, {view.outer, view.n * view.inner, indices, view.inner, view.inner},
              out);
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

namespace {

// result[i] = chosen[i * steps[0]] ? left[i * steps[1]] : right[i * steps[2]]. Conditions are read
// as bytes, of which the compiler makes vectors.
template <typename T>
SDX_CLONES void choose(const uint8_t* chosen, const T* left, const T* right,
                       const std::array<int64_t, 4>& steps, T* result, int64_t n) {
    if (steps[0] == 1 && steps[1] == 1 && steps[2] == 1) {
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            const T a = left[i], b = right[i];  // read in any case, so that the loop is vectorised
            result[i] = chosen[i] != 0 ? a : b;
        }
    } else if (steps[0] == 1 && steps[1] == 0 && steps[2] == 1) {
        const T a = left[0];
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            const T b = right[i];
            result[i] = chosen[i] != 0 ? a : b;
        }
    } else if (steps[0] == 1 && steps[1] == 1 && steps[2] == 0) {
        const T b = right[0];
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            const T a = left[i];
            result[i] = chosen[i] != 0 ? a : b;
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            result[i] = chosen[i * steps[0]] != 0 ? left[i * steps[1]] : right[i * steps[2]];
        }
    }
}

}  // namespace

Status where(KernelContext& c) {
    const Tensor& condition = c.tensor(0);
    const Tensor& a = c.tensor(1);
    const Tensor& b = c.tensor(2);
    SDX_ASSIGN(Dims both, broadcast_dims(a.dims(), b.dims()));
    SDX_ASSIGN(Dims dims, broadcast_dims(condition.dims(), both));
    SDX_ASSIGN(Tensor * out, c.output(0, a.element_type(), dims));
    StridedWalk<4> walk(
        dims, {broadcast_strides(condition.dims(), dims), broadcast_strides(a.dims(), dims),
               broadcast_strides(b.dims(), dims), row_major_strides(dims)});
    return visit_width(a.element_type(), [&]<typename T>() -> Status {
        const auto* chosen = reinterpret_cast<const uint8_t*>(condition.bytes().data());
        const T* left = a.elements<T>().data();
        const T* right = b.elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        walk.for_each_row([&](const auto& at, const auto& step, int64_t n) {
            parallel_for(c.threads(), n, kTaskMoves, [&](int64_t begin, int64_t end) {
                choose(chosen + at[0] + begin * step[0], left + at[1] + begin * step[1],
                       right + at[2] + begin * step[2], step, result + at[3] + begin, end - begin);
            });
        });
        return {};
    });
}

Status compress(KernelContext& c) {
    Tensor data = c.tensor(0);
    int axis = 0;
    if (c.has_attribute("axis")) {
        SDX_ASSIGN(axis, c.axis(c.int_attribute("axis"), data.rank()));
    } else {
        data = data.reshaped({data.count()});
    }
    AxisView view = axis_view(data.dims(), axis);
    std::vector<int64_t> chosen;
    std::span<const bool> condition = c.tensor(1).elements<bool>();
    auto conditions = static_cast<int64_t>(condition.size());
    in_turns(c.threads(), conditions, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            if (condition[i]) {
                chosen.push_back(i);
            }
        }
    });
    if (!chosen.empty() && chosen.back() >= view.n) {
        return Error{fmt::format("the condition chooses element {} of an axis of size {}",
                                 chosen.back(), view.n)};
    }
    Dims dims = data.dims();
    dims[axis] = static_cast<int64_t>(chosen.size());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    take_slices(c.threads(), data, view, chosen, out);
    return {};
}

Status non_zero(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    // Of a scalar, one place without coordinates: [0, 1] or [0, 0].
    const Dims& dims = data.dims();
    std::vector<int64_t> places;
    Status status = visit(AllTypes{}, data.element_type(), [&]<typename T>() -> Status {
        std::span<const T> elements = data.elements<T>();
        in_turns(c.threads(), data.count(), kPolled, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                bool is_zero;
                if constexpr (std::is_same_v<T, std::string>) {
                    is_zero = elements[i].empty();
                } else {
                    is_zero = static_cast<Compute<T>>(elements[i]) == Compute<T>(0);
                }
                if (!is_zero) {
                    places.push_back(i);
                }
            }
        });
        return check_interrupt(c.options());
    });
    SDX_TRY(status);
    int64_t rank = static_cast<int64_t>(dims.size());
    int64_t count = static_cast<int64_t>(places.size());
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kInt64, {rank, count}));
    Dims strides = row_major_strides(dims);
    std::span<int64_t> target = out->mutable_elements<int64_t>();
    for (int64_t d = 0; d < rank; ++d) {
        in_turns(c.threads(), count, kPolled, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                target[d * count + i] = places[i] / strides[d] % dims[d];
            }
        });
    }
    return {};
}

Status one_hot(KernelContext& c) {
    const Tensor& values = c.tensor(2);
    SDX_ASSIGN(double depth_value, c.real_scalar(1));
    int64_t depth = saturate<int64_t>(depth_value);
    if (depth < 1 || values.count() != 2) {
        return Error{"the depth must be positive, and values must be two"};
    }
    // Version 9 does not count from the end.
    int64_t lowest = c.version() < 11 ? 0 : -depth;
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), c.rank(0) + 1));
    Dims dims = c.dims(0);
    dims.insert(dims.begin() + axis, depth);
    SDX_ASSIGN(Tensor indices, cast_tensor(c, c.tensor(0), ElementType::kInt64));
    SDX_ASSIGN(Tensor * out, c.output(0, values.element_type(), dims));
    AxisView view = axis_view(dims, axis);
    std::span<const int64_t> in = indices.elements<int64_t>();
    return visit_width(values.element_type(), [&]<typename T>() -> Status {
        std::span<const T> off_on = values.elements<T>();
        std::span<T> target = out->mutable_elements<T>();
        in_turns(c.threads(), out->count(), 4 * kPolled, [&](int64_t begin, int64_t end) {
            std::fill(target.begin() + begin, target.begin() + end, off_on[0]);
        });
        in_turns(c.threads(), indices.count(), kPolled, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                int64_t index = in[i];
                // An index out of range has no element that is on.
                if (index < lowest || index >= depth) {
                    continue;
                }
                index += index < 0 ? depth : 0;
                target[(i / view.inner * depth + index) * view.inner + i % view.inner] = off_on[1];
            }
        });
        return {};
    });
}

Status reverse_sequence(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    int64_t batch_axis = c.int_attribute("batch_axis");
    int64_t time_axis = c.int_attribute("time_axis");
    bool are_axes = (batch_axis == 0 && time_axis == 1) || (batch_axis == 1 && time_axis == 0);
    if (data.rank() < 2 || !are_axes) {
        return Error{"the batch axis and the time axis must be 0 and 1 or 1 and 0"};
    }
    int64_t first = data.dims()[0];
    int64_t second = data.dims()[1];
    int64_t batch = batch_axis == 0 ? first : second;
    int64_t time = batch_axis == 0 ? second : first;
    std::span<const int64_t> lengths = c.tensor(1).elements<int64_t>();
    if (static_cast<int64_t>(lengths.size()) != batch) {
        return Error{fmt::format("{} lengths for a batch of {}", lengths.size(), batch)};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), data.dims()));
    int64_t run = product(std::span<const int64_t>(data.dims()).subspan(2));
    for (int64_t b = 0; b < batch; ++b) {
        SDX_TRY(check_interrupt(c.options()));
        if (lengths[b] < 0 || lengths[b] > time) {
            return Error{fmt::format("length {} is not within the {} steps", lengths[b], time)};
        }
        int64_t steps = std::max<int64_t>(1, kPolled / std::max<int64_t>(1, run));
        in_turns(c.threads(), run > 0 ? time : 0, steps, [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) {
                int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
                auto place = [&](int64_t step) {
                    return (batch_axis == 0 ? b * time + step : step * batch + b) * run;
                };
                copy_elements(data, place(from), *out, place(t), run);
            }
        });
    }
    return {};
}

// --- Unique --------------------------------------------------------------------------------------

namespace {

template <typename T>
int compare_numbers(T x, T y) {
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : (x != x) - (y != y);
}

// The slices of an axis, compared element by element. NaN comes last and equals no other.
template <typename T>
struct SliceOrder {
    const T* in;
    AxisView view;

    static int compare_elements(const T& a, const T& b) {
        if constexpr (std::is_same_v<T, std::string>) {
            return a.compare(b);
        } else if constexpr (kIsComplex<T>) {
            int order = compare_numbers(a.real(), b.real());
            return order != 0 ? order : compare_numbers(a.imag(), b.imag());
        } else {
            return compare_numbers(static_cast<Compute<T>>(a), static_cast<Compute<T>>(b));
        }
    }
    int compare(int64_t a, int64_t b) const {
        for (int64_t o = 0; o < view.outer; ++o) {
            for (int64_t i = 0; i < view.inner; ++i) {
                int order = compare_elements(in[(o * view.n + a) * view.inner + i],
                                             in[(o * view.n + b) * view.inner + i]);
                if (order != 0) {
                    return order;
                }
            }
        }
        return 0;
    }
};

struct UniqueSlices {
    std::vector<int64_t> first;    // where each distinct slice occurs first
    std::vector<int64_t> inverse;  // the distinct slice of each
    std::vector<int64_t> counts;
};

// An integer for each number, in the order of SliceOrder: equal numbers have equal ones. It has as
// many bits as the widest number of its kind.
template <typename Key, typename T>
Key order_key(const T& element) {
    auto x = static_cast<Compute<T>>(element);
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    if constexpr (std::is_floating_point_v<Compute<T>>) {
        if (x != x) {
            return static_cast<Key>(~Key{0});
        }
        using Float = std::conditional_t<sizeof(Key) == 4, float, double>;
        Key bits = std::bit_cast<Key>(static_cast<Float>(x) + Float{0});  // no negative zero
        return (bits & kSign) != 0 ? static_cast<Key>(~bits) : bits | kSign;
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<Key>(x) ^ kSign;
    } else {
        return static_cast<Key>(x);
    }
}

// A number and its place, to be sorted by the number alone.
struct LongKey {
    uint64_t sorted;
    int64_t at;

    template <typename T>
    static LongKey of(const T& element, int64_t place) {
        return {order_key<uint64_t>(element), place};
    }
    uint64_t key() const { return sorted; }
    int64_t place() const { return at; }
};
struct ShortKey {
    uint64_t both;  // the key is in the high half

    template <typename T>
    static ShortKey of(const T& element, int64_t place) {
        return {uint64_t{order_key<uint32_t>(element)} << 32 | static_cast<uint64_t>(place)};
    }
    uint32_t key() const { return static_cast<uint32_t>(both >> 32); }
    int64_t place() const { return static_cast<int64_t>(both & UINT32_MAX); }
};

// order[i] = i
bool count_up(const Workers& threads, int64_t n, int64_t* order) {
    return in_turns(threads, n, kPolled, [order](int64_t begin, int64_t end) {
        std::iota(order + begin, order + end, begin);
    });
}

// The same for single numbers. False: the run shall end.
template <typename Item, typename T>
bool number_order(const Workers& threads, const T* in, int64_t n, int64_t* order, uint8_t* is_new) {
    Scratch<Item> items(n);
    constexpr int kBits = 8 * sizeof(items.data()->key());
    return in_turns(threads, n, kPolled,
                    [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                            items.data()[i] = Item::of(in[i], i);
                        }
                    }) &&
           sort_by_bytes(threads, items.data(), n, 0, kBits,
                         [](const Item& item) { return item.key(); }) &&
           in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
               const Item* sorted = items.data();
               for (int64_t i = begin; i < end; ++i) {
                   order[i] = sorted[i].place();
                   is_new[i] = i == 0 || sorted[i].key() != sorted[i - 1].key() ? 1 : 0;
               }
           });
}

// The slices in their order, equal ones in the order of their places; for each whether it is unlike
// the one before it. False: the run shall end.
template <typename T>
bool slice_order(const Workers& threads, const SliceOrder<T>& slices, int64_t* order,
                 uint8_t* is_new) {
    int64_t n = slices.view.n;
    if constexpr (!std::is_same_v<T, std::string> && !kIsComplex<T>) {
        constexpr int64_t kFewSlices = 256;  // for which the tables of the bytes do not pay
        if (slices.view.outer == 1 && slices.view.inner == 1 && n > kFewSlices) {
            if constexpr (sizeof(T) <= sizeof(uint32_t)) {
                if (n <= UINT32_MAX) {
                    return number_order<ShortKey>(threads, slices.in, n, order, is_new);
                }
            }
            return number_order<LongKey>(threads, slices.in, n, order, is_new);
        }
    }
    return count_up(threads, n, order) &&
           sort_in_turns(threads, order, n,
                         [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; }) &&
           in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                   is_new[i] = i == 0 || slices.compare(order[i - 1], order[i]) != 0 ? 1 : 0;
               }
           });
}

// The same slices in the order of their first occurrence. False: the run shall end.
bool order_by_occurrence(const Workers& threads, UniqueSlices& unique) {
    size_t count = unique.first.size();
    Scratch<int64_t> position(static_cast<int64_t>(count));
    UniqueSlices result;
    result.first.reserve(count);
    result.counts.reserve(count);
    auto n = static_cast<int64_t>(unique.inverse.size());
    bool goes_on = in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t index = unique.inverse[i];
            if (unique.first[index] == i) {
                position.data()[index] = static_cast<int64_t>(result.first.size());
                result.first.push_back(i);
                result.counts.push_back(unique.counts[index]);
            }
            unique.inverse[i] = position.data()[index];
        }
    });
    unique.first = std::move(result.first);
    unique.counts = std::move(result.counts);
    return goes_on;
}

// Sorted, or in the order of their first occurrence; the inverse where it is asked for. When the
// run shall end, some of them.
template <typename T>
UniqueSlices find_unique(const Workers& threads, const SliceOrder<T>& slices, bool sorted,
                         bool with_inverse) {
    int64_t n = slices.view.n;
    Scratch<int64_t> order(n);
    Scratch<uint8_t> is_new(n);
    UniqueSlices unique;
    if (!slice_order(threads, slices, order.data(), is_new.data())) {
        return unique;
    }
    with_inverse = with_inverse || !sorted;
    unique.inverse.resize(with_inverse ? n : 0);
    bool goes_on = in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end;) {
            const int64_t start = i;
            if (is_new.data()[i] != 0) {
                unique.first.push_back(order.data()[i]);
                unique.counts.push_back(0);
            }
            const int64_t index = static_cast<int64_t>(unique.first.size()) - 1;
            do {
                if (with_inverse) {
                    unique.inverse[order.data()[i]] = index;
                }
            } while (++i < end && is_new.data()[i] == 0);
            unique.counts.back() += i - start;
        }
    });
    if (!sorted && goes_on) {
        order_by_occurrence(threads, unique);
    }
    return unique;
}

void set_list(KernelContext& c, size_t output, const std::vector<int64_t>& list) {
    if (c.wants(output)) {
        c.set_output(output, Tensor::of<int64_t>({static_cast<int64_t>(list.size())}, list));
    }
}

}  // namespace

Status unique(KernelContext& c) {
    Tensor data = c.tensor(0);
    int axis = 0;
    if (c.has_attribute("axis")) {
        SDX_ASSIGN(axis, c.axis(c.int_attribute("axis"), data.rank()));
    } else {
        data = data.reshaped({data.count()});
    }
    AxisView view = axis_view(data.dims(), axis);
    view.outer = view.inner == 0 ? 0 : view.outer;  // empty slices, however many rows they have
    UniqueSlices unique;
    bool sorted = c.int_attribute("sorted") != 0;
    SDX_TRY(visit(AllTypes{}, data.element_type(), [&]<typename T>() -> Status {
        unique = find_unique(c.threads(), SliceOrder<T>{data.elements<T>().data(), view}, sorted,
                             c.wants(2));
        return check_interrupt(c.options());
    }));
    Dims dims = data.dims();
    dims[axis] = static_cast<int64_t>(unique.first.size());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    take_slices(c.threads(), data, view, unique.first, out);
    for (auto [output, list] :
         {std::pair{1, &unique.first}, {2, &unique.inverse}, {3, &unique.counts}}) {
        SDX_TRY(check_interrupt(c.options()));
        set_list(c, output, *list);
    }
    return {};
}

}  // namespace sardonyx::eval::kernels
