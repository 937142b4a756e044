// What x[...] = v means in ONNX, over any emitter (see operators.h): a new tensor, which is x but
// for the items that the subscript selects.
//
// The plan: everything is Expand; a mask with one value is Where; integers on the first axes, and
// one slice or index tensor on the first axis, are ScatterND; what is left writes at the places
// where the subscript finds the numbers 0, 1, 2, ... laid out as x is, by ScatterElements on the
// flat tensor. v is broadcast to what is selected, never the other way round. Where an index
// tensor names a place twice, NumPy says that the last value wins, and ONNX says nothing.
// Source: NumPy user guide, "Assigning values to indexed arrays".
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowering/subscript.h"

namespace sardonyx::lowering {

template <typename E>
class ItemAssignment {
  public:
    using Value = typename E::Value;
    using Item = SubscriptItem<Value>;

    ItemAssignment(E& e, Value target, std::vector<Item> items, Value update)
        : e_(e), target_(target), items_(std::move(items)), update_(update) {}

    Value run() {
        if (e_.opset() < 11) {
            return e_.fail("an assignment to items needs opset 11", "import opset11 or newer");
        }
        ElementType wanted = e_.element(target_), given = e_.element(update_);
        if (wanted != given && wanted != ElementType::kUndefined &&
            given != ElementType::kUndefined) {
            return e_.fail("a tensor of " + std::string(name(given)) +
                               " is assigned to items of a tensor of " + std::string(name(wanted)),
                           "cast it: `op.Cast(v, to=" + std::string(name(wanted)) + ".dtype)`");
        }
        if (!indices_fit()) {
            return {};
        }
        drop_whole_axes();
        if (items_.empty()) {
            return fit(shape_of(target_, 0));
        }
        if (std::all_of(items_.begin(), items_.end(), [this](const Item& item) {
                return item.kind == SubscriptKind::kIndex || is_scalar_index(item);
            })) {
            return one_place();
        }
        if (items_.size() == 1 && is_mask(items_[0])) {
            return mask();
        }
        if (items_.size() == 1 && items_[0].kind != SubscriptKind::kNewAxis) {
            return rows();
        }
        return anywhere();
    }

  private:
    // A shape, as numbers where all of it is known, else as a rank-1 INT64 tensor.
    struct Dims64 {
        std::optional<std::vector<int64_t>> known;
        Value tensor{};
        int rank = -1;
    };

    bool is_mask(const Item& item) {
        return item.kind == SubscriptKind::kTensor && e_.element(item.tensor) == ElementType::kBool;
    }
    bool is_scalar_index(const Item& item) {
        return item.kind == SubscriptKind::kTensor && !is_mask(item) && e_.rank(item.tensor) == 0;
    }
    static bool is_whole_axis(const Item& item) {
        return item.kind == SubscriptKind::kSlice && !item.lower && !item.upper && !item.step;
    }

    // The same errors as when the items are read.
    bool indices_fit() {
        int64_t consumed = 0;
        for (size_t i = 0; i < items_.size(); ++i) {
            SubscriptKind kind = items_[i].kind;
            if (kind == SubscriptKind::kIndex && consumed == static_cast<int64_t>(i) &&
                !index_fits(e_, target_, consumed, items_[i].index)) {
                return false;
            }
            if (kind != SubscriptKind::kEllipsis && kind != SubscriptKind::kNewAxis) {
                consumed += is_mask(items_[i]) ? std::max(e_.rank(items_[i].tensor), 1) : 1;
            }
        }
        int rank = e_.rank(target_);
        if (rank >= 0 && consumed > rank) {
            e_.fail("a tensor of rank " + std::to_string(rank) + " is indexed with " +
                        std::to_string(consumed) + " indices",
                    "use at most " + std::to_string(rank));
            return false;
        }
        return true;
    }

    // x[i, :] and x[i, ...] are x[i].
    void drop_whole_axes() {
        auto is_ellipsis = [](const Item& item) { return item.kind == SubscriptKind::kEllipsis; };
        bool has_ellipsis = std::any_of(items_.begin(), items_.end(), is_ellipsis);
        if (has_ellipsis && is_ellipsis(items_.back())) {
            items_.pop_back();
            has_ellipsis = std::any_of(items_.begin(), items_.end(), is_ellipsis);
        }
        while (!has_ellipsis && !items_.empty() && is_whole_axis(items_.back())) {
            items_.pop_back();
        }
    }

