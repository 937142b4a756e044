// What x[...] means in ONNX, over any emitter (see operators.h): NumPy's basic indexing with
// integers, slices, None and `...`, and its integer-tensor and mask indexing.
//
// The plan: one Unsqueeze puts in the new axes, and from there on every item but the ellipsis has
// an axis; all slices become one Slice; then integers and one integer tensor become Gathers, from
// the axis farthest from the ellipsis inwards so that no axis that is still to come has moved.
// Several index tensors become one GatherND; a mask beside other indices is as many index tensors
// as it has axes. Axes after an ellipsis count from the end, so the rank need not be known.
// Source: NumPy user guide, "Indexing on ndarrays".
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowering/operators.h"

namespace sardonyx::lowering {

// A number, or a tensor of rank 0 (or one element).
template <typename V>
struct SliceBound {
    std::optional<int64_t> number;
    V tensor{};
};

enum class SubscriptKind : uint8_t { kIndex, kSlice, kNewAxis, kEllipsis, kTensor };

// Whether a tensor of such elements can be an index.
inline bool is_index_type(ElementType type) {
    return is_integer(type) || type == ElementType::kBool;
}

template <typename V>
struct SubscriptItem {
    SubscriptKind kind = SubscriptKind::kIndex;
    int64_t index = 0;                                // kIndex
    V tensor{};                                       // kTensor: integers or BOOL
    std::optional<SliceBound<V>> lower, upper, step;  // kSlice; nothing: left out
};

// Whether NumPy gives a view for these items, in which an assignment is seen by the whole: integers
// and slices alone, not lists and masks.
template <typename E>
bool gives_view(E& e, const std::vector<SubscriptItem<typename E::Value>>& items) {
    return std::all_of(items.begin(), items.end(), [&e](const auto& item) {
        return item.kind != SubscriptKind::kTensor ||
               (e.rank(item.tensor) == 0 && is_integer(e.element(item.tensor)));
    });
}

template <typename E>
bool index_fits(E& e, const typename E::Value& value, int64_t axis, int64_t index) {
    int64_t size = e.dim(value, axis);
    if (size < 0 || (index < size && index >= -size)) {
        return true;
    }
    e.fail_index("index " + std::to_string(index) + " is out of range for an axis of " +
                     std::to_string(size),
                 size == 0 ? "the axis has no elements"
                           : "use " + std::to_string(-size) + " to " + std::to_string(size - 1));
    return false;
}

// Whether a mask has the dims of the axes that it selects from, as far as they are known; a mask of
// another size is an error in NumPy, where ONNX would broadcast it.
template <typename E>
bool mask_fits(E& e, const typename E::Value& value, const typename E::Value& mask,
               int64_t first = 0) {
    int rank = e.rank(mask);
    if (rank == 0) {
        e.fail("a mask of rank 0 as an index", "use `op.Where`");
        return false;
    }
    if (e.rank(value) >= 0 && rank + first > e.rank(value)) {
        e.fail("a tensor of rank " + std::to_string(e.rank(value)) +
                   " is indexed with a mask of rank " + std::to_string(rank),
               "give the mask at most " + std::to_string(e.rank(value)) + " axes");
        return false;
    }
    for (int axis = 0; axis < rank; ++axis) {
        int64_t size = e.dim(value, first + axis), given = e.dim(mask, axis);
        if (size >= 0 && given >= 0 && size != given) {
            e.fail_index(
                "a mask of " + std::to_string(given) + " for an axis of " + std::to_string(size),
                "give the mask the shape of what it selects from");
            return false;
        }
    }
    return true;
}

// The sizes of `count` axes of a value from `first` on, as a rank-1 INT64 tensor.
template <typename E>
typename E::Value sizes_of(E& e, const typename E::Value& value, int64_t first, int count) {
    std::vector<int64_t> sizes;
    for (int64_t axis = first; axis < first + count && e.dim(value, axis) >= 0; ++axis) {
        sizes.push_back(e.dim(value, axis));
    }
    if (static_cast<int>(sizes.size()) == count) {
        return e.int64s(std::move(sizes));
    }
    if (first == 0 && count == e.rank(value)) {
        return e.emit("Shape", {value});
    }
    if (e.opset() >= 15) {
        return e.emit(
            "Shape", {value},
            {ir::make_attribute("start", first), ir::make_attribute("end", first + count)});
    }
    return e.emit("Slice",
                  {e.emit("Shape", {value}), e.int64s({first}), e.int64s({first + count})});
}

// The mask of mask_fits(), which a run refuses where its axes turn out to be of other sizes than
// those that it selects from: NonZero and Where would read or broadcast a mask of another size.
template <typename E>
typename E::Value sized_mask(E& e, const typename E::Value& value, const typename E::Value& mask,
                             int64_t first = 0) {
    using Value = typename E::Value;
    int rank = e.rank(mask);
    bool same = rank >= 0;
    for (int axis = 0; axis < rank; ++axis) {
        same = same && e.same_dim(value, first + axis, mask, axis);
    }
    bool whole = first == 0 && (rank < 0 || rank == e.rank(value));
    if (same || (whole && e.same_shape(value, mask)) || (e.opset() < 10 && !whole)) {
        return mask;
    }
    Value sizes{};
    if (rank >= 0) {
        sizes = sizes_of(e, value, first, rank);
    } else {
        sizes = e.emit("Slice", {e.emit("Shape", {value}), e.int64s({0}),
                                 e.emit("Shape", {e.emit("Shape", {mask})})});
    }
    if (rank != 1) {
        // Reshape alone takes the same sizes in another order, or as other factors. With 1 added to
        // each size that differs the number of elements differs as well.
        Value given = e.emit("Shape", {mask});
        sizes = e.emit("Where", {e.emit("Equal", {sizes, given}), sizes,
                                 e.emit("Add", {given, e.int64s({1})})});
    }
    // An axis of size 0 is no dim to copy from the mask.
    return e.opset() >= 14
               ? e.emit("Reshape", {mask, sizes}, {ir::make_attribute("allowzero", int64_t{1})})
               : e.emit("Reshape", {mask, sizes});
}

template <typename E>
class SubscriptLowering {
  public:
    using Value = typename E::Value;
    using Item = SubscriptItem<Value>;

