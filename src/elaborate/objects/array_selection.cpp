#include "elaborate/objects/array_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/object_lists.h"
#include "elaborate/objects/statics.h"
#include "lowering/literal.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr size_t kMostParts = 64;

// Python's slice.indices(); false: not by integers.
bool array_slice(const SliceObject& slice, int64_t size, int64_t& start, int64_t& step,
                 int64_t& count) {
    auto is_bound = [](const Object& one) { return one.is_none() || one.is_integer(); };
    if (!is_bound(slice.lower) || !is_bound(slice.upper) || !is_bound(slice.step)) {
        return false;
    }
    step = slice.step.is_none() ? 1 : slice.step.as_int();
    if (step == 0 || step == INT64_MIN) {
        return false;
    }
    int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    auto bound = [&](const Object& one, int64_t otherwise) {
        int64_t value = one.is_none() ? otherwise : one.as_int();
        return one.is_none() ? value : std::clamp(value < 0 ? value + size : value, least, most);
    };
    start = bound(slice.lower, step < 0 ? most : least);
    int64_t stop = bound(slice.upper, step < 0 ? least : most);
    count = RangeObject{start, stop, step}.size();
    return true;
}

// Integers and flags in lists.
struct IndexReader : ObjectLists {
    int64_t left = kMostElements;

    bool add(const Object& leaf, lowering::Literal& literal) {
        const Object number = plain_number(leaf);
        if (number.is(ObjectKind::kBool)) {
            literal.add_bool(number.as_bool());
        } else if (number.is(ObjectKind::kInt)) {
            literal.add_int(number.as_int());
        } else {
            return false;
        }
        return --left >= 0;
    }
};

// A list or array that selects elements, as INT64 or BOOL.
std::optional<Tensor> index_array(const Object& part) {
    if (part.is(ObjectKind::kConstant)) {
        const Tensor& array = part.get<Tensor>();
        return array.rank() == 0                            ? std::nullopt
               : array.element_type() == ElementType::kBool ? std::optional(array)
               : is_integer(array.element_type())           ? cast_array(array, ElementType::kInt64)
                                                            : std::nullopt;
    }
    IndexReader reader;
    if (!reader.is_list(part)) {
        return std::nullopt;
    }
    lowering::LiteralProblem problem;
    std::optional<lowering::Literal> list = lowering::read_literal(part, reader, problem);
    return list ? list->tensor(
                      ElementType::kUndefined, [&part] { return repr(part); }, problem)
                : std::nullopt;
}

// The elements along some axes: how far each lies from the first one.
struct Step {
    Dims dims;
    std::vector<int64_t> offsets{0};
};

// Reads the parts of an index from the left, each with the axes that it takes.
class Selector {
  public:
    Selector(Context& c, const Tensor& array, Range range)
        : c_(c), array_(array), strides_(array.dims().size()), range_(range) {
        int64_t stride = 1;
        for (size_t i = strides_.size(); i-- > 0; stride *= array.dims()[i]) {
            strides_[i] = stride;
        }
    }

    std::optional<Selection> read(std::vector<Object> parts) {
        size_t axes = 0;
        std::optional<size_t> dots;
        std::vector<std::optional<Tensor>> arrays;
        for (size_t i = 0; i < parts.size(); ++i) {
            parts[i] = plain_number(parts[i]);
            arrays.push_back(index_array(parts[i]));
            has_arrays_ |= arrays.back().has_value();
            bool is_dots = parts[i].is(ObjectKind::kEllipsis);
            if (is_dots && dots) {
                return std::nullopt;
            }
            dots = is_dots ? i : dots;
            axes += is_dots || parts[i].is_none() ? 0 : axes_of(arrays.back());
        }
        size_t rank = array_.dims().size();
        if (axes > rank) {
            return std::nullopt;
        }
        for (size_t i = 0; i < parts.size() && !selection_.is_error; ++i) {
            bool is_read = i == dots ? skip(rank - axes) : read(parts[i], arrays[i]);
            if (!is_read) {
                return std::nullopt;
            }
        }
        bool is_item = !dots && steps_.empty() && axes == rank;
        selection_.is_copy = has_arrays_ || is_item;
        return skip(rank - axis_) && join_steps() ? std::optional(std::move(selection_))
                                                  : std::nullopt;
    }

  private:
    static size_t axes_of(const std::optional<Tensor>& array) {
        return array && array->element_type() == ElementType::kBool
                   ? static_cast<size_t>(array->rank())
                   : 1;
    }