    // --- Shapes

    // Of a value, from an axis on.
    Dims64 shape_of(Value value, int64_t from) {
        Dims64 shape;
        int rank = e_.rank(value);
        if (rank >= 0) {
            shape.rank = rank - static_cast<int>(from);
            std::vector<int64_t> dims;
            for (int64_t axis = from; axis < rank && e_.dim(value, axis) >= 0; ++axis) {
                dims.push_back(e_.dim(value, axis));
            }
            if (static_cast<int>(dims.size()) == shape.rank) {
                shape.known = std::move(dims);
                return shape;
            }
        }
        shape.tensor = e_.emit("Shape", {value});
        if (from > 0) {
            shape.tensor = e_.emit(
                "Slice", {shape.tensor, e_.int64s({from}), e_.int64s({INT64_MAX}), e_.int64s({0})});
        }
        return shape;
    }

    Value as_tensor(const Dims64& shape) {
        return shape.known ? e_.int64s(*shape.known) : shape.tensor;
    }

    Dims64 joined(const Dims64& a, const Dims64& b) {
        Dims64 shape;
        shape.rank = a.rank < 0 || b.rank < 0 ? -1 : a.rank + b.rank;
        if (a.known && b.known) {
            shape.known = a.known;
            shape.known->insert(shape.known->end(), b.known->begin(), b.known->end());
            return shape;
        }
        if (b.known && b.known->empty()) {
            return a;
        }
        std::vector<Value> parts{as_tensor(a), as_tensor(b)};
        shape.tensor = e_.emit_variadic("Concat", parts, {ir::make_attribute("axis", int64_t{0})});
        return shape;
    }

    // Whether the value assigned can be stretched to the shape: NumPy also drops leading axes of
    // one. Nothing: it is not known.
    std::optional<bool> stretches(const Dims64& shape) {
        int rank = e_.rank(update_);
        if (rank <= 0) {
            return rank == 0 ? std::optional<bool>(true) : std::nullopt;
        }
        bool certain = shape.known.has_value();
        for (int64_t axis = 1; axis <= rank; ++axis) {
            int64_t size = e_.dim(update_, -axis);
            if (size == 1) {
                continue;
            }
            int64_t wanted = 1;
            if (!shape.known) {
                certain = false;
                continue;
            }
            if (axis <= static_cast<int64_t>(shape.known->size())) {
                wanted = (*shape.known)[shape.known->size() - static_cast<size_t>(axis)];
            }
            certain = certain && size >= 0;
            if (size >= 0 && size != wanted) {
                return false;
            }
        }
        return certain ? std::optional<bool>(true) : std::nullopt;
    }

    bool has_shape(const Dims64& shape) {
        bool same = shape.known && static_cast<int>(shape.known->size()) == e_.rank(update_);
        for (size_t i = 0; same && i < shape.known->size(); ++i) {
            same = e_.dim(update_, static_cast<int64_t>(i)) == (*shape.known)[i];
        }
        return same;
    }

    static std::string text(const std::vector<int64_t>& dims) {
        std::string result = "[";
        for (size_t i = 0; i < dims.size(); ++i) {
            result += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
        }
        return result + "]";
    }

    // The value assigned, in this shape.
    Value fit(const Dims64& shape) {
        std::optional<bool> stretch = stretches(shape);
        if (stretch == false) {
            std::vector<int64_t> given;
            for (int64_t axis = 0; axis < e_.rank(update_); ++axis) {
                given.push_back(e_.dim(update_, axis));
            }
            return e_.fail("a value of shape " + text(given) + " is assigned to items of shape " +
                               text(*shape.known),
                           "give a value that can be broadcast to that shape");
        }
        if (has_shape(shape)) {
            return items_.empty() ? e_.emit("Identity", {update_}) : update_;
        }
        Value wanted = as_tensor(shape);
        Value full = e_.emit("Expand", {update_, wanted});
        bool is_exact = stretch == true && shape.rank >= e_.rank(update_);
        // Expand may have stretched the other way, or have axes too many: Reshape refuses the one
        // and drops the other.
        return is_exact ? full : e_.emit("Reshape", {full, wanted});
    }