    SubscriptLowering(E& e, Value value, std::vector<Item> items)
        : e_(e), value_(value), items_(std::move(items)) {}

    Value run() {
        if (items_.size() == 1 && is_mask(items_[0])) {
            return mask();
        }
        if (!masks_fit() || !replace_masks() || !place_axes()) {
            return {};
        }
        apply_new_axes();
        if (!indices_are_in_range()) {
            return {};
        }
        apply_slices();
        if (failed_) {
            return {};
        }
        auto is_index_tensor = [this](const Item& item) {
            return item.kind == SubscriptKind::kTensor && e_.rank(item.tensor) != 0;
        };
        auto tensors = std::count_if(items_.begin(), items_.end(), is_index_tensor);
        if (tensors > 1 || (tensors == 1 && indices_are_apart())) {
            return several_tensors();
        }
        apply_gathers();
        return value_;
    }

  private:
    bool is_mask(const Item& item) {
        return item.kind == SubscriptKind::kTensor && e_.element(item.tensor) == ElementType::kBool;
    }
    static bool consumes_axis(const Item& item) {
        return item.kind != SubscriptKind::kNewAxis && item.kind != SubscriptKind::kEllipsis;
    }
    static bool is_index(const Item& item) {
        return item.kind == SubscriptKind::kIndex || item.kind == SubscriptKind::kTensor;
    }

    // Whether something else stands between integers and index tensors: then NumPy puts the axes
    // of the index tensors in front.
    bool indices_are_apart() const {
        auto first = std::find_if(items_.begin(), items_.end(), is_index);
        auto last = std::find_if(items_.rbegin(), items_.rend(), is_index).base();
        return !std::all_of(first, last, is_index);
    }

