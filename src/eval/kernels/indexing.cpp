// Operators that choose elements by indices or conditions, and that write to chosen places.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/cast.h"
#include "eval/kernels/movement.h"
#include "eval/kernels/strided.h"
#include "eval/kernels/visit.h"

namespace sardonyx::eval::kernels {
namespace {

using AllTypes = Join<Join<NumbersAndBools, Strings>, Complexes>;

// Input `i` as INT64 indices into an axis of size n, each made non-negative. Error: out of range.
Result<std::vector<int64_t>> indices_into(KernelContext& c, size_t i, int64_t n) {
    SDX_ASSIGN(Tensor wide, cast_tensor(c, c.tensor(i), ElementType::kInt64));
    std::span<const int64_t> given = wide.elements<int64_t>();
    std::vector<int64_t> indices(given.begin(), given.end());
    for (int64_t& index : indices) {
        if (index < -n || index >= n) {
            return Error{fmt::format("index {} is out of range for an axis of size {}", index, n)};
        }
        index += index < 0 ? n : 0;
    }
    return indices;
}

// --- GatherElements and ScatterElements ----------------------------------------------------------

// Both pair element p of the index tensor with the element of the data at the same place, but for
// the axis, where the index says it. Calls use(p, offset into the data).
template <typename Use>
Status pair_elements(KernelContext& c, const Dims& data, size_t index_input, int axis, Use use) {
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
    SDX_ASSIGN(std::vector<int64_t> indices, indices_into(c, index_input, data[axis]));
    Dims data_strides = row_major_strides(data);
    Dims place(dims.size(), 0);
    for (size_t p = 0; p < indices.size(); ++p) {
        int64_t offset = 0;
        for (size_t d = 0; d < dims.size(); ++d) {
            offset += (static_cast<int>(d) == axis ? indices[p] : place[d]) * data_strides[d];
        }
        use(static_cast<int64_t>(p), offset);
        for (size_t d = dims.size(); d-- > 0 && ++place[d] == dims[d];) {
            place[d] = 0;
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
    table.offsets.reserve(tuples);
    for (int64_t t = 0; t < tuples; ++t) {
        int64_t offset = per_batch == 0 ? 0 : t / per_batch * batch_stride;
        for (int64_t k = 0; k < depth; ++k) {
            int64_t index = indices[t * depth + k];
            int64_t n = data[batch + k];
            if (index < -n || index >= n) {
                return Error{
                    fmt::format("index {} is out of range for an axis of size {}", index, n)};
            }
            offset += (index < 0 ? index + n : index) * strides[batch + k];
        }
        table.offsets.push_back(offset);
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

// Writes update p to target at(p), for all p, with `op` on what is there.
template <typename Types, typename Op>
Status write_reduced(Types types, Tensor& target, const Tensor& updates,
                     std::span<const int64_t> at, int64_t run, const Op& op) {
    return visit(types, target.element_type(), [&]<typename T>() -> Status {
        using V = Compute<T>;
        T* out = target.mutable_elements<T>().data();
        const T* in = updates.elements<T>().data();
        for (size_t p = 0; p < at.size(); ++p) {
            for (int64_t i = 0; i < run; ++i) {
                T& element = out[at[p] + i];
                element =
                    static_cast<T>(op(static_cast<V>(element), static_cast<V>(in[p * run + i])));
            }
        }
        return {};
    });
}

Status write_updates(KernelContext& c, Tensor& target, const Tensor& updates,
                     std::span<const int64_t> at, int64_t run) {
    std::string_view reduction = c.string_attribute("reduction");
    using Summable = Join<NumbersAndBools, Complexes>;
    if (reduction == "add") {
        return write_reduced(Summable{}, target, updates, at, run, ReduceAdd{});
    }
    if (reduction == "mul") {
        return write_reduced(Summable{}, target, updates, at, run, ReduceMul{});
    }
    if (reduction == "max") {
        return write_reduced(NumbersAndBools{}, target, updates, at, run, ReduceMax{});
    }
    if (reduction == "min") {
        return write_reduced(NumbersAndBools{}, target, updates, at, run, ReduceMin{});
    }
    for (size_t p = 0; p < at.size(); ++p) {
        copy_elements(updates, static_cast<int64_t>(p) * run, target, at[p], run);
    }
    return {};
}

// A copy of input 0 as output 0.
Result<Tensor*> copied_output(KernelContext& c) {
    SDX_ASSIGN(Tensor * out, c.output_over(0, 0, c.type(0), c.dims(0)));
    if (out->count() > 0 && !out->is_unique()) {
        return out;  // it is the input's own storage, which nobody needs
    }
    copy_elements(c.tensor(0), 0, *out, 0, out->count());
    return out;
}

// The slices of `data` at these indices along the axis of `view`, one behind the other.
void take_slices(const Tensor& data, const AxisView& view, const std::vector<int64_t>& indices,
                 Tensor* out) {
    int64_t target = 0;
    for (int64_t o = 0; o < view.outer && out->count() > 0; ++o) {
        for (int64_t index : indices) {
            copy_elements(data, (o * view.n + index) * view.inner, *out, target, view.inner);
            target += view.inner;
        }
    }
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
    take_slices(data, view, indices, out);
    return {};
}

Status gather_elements(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), data.rank()));
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), c.dims(1)));
    return visit_width(data.element_type(), [&]<typename T>() -> Status {
        const T* in = data.elements<T>().data();
        T* target = out->mutable_elements<T>().data();
        return pair_elements(c, data.dims(), 1, axis,
                             [&](int64_t p, int64_t offset) { target[p] = in[offset]; });
    });
}