    // --- The forms

    Value as_int64(Value tensor) {
        return e_.element(tensor) == ElementType::kInt64
                   ? tensor
                   : e_.emit("Cast", {tensor},
                             {ir::make_attribute("to", static_cast<int64_t>(ElementType::kInt64))});
    }

    // x[i, j] = v, with integers and scalars.
    Value one_place() {
        std::vector<int64_t> numbers;
        std::vector<Value> parts;
        for (const Item& item : items_) {
            bool is_number = item.kind == SubscriptKind::kIndex;
            numbers.push_back(item.index);
            parts.push_back(is_number
                                ? e_.int64s({item.index})
                                : e_.emit("Reshape", {as_int64(item.tensor), e_.int64s({1})}));
        }
        bool all_numbers = std::all_of(items_.begin(), items_.end(), [](const Item& item) {
            return item.kind == SubscriptKind::kIndex;
        });
        Value place =
            all_numbers ? e_.int64s(std::move(numbers))
            : parts.size() == 1
                ? parts[0]
                : e_.emit_variadic("Concat", parts, {ir::make_attribute("axis", int64_t{0})});
        Value update = fit(shape_of(target_, static_cast<int64_t>(items_.size())));
        return e_.emit("ScatterND", {target_, place, update});
    }

    // x[mask] = v: Where, if there is one value for all places.
    Value mask() {
        Value mask = items_[0].tensor;
        int rank = e_.rank(mask);
        if (!mask_fits(e_, target_, mask)) {
            return {};
        }
        if (e_.rank(update_) != 0 || rank < 0 || rank != e_.rank(target_)) {
            return anywhere();
        }
        return e_.emit("Where", {sized_mask(e_, target_, mask), update_, target_});
    }

    Value counted(Value count) {
        return e_.emit("Range", {e_.int64_scalar(0), count, e_.int64_scalar(1)});
    }

    // x[a:b] = v and x[indices] = v: whole rows.
    Value rows() {
        Value places{};
        if (items_[0].kind == SubscriptKind::kTensor) {
            places = as_int64(items_[0].tensor);
        } else {
            int64_t size = e_.dim(target_, 0);
            Value count =
                size >= 0 ? e_.int64_scalar(size)
                          : e_.emit("Gather", {e_.emit("Shape", {target_}), e_.int64_scalar(0)});
            places = lower_subscript(e_, counted(count), items_);
        }
        Value update = fit(joined(shape_of(places, 0), shape_of(target_, 1)));
        Value column = e_.opset() >= 13
                           ? e_.emit("Unsqueeze", {places, e_.int64s({-1})})
                           : e_.emit("Unsqueeze", {places},
                                     {ir::make_attribute("axes", std::vector<int64_t>{-1})});
        return e_.emit("ScatterND", {target_, column, update});
    }

    Value anywhere() {
        Value shape = as_tensor(shape_of(target_, 0));
        Value numbers = e_.emit("Reshape", {counted(e_.emit("Size", {target_})), shape});
        Value places = lower_subscript(e_, numbers, items_);
        Value update = fit(shape_of(places, 0));
        Value flat = e_.int64s({-1});
        Value result =
            e_.emit("ScatterElements",
                    {e_.emit("Reshape", {target_, flat}), e_.emit("Reshape", {places, flat}),
                     e_.emit("Reshape", {update, flat})},
                    {ir::make_attribute("axis", int64_t{0})});
        return e_.emit("Reshape", {result, shape});
    }

    E& e_;
    Value target_;
    std::vector<Item> items_;
    Value update_;
};

template <typename E>
typename E::Value lower_item_assignment(E& e, typename E::Value target,
                                        std::vector<SubscriptItem<typename E::Value>> items,
                                        typename E::Value update) {
    return ItemAssignment<E>(e, target, std::move(items), update).run();
}

}  // namespace sardonyx::lowering