    // Masks beside other indices have the sides of the axes that they stand for.
    bool masks_fit() {
        auto axes_of = [this](const Item& item) -> int64_t {
            return is_mask(item) ? std::max(e_.rank(item.tensor), 0) : consumes_axis(item) ? 1 : 0;
        };
        int64_t axis = 0;
        bool behind_ellipsis = false;
        for (size_t i = 0; i < items_.size(); ++i) {
            if (items_[i].kind == SubscriptKind::kEllipsis) {
                behind_ellipsis = true;
                axis = e_.rank(value_);
                for (size_t k = i + 1; k < items_.size(); ++k) {
                    axis -= axes_of(items_[k]);
                }
            }
            // Behind `...` the axes count from the end, which an unknown rank does not give.
            bool is_placed = axis >= 0 && !(behind_ellipsis && e_.rank(value_) < 0);
            if (is_placed && is_mask(items_[i]) && e_.rank(items_[i].tensor) > 0) {
                if (!mask_fits(e_, value_, items_[i].tensor, axis)) {
                    return false;
                }
                items_[i].tensor = sized_mask(e_, value_, items_[i].tensor, axis);
            }
            axis += axes_of(items_[i]);
        }
        return true;
    }

    // A mask of rank k beside other indices: the k rows of its NonZero are index tensors.
    bool replace_masks() {
        std::vector<Item> items;
        for (const Item& item : items_) {
            if (!is_mask(item)) {
                items.push_back(item);
                continue;
            }
            int rank = e_.rank(item.tensor);
            if (rank < 1) {
                e_.fail(rank < 0 ? "a mask whose rank is not known beside other indices"
                                 : "a mask of rank 0 as an index",
                        rank < 0 ? "annotate the mask with its shape" : "use `op.Where`");
                return false;
            }
            Value places = e_.emit("NonZero", {item.tensor});
            for (int64_t axis = 0; axis < rank; ++axis) {
                items.push_back(item);
                items.back().tensor = e_.emit("Gather", {places, e_.int64_scalar(axis)},
                                              {ir::make_attribute("axis", int64_t{0})});
            }
        }
        items_ = std::move(items);
        return true;
    }

    bool indices_are_in_range() {
        for (size_t i = 0; i < items_.size(); ++i) {
            if (items_[i].kind == SubscriptKind::kIndex &&
                !index_fits(e_, value_, axes_[i], items_[i].index)) {
                return false;
            }
        }
        return true;
    }

    // Gives every item its axis, new axes counted: from the front before the ellipsis, from the end
    // (negative) after it.
    bool place_axes() {
        auto first = std::find_if(items_.begin(), items_.end(), [](const Item& item) {
            return item.kind == SubscriptKind::kEllipsis;
        });
        ellipsis_ = static_cast<size_t>(first - items_.begin());
        auto rest = first == items_.end() ? first : first + 1;
        if (std::any_of(rest, items_.end(),
                        [](const Item& item) { return item.kind == SubscriptKind::kEllipsis; })) {
            e_.fail("a subscript with more than one `...`", "keep one of them");
            return false;
        }
        int consumed = static_cast<int>(std::count_if(items_.begin(), items_.end(), consumes_axis));
        int rank = e_.rank(value_);
        if (rank >= 0 && consumed > rank) {
            e_.fail("a tensor of rank " + std::to_string(rank) + " is indexed with " +
                        std::to_string(consumed) + " indices",
                    "use at most " + std::to_string(rank));
            return false;
        }
        axes_.assign(items_.size(), 0);
        int64_t axis = 0;
        for (size_t i = 0; i < ellipsis_; ++i) {
            axes_[i] = axis++;
        }
        axis = -1;
        for (size_t i = items_.size(); i-- > ellipsis_ + 1;) {
            axes_[i] = axis--;
        }
        return true;
    }