Status gather_nd(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    int64_t batch = c.int_attribute("batch_dims", 0);
    SDX_ASSIGN(SliceTable table, slice_table(c, data.dims(), 1, batch));
    Dims dims(c.dims(1).begin(), c.dims(1).end() - 1);
    dims.insert(dims.end(), data.dims().begin() + batch + c.dims(1).back(), data.dims().end());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    int64_t target = 0;
    for (int64_t offset : table.offsets) {
        copy_elements(data, offset, *out, target, table.slice);
        target += table.slice;
    }
    return {};
}

Status scatter_elements(KernelContext& c) {
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), c.rank(0)));
    if (c.dims(1) != c.dims(2)) {
        return Error{"indices and updates differ in shape"};
    }
    std::vector<int64_t> at(c.tensor(1).count());
    SDX_TRY(
        pair_elements(c, c.dims(0), 1, axis, [&](int64_t p, int64_t offset) { at[p] = offset; }));
    SDX_ASSIGN(Tensor * out, copied_output(c));
    return write_updates(c, *out, c.tensor(2), at, 1);
}

Status scatter_nd(KernelContext& c) {
    SDX_ASSIGN(SliceTable table, slice_table(c, c.dims(0), 1, 0));
    Dims expected(c.dims(1).begin(), c.dims(1).end() - 1);
    expected.insert(expected.end(), c.dims(0).begin() + c.dims(1).back(), c.dims(0).end());
    if (c.dims(2) != expected) {
        return Error{fmt::format("updates {} should have shape {}", to_string(c.dims(2)),
                                 to_string(expected))};
    }
    SDX_ASSIGN(Tensor * out, copied_output(c));
    return write_updates(c, *out, c.tensor(2), table.offsets, table.slice);
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
    for (size_t i = 0; i < condition.size(); ++i) {
        if (condition[i]) {
            chosen.push_back(static_cast<int64_t>(i));
        }
    }
    if (!chosen.empty() && chosen.back() >= view.n) {
        return Error{fmt::format("the condition chooses element {} of an axis of size {}",
                                 chosen.back(), view.n)};
    }
    Dims dims = data.dims();
    dims[axis] = static_cast<int64_t>(chosen.size());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    take_slices(data, view, chosen, out);
    return {};
}

