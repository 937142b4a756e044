// Operators that choose elements by conditions and lengths: Where, Compress, NonZero, OneHot,
// ReverseSequence.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
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

using AllTypes = Join<Join<NumbersAndBools, Strings>, Complexes>;

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
    if (c.rank(1) != 1) {
        return Error{fmt::format("input 1 (`condition`) must have rank 1, not {}", c.rank(1))};
    }
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

}  // namespace sardonyx::eval::kernels