    Value concat(std::vector<SliceBound<Value>> bounds) {
        std::vector<int64_t> numbers;
        for (const SliceBound<Value>& bound : bounds) {
            if (bound.number) {
                numbers.push_back(*bound.number);
            }
        }
        if (numbers.size() == bounds.size()) {
            return e_.int64s(std::move(numbers));
        }
        std::vector<Value> parts;
        for (const SliceBound<Value>& bound : bounds) {
            parts.push_back(bound.number ? e_.int64s({*bound.number})
                                         : as_int64_vector(bound.tensor));
        }
        return concat(parts, 0);
    }

    Value concat(const std::vector<Value>& parts, int64_t axis) {
        return parts.size() == 1
                   ? parts[0]
                   : e_.emit_variadic("Concat", parts, {ir::make_attribute("axis", axis)});
    }

    Value as_int64_vector(Value tensor) {
        if (e_.element(tensor) != ElementType::kInt64) {
            tensor = e_.emit("Cast", {tensor},
                             {ir::make_attribute("to", static_cast<int64_t>(ElementType::kInt64))});
        }
        return e_.emit("Reshape", {tensor, e_.int64s({1})});
    }

    // Where a bound is left out, its number depends on the sign of the step.
    SliceBound<Value> default_bound(const SliceBound<Value>& step, int64_t forward,
                                    int64_t backward) {
        if (step.number) {
            return {*step.number > 0 ? forward : backward, {}};
        }
        Value is_forward = e_.emit("Greater", {as_int64_vector(step.tensor), e_.int64s({0})});
        return {std::nullopt,
                e_.emit("Where", {is_forward, e_.int64s({forward}), e_.int64s({backward})})};
    }

    // A slice that goes backwards from before the first element is empty in Python, where Slice
    // begins at the first element: it gets that as its end.
    void end_backwards(int64_t axis, const SliceBound<Value>& start, const SliceBound<Value>& step,
                       SliceBound<Value>* end) {
        int64_t size = e_.dim(value_, axis);
        bool is_forward = step.number && *step.number > 0;
        bool is_inside =
            start.number && (*start.number >= -1 || (size >= 0 && *start.number >= -size));
        if (is_forward || is_inside) {
            return;
        }
        if (start.number && step.number && size >= 0) {
            *end = {0, {}};
            return;
        }
        Value length = e_.emit("Gather", {e_.emit("Shape", {value_}), e_.int64s({axis})});
        Value is_before = e_.emit("Less", {as_vector(start), e_.emit("Neg", {length})});
        if (!step.number) {
            Value is_backward = e_.emit("Less", {as_vector(step), e_.int64s({0})});
            is_before = e_.emit("And", {is_before, is_backward});
        }
        *end = {std::nullopt, e_.emit("Where", {is_before, e_.int64s({0}), as_vector(*end)})};
    }

    Value as_vector(const SliceBound<Value>& bound) {
        return bound.number ? e_.int64s({*bound.number}) : as_int64_vector(bound.tensor);
    }

    void apply_slices() {
        std::vector<SliceBound<Value>> starts, ends, steps;
        std::vector<int64_t> axes;
        bool unit_steps = true;
        for (size_t i = 0; i < items_.size(); ++i) {
            const Item& item = items_[i];
            if (item.kind != SubscriptKind::kSlice || (!item.lower && !item.upper && !item.step)) {
                continue;
            }
            SliceBound<Value> step = item.step.value_or(SliceBound<Value>{1, {}});
            if (step.number && *step.number == 0) {
                e_.fail("a slice with step 0", "use a step other than 0");
                failed_ = true;
                return;
            }
            unit_steps = unit_steps && step.number && *step.number == 1;
            starts.push_back(item.lower ? *item.lower : default_bound(step, 0, INT64_MAX));
            ends.push_back(item.upper ? *item.upper : default_bound(step, INT64_MAX, INT64_MIN));
            steps.push_back(step);
            axes.push_back(axes_[i]);
            if (item.lower && e_.opset() >= 10) {
                end_backwards(axes_[i], starts.back(), step, &ends.back());
            }
        }
        if (axes.empty()) {
            return;
        }
        if (e_.opset() < 10) {
            apply_static_slice(starts, ends, axes, unit_steps);
        } else if (unit_steps) {
            value_ = e_.emit("Slice", {value_, concat(starts), concat(ends), e_.int64s(axes)});
        } else {
            value_ = e_.emit(
                "Slice", {value_, concat(starts), concat(ends), e_.int64s(axes), concat(steps)});
        }
    }