Status non_zero(KernelContext& c) {
    const Tensor& data = c.tensor(0);
    // A scalar counts as a tensor of one element.
    Dims dims = data.rank() == 0 ? Dims{1} : data.dims();
    std::vector<int64_t> places;
    Status status = visit(AllTypes{}, data.element_type(), [&]<typename T>() -> Status {
        std::span<const T> elements = data.elements<T>();
        for (size_t i = 0; i < elements.size(); ++i) {
            bool is_zero;
            if constexpr (std::is_same_v<T, std::string>) {
                is_zero = elements[i].empty();
            } else {
                is_zero = static_cast<Compute<T>>(elements[i]) == Compute<T>(0);
            }
            if (!is_zero) {
                places.push_back(static_cast<int64_t>(i));
            }
        }
        return {};
    });
    SDX_TRY(status);
    int64_t rank = static_cast<int64_t>(dims.size());
    int64_t count = static_cast<int64_t>(places.size());
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kInt64, {rank, count}));
    Dims strides = row_major_strides(dims);
    std::span<int64_t> target = out->mutable_elements<int64_t>();
    for (int64_t d = 0; d < rank; ++d) {
        for (int64_t i = 0; i < count; ++i) {
            target[d * count + i] = places[i] / strides[d] % dims[d];
        }
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
        std::fill(target.begin(), target.end(), off_on[0]);
        for (size_t i = 0; i < in.size(); ++i) {
            int64_t index = in[i];
            // An index out of range has no element that is on.
            if (index < lowest || index >= depth) {
                continue;
            }
            index += index < 0 ? depth : 0;
            int64_t o = static_cast<int64_t>(i) / view.inner;
            target[(o * depth + index) * view.inner + static_cast<int64_t>(i) % view.inner] =
                off_on[1];
        }
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
        if (lengths[b] < 0 || lengths[b] > time) {
            return Error{fmt::format("length {} is not within the {} steps", lengths[b], time)};
        }
        for (int64_t t = 0; t < time && run > 0; ++t) {
            int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
            auto place = [&](int64_t step) {
                return (batch_axis == 0 ? b * time + step : step * batch + b) * run;
            };
            copy_elements(data, place(from), *out, place(t), run);
        }
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

template <typename T>
UniqueSlices find_unique(const SliceOrder<T>& slices, bool sorted) {
    std::vector<int64_t> order(slices.view.n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
    UniqueSlices unique;
    unique.inverse.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || slices.compare(order[i - 1], order[i]) != 0) {
            unique.first.push_back(order[i]);
            unique.counts.push_back(0);
        }
        unique.inverse[order[i]] = static_cast<int64_t>(unique.first.size()) - 1;
        ++unique.counts.back();
    }
    if (sorted) {
        return unique;
    }
    // In the order of first occurrence.
    std::vector<int64_t> rank(unique.first.size());
    std::iota(rank.begin(), rank.end(), 0);
    std::sort(rank.begin(), rank.end(),
              [&](int64_t a, int64_t b) { return unique.first[a] < unique.first[b]; });
    UniqueSlices result;
    std::vector<int64_t> position(rank.size());
    for (size_t i = 0; i < rank.size(); ++i) {
        position[rank[i]] = static_cast<int64_t>(i);
        result.first.push_back(unique.first[rank[i]]);
        result.counts.push_back(unique.counts[rank[i]]);
    }
    for (int64_t index : unique.inverse) {
        result.inverse.push_back(position[index]);
    }
    return result;
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
        unique = find_unique(SliceOrder<T>{data.elements<T>().data(), view}, sorted);
        return {};
    }));
    Dims dims = data.dims();
    dims[axis] = static_cast<int64_t>(unique.first.size());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    int64_t target = 0;
    for (int64_t o = 0; o < view.outer && out->count() > 0; ++o) {
        for (int64_t index : unique.first) {
            copy_elements(data, (o * view.n + index) * view.inner, *out, target, view.inner);
            target += view.inner;
        }
    }
    set_list(c, 1, unique.first);
    set_list(c, 2, unique.inverse);
    set_list(c, 3, unique.counts);
    return {};
}

}  // namespace sardonyx::eval::kernels