    bool read(const Object& part, const std::optional<Tensor>& array) {
        if (array && array->element_type() == ElementType::kBool) {
            return read_flags(*array);
        }
        if (array) {
            return read_array(*array);
        }
        if (part.is(ObjectKind::kInt)) {
            int64_t index = part.as_int();
            return read_array(Tensor::scalar<int64_t>(index));
        }
        follows_array_ = false;
        if (part.is_none()) {
            steps_.push_back({{1}, {0}});
            return steps_.size() <= kMostParts;
        }
        int64_t start = 0, step = 1, count = 1;
        if (!part.is(ObjectKind::kSlice) ||
            !array_slice(part.get<SliceObject>(), array_.dims()[axis_], start, step, count)) {
            return false;
        }
        Step made{{count}, {}};
        for (int64_t i = 0; i < count; ++i) {
            made.offsets.push_back((start + i * step) * strides_[axis_]);
        }
        steps_.push_back(std::move(made));
        ++axis_;
        return true;
    }

    // Axes that no part of the index names.
    bool skip(size_t count) {
        for (size_t i = 0; i < count; ++i) {
            read(Object::make(ObjectKind::kSlice,
                              SliceObject{Object::none(), Object::none(), Object::none()}),
                 std::nullopt);
        }
        follows_array_ = false;
        return true;
    }

    // Integers along one axis. Where arrays are among the parts, all of them are broadcast
    // together.
    bool read_array(const Tensor& indices) {
        int64_t size = array_.dims()[axis_], stride = strides_[axis_];
        ++axis_;
        std::optional<Broadcast> both = broadcast(chosen_.dims, indices.dims());
        if (!both) {
            return fail("indices whose shapes cannot be broadcast together");
        }
        if (both->left.size() > static_cast<size_t>(kMostElements)) {
            return false;
        }
        Step joined{both->dims, std::vector<int64_t>(both->left.size())};
        for (size_t i = 0; i < joined.offsets.size(); ++i) {
            int64_t index = indices.elements<int64_t>()[static_cast<size_t>(both->right[i])];
            if (index < -size || index >= size) {
                return fail(fmt::format("index {} of an axis of {}", index, size));
            }
            joined.offsets[i] = chosen_.offsets[static_cast<size_t>(both->left[i])] +
                                (index < 0 ? index + size : index) * stride;
        }
        is_apart_ |= chosen_at_ && !follows_array_;
        chosen_at_ = chosen_at_.value_or(steps_.size());
        follows_array_ = true;
        chosen_ = std::move(joined);
        return true;
    }

    // BOOL is the same as its nonzero(): a vector of integers for each of its axes.
    bool read_flags(const Tensor& flags) {
        for (size_t i = 0; i < flags.dims().size(); ++i) {
            if (flags.dims()[i] != array_.dims()[axis_ + i]) {
                return fail(fmt::format("{} flags for an axis of {}", flags.dims()[i],
                                        array_.dims()[axis_ + i]));
            }
        }
        int64_t inner = flags.count();
        for (int64_t size : Dims(flags.dims())) {
            inner = size != 0 ? inner / size : 0;
            std::vector<int64_t> places;
            for (int64_t i = 0; i < flags.count(); ++i) {
                if (flags.elements<bool>()[static_cast<size_t>(i)]) {
                    places.push_back(i / inner % size);
                }
            }
            if (!read_array(Tensor::of<int64_t>({static_cast<int64_t>(places.size())},
                                                std::span<const int64_t>(places)))) {
                return false;
            }
        }
        return true;
    }

    // What the arrays choose stands where they stand, or in front where other parts are among them.
    bool join_steps() {
        size_t at = has_arrays_ && !is_apart_ ? chosen_at_.value_or(0) : 0;
        steps_.insert(steps_.begin() + static_cast<int64_t>(at), std::move(chosen_));
        selection_.places = {0};
        for (const Step& step : steps_) {
            selection_.dims.insert(selection_.dims.end(), step.dims.begin(), step.dims.end());
            if (step.offsets.size() * selection_.places.size() >
                static_cast<size_t>(kMostElements)) {
                return false;
            }
            std::vector<int64_t> places;
            places.reserve(selection_.places.size() * step.offsets.size());
            for (int64_t place : selection_.places) {
                for (int64_t offset : step.offsets) {
                    places.push_back(place + offset);
                }
            }
            selection_.places = std::move(places);
        }
        return selection_.dims.size() <= kMostParts;
    }

    bool fail(std::string what) {
        if (!selection_.is_error) {
            refuse(c_, range_, std::move(what));
        }
        return selection_.is_error = true;
    }

    Context& c_;
    const Tensor& array_;
    std::vector<int64_t> strides_;
    Range range_;
    Selection selection_;
    std::vector<Step> steps_;  // of slices and None
    Step chosen_;              // of integers and arrays
    std::optional<size_t> chosen_at_;
    size_t axis_ = 0;
    bool has_arrays_ = false, follows_array_ = false, is_apart_ = false;
};

}  // namespace

std::optional<Selection> select_items(Context& c, const Tensor& array, const Object& index,
                                      Range range) {
    std::vector<Object> parts =
        index.is(ObjectKind::kTuple) ? index.items() : std::vector<Object>{index};
    return parts.size() <= kMostParts ? Selector(c, array, range).read(std::move(parts))
                                      : std::nullopt;
}

}  // namespace sardonyx::elaborate