    // Before opset 10 the bounds of Slice are attributes, and there are no steps.
    void apply_static_slice(const std::vector<SliceBound<Value>>& starts,
                            const std::vector<SliceBound<Value>>& ends, std::vector<int64_t> axes,
                            bool unit_steps) {
        std::vector<int64_t> lower, upper;
        for (size_t i = 0; i < starts.size(); ++i) {
            if (!starts[i].number || !ends[i].number || !unit_steps) {
                e_.fail("a slice with a step or with bounds that are tensors needs opset 10",
                        "import opset10 or newer");
                failed_ = true;
                return;
            }
            lower.push_back(*starts[i].number);
            upper.push_back(*ends[i].number);
        }
        value_ = e_.emit("Slice", {value_},
                         {ir::make_attribute("starts", std::move(lower)),
                          ir::make_attribute("ends", std::move(upper)),
                          ir::make_attribute("axes", std::move(axes))});
    }

    void gather(size_t i) {
        const Item& item = items_[i];
        if (item.kind == SubscriptKind::kIndex || item.kind == SubscriptKind::kTensor) {
            Value index = item.kind == SubscriptKind::kIndex ? e_.int64_scalar(item.index)
                                                             : gather_index(item.tensor);
            value_ = e_.emit("Gather", {value_, index}, {ir::make_attribute("axis", axes_[i])});
        }
    }

    // Gather takes INT32 and INT64 only.
    Value gather_index(Value tensor) {
        ElementType type = e_.element(tensor);
        if (type == ElementType::kInt64 || type == ElementType::kInt32 || !is_integer(type)) {
            return tensor;
        }
        return e_.emit("Cast", {tensor},
                       {ir::make_attribute("to", static_cast<int64_t>(ElementType::kInt64))});
    }

    void apply_gathers() {
        for (size_t i = ellipsis_; i-- > 0;) {
            gather(i);
        }
        for (size_t i = ellipsis_ + 1; i < items_.size(); ++i) {
            gather(i);
        }
    }

    void apply_new_axes() {
        std::vector<int64_t> axes;
        for (size_t i = 0; i < items_.size(); ++i) {
            if (items_[i].kind == SubscriptKind::kNewAxis) {
                axes.push_back(axes_[i]);
            }
        }
        if (!axes.empty()) {
            value_ = unsqueeze(value_, std::move(axes));
        }
    }

    Value unsqueeze(Value value, std::vector<int64_t> axes) {
        return e_.opset() >= 13
                   ? e_.emit("Unsqueeze", {value, e_.int64s(std::move(axes))})
                   : e_.emit("Unsqueeze", {value}, {ir::make_attribute("axes", std::move(axes))});
    }

    // x[mask]: the elements (or rows, for a mask of lower rank) where the mask holds.
    Value mask() {
        if (e_.opset() < 11) {
            return e_.fail("indexing with a mask needs opset 11", "import opset11 or newer");
        }
        Value mask = items_[0].tensor;
        if (!mask_fits(e_, value_, mask)) {
            return {};
        }
        mask = sized_mask(e_, value_, mask);
        Value places = e_.emit("Transpose", {e_.emit("NonZero", {mask})});
        return e_.emit("GatherND", {value_, places});
    }

    // Several index tensors, broadcast against each other: their axes go to the front, GatherND
    // takes them away, and what they leave stands at the first of them when they were adjacent,
    // else in front.
    Value several_tensors() {
        int rank = e_.rank(value_);
        if (e_.opset() < 11) {
            return e_.fail("several index tensors need opset 11", "import opset11 or newer");
        }
        std::vector<int64_t> indexed, others;
        std::vector<Value> indices;
        bool leading = true;
        for (size_t i = 0; i < items_.size(); ++i) {
            const Item& item = items_[i];
            if (is_index(item)) {
                leading = leading && axes_[i] == static_cast<int64_t>(indexed.size());
                indexed.push_back(axes_[i] < 0 ? axes_[i] + rank : axes_[i]);
                indices.push_back(item.kind == SubscriptKind::kIndex ? e_.int64_scalar(item.index)
                                                                     : as_int64(item.tensor));
            }
        }
        if (leading) {
            return e_.emit("GatherND", {value_, stack(indices)});  // whatever the ranks are
        }
        if (rank < 0) {
            return e_.fail("several index tensors on a tensor whose rank is not known",
                           "annotate the tensor with its shape");
        }
        for (int64_t axis = 0; axis < rank; ++axis) {
            if (std::find(indexed.begin(), indexed.end(), axis) == indexed.end()) {
                others.push_back(axis);
            }
        }
        int index_rank = 0;
        for (const Value& index : indices) {
            if (e_.rank(index) < 0) {
                return e_.fail("several index tensors, one of unknown rank",
                               "annotate the index tensors with their shapes");
            }
            index_rank = std::max(index_rank, e_.rank(index));
        }
        std::vector<int64_t> order = indexed;
        order.insert(order.end(), others.begin(), others.end());
        Value moved = e_.emit("Transpose", {value_}, {ir::make_attribute("perm", order)});
        Value result = e_.emit("GatherND", {moved, stack(indices)});
        if (indices_are_apart() || indexed.front() == 0) {
            return result;
        }
        std::vector<int64_t> back;
        for (int64_t i = 0; i < indexed.front(); ++i) {
            back.push_back(index_rank + i);
        }
        for (int64_t i = 0; i < index_rank; ++i) {
            back.push_back(i);
        }
        for (int64_t i = indexed.front(); i < static_cast<int64_t>(others.size()); ++i) {
            back.push_back(index_rank + i);
        }
        return e_.emit("Transpose", {result}, {ir::make_attribute("perm", back)});
    }

    Value as_int64(Value tensor) {
        if (e_.element(tensor) == ElementType::kInt64) {
            return tensor;
        }
        return e_.emit("Cast", {tensor},
                       {ir::make_attribute("to", static_cast<int64_t>(ElementType::kInt64))});
    }

    // Index tensors broadcast to one shape and stacked along a new last axis.
    Value stack(const std::vector<Value>& indices) {
        Value zeros{};
        if (indices.size() > 1) {
            Value sum = indices[0];
            for (size_t i = 1; i < indices.size(); ++i) {
                sum = e_.emit("Add", {sum, indices[i]});
            }
            zeros = e_.emit("Mul", {sum, e_.int64_scalar(0)});  // of the common shape
        }
        std::vector<Value> columns;
        for (Value index : indices) {
            columns.push_back(
                unsqueeze(indices.size() > 1 ? e_.emit("Add", {index, zeros}) : index, {-1}));
        }
        return concat(columns, -1);
    }

    E& e_;
    Value value_;
    std::vector<Item> items_;
    std::vector<int64_t> axes_;
    size_t ellipsis_ = 0;
    bool failed_ = false;
};

template <typename E>
typename E::Value lower_subscript(E& e, typename E::Value value,
                                  std::vector<SubscriptItem<typename E::Value>> items) {
    return SubscriptLowering<E>(e, value, std::move(items)).run();
}

}  // namespace sardonyx::lowering
