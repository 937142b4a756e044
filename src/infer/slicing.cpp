// Operators that cut tensors apart, put them together, or repeat them along axes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "infer/checks.h"
#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

struct SliceArguments {
    ListArgument starts;
    ListArgument ends;
    ListArgument axes;
    std::vector<Dim> steps;  // empty: all 1
    bool are_steps_known = true;
};

SliceArguments slice_arguments(const NodeContext& c) {
    SliceArguments result;
    result.starts = list_argument(c, "starts", 1);
    result.ends = list_argument(c, "ends", 2);
    result.axes = list_argument(c, "axes", 3);
    constexpr size_t kSteps = 4;
    if (c.has_input(kSteps)) {
        std::optional<std::vector<Dim>> steps = c.input_dims(kSteps);
        result.are_steps_known = steps.has_value();
        result.steps = steps.value_or(std::vector<Dim>{});
    }
    return result;
}

// The axes that are sliced, in the order of `starts`; nothing when they are not known.
std::optional<std::vector<int>> sliced_axes(NodeContext& c, const SliceArguments& arguments,
                                            int rank) {
    if (arguments.axes.is_given) {
        return normalize_axes(c, arguments.axes, rank);
    }
    const std::optional<std::vector<Dim>>& list =
        arguments.starts.values.has_value() ? arguments.starts.values : arguments.ends.values;
    if (!list.has_value()) {
        return std::nullopt;
    }
    if (list->size() > static_cast<size_t>(rank)) {
        arguments.starts.fail(c, kRankMismatch,
                              fmt::format("`Slice` has {} starts, and {} has rank {}", list->size(),
                                          c.input_name(0), rank));
        return std::nullopt;
    }
    std::vector<int> axes(list->size());
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

Dim element_or_unknown(const std::optional<std::vector<Dim>>& list, size_t i) {
    return list.has_value() && i < list->size() ? (*list)[i] : Dim();
}

bool check_slice_lengths(NodeContext& c, const SliceArguments& arguments) {
    const std::optional<std::vector<Dim>>& starts = arguments.starts.values;
    const std::optional<std::vector<Dim>>& ends = arguments.ends.values;
    if (starts.has_value() && ends.has_value() && starts->size() != ends->size()) {
        arguments.ends.fail(
            c, kShapeMismatch,
            fmt::format("`Slice` has {} starts and {} ends", starts->size(), ends->size()),
            "give one start and one end for each axis");
        return false;
    }
    return true;
}

// The elements start, start + step, ... of a one-dimensional input with contents.
void slice_contents(NodeContext& c, const SliceRange& range, const Dim& step) {
    if (!may_have_contents(c, 0) || !range.start.is_static() || !range.count.is_static() ||
        !step.is_static()) {
        return;
    }
    std::optional<std::vector<Dim>> elements = c.input_dims(0);
    if (!elements.has_value()) {
        return;
    }
    std::vector<Dim> result;
    int64_t position = range.start.value();
    for (int64_t i = 0; i < range.count.value(); ++i) {
        if (position < 0 || position >= static_cast<int64_t>(elements->size())) {
            return;
        }
        result.push_back((*elements)[static_cast<size_t>(position)]);
        position += i + 1 < range.count.value() ? step.value() : 0;
    }
    c.set_output_dims(0, false, std::move(result));
}

}  // namespace

// Operators, Slice: attributes in version 1, inputs and steps since opset 10.
void infer_slice(NodeContext& c) {
    for (size_t i = 1; i < 5; ++i) {
        c.check_rank(i, 1);
    }
    const Shape* shape = c.input_shape(0);
    SliceArguments arguments = slice_arguments(c);
    if (shape == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    std::optional<std::vector<int>> axes =
        check_slice_lengths(c, arguments)
            ? sliced_axes(c, arguments, static_cast<int>(shape->size()))
            : std::nullopt;
    if (!axes.has_value()) {
        c.set_output_shape(0, Shape(shape->size()));
        return;
    }
    Shape result = *shape;
    for (size_t i = 0; i < axes->size(); ++i) {
        Dim step = 1;
        if (!arguments.are_steps_known || !arguments.steps.empty()) {
            step = i < arguments.steps.size() ? arguments.steps[i] : Dim();
        }
        if (step.is_static() && step.value() == 0) {
            c.fail(kInvalidValue, "a step of `Slice` is 0", 4, -1,
                   "steps are positive, or negative to go backwards");
        }
        size_t axis = static_cast<size_t>((*axes)[i]);
        SliceRange range = slice_range(result[axis], element_or_unknown(arguments.starts.values, i),
                                       element_or_unknown(arguments.ends.values, i), step);
        result[axis] = range.count;
        if (shape->size() == 1) {
            c.set_output_shape(0, result);
            slice_contents(c, range, step);
            return;
        }
    }
    c.set_output_shape(0, std::move(result));
    pass_contents(c);
}

// Operators, Pad: an attribute in versions 1 (`paddings`) and 2, inputs since opset 11, axes since
// opset 18.
void infer_pad(NodeContext& c) {
    c.check_rank(1, 1);
    const Shape* shape = c.input_shape(0);
    ListArgument pads = list_argument(c, c.version() == 1 ? "paddings" : "pads", 1);
    if (shape == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    int rank = static_cast<int>(shape->size());
    std::vector<int> axes(shape->size());
    std::iota(axes.begin(), axes.end(), 0);
    constexpr size_t kAxes = 3;
    if (c.has_input(kAxes)) {
        ListArgument given = list_argument(c, "axes", kAxes);
        std::optional<std::vector<int>> normal = normalize_axes(c, given, rank);
        if (!normal.has_value()) {
            c.set_output_shape(0, Shape(shape->size()));
            return;
        }
        axes = std::move(*normal);
    }
    if (!pads.values.has_value()) {
        Shape result = *shape;
        std::for_each(axes.begin(), axes.end(), [&result](int axis) { result[axis] = Dim(); });
        c.set_output_shape(0, std::move(result));
        return;
    }
    if (pads.values->size() != 2 * axes.size()) {
        pads.fail(c, kShapeMismatch,
                  fmt::format("`Pad` has {} pads for {} axes", pads.values->size(), axes.size()),
                  "give the pads before each axis, then those after each axis");
        c.set_output_shape(0, Shape(shape->size()));
        return;
    }
    Shape result = *shape;
    for (size_t i = 0; i < axes.size(); ++i) {
        Dim& dim = result[static_cast<size_t>(axes[i])];
        dim = dim + (*pads.values)[i] + (*pads.values)[i + axes.size()];
        if (dim.is_static() && dim.value() < 0) {
            pads.fail(c, kInvalidValue,
                      fmt::format("the pads leave axis {} of `{}` with the size {}", axes[i],
                                  to_text(*shape), dim.value()));
            dim = Dim();
        }
    }
    c.set_output_shape(0, std::move(result));
}

namespace {

// The sizes of the parts of Split along its axis.
std::vector<Dim> split_sizes(NodeContext& c, const Dim& size) {
    size_t count = c.output_count();
    bool is_early_input = c.version() == 1 && c.has_input(1);
    ListArgument given = is_early_input ? list_argument(c, {}, 1) : list_argument(c, "split", 1);
    if (given.is_given) {
        std::vector<Dim> sizes = given.values.value_or(std::vector<Dim>(count));
        if (sizes.size() != count) {
            given.fail(c, kShapeMismatch,
                       fmt::format("`Split` has {} sizes and {} outputs", sizes.size(), count));
        }
        Dim total = 0;
        for (const Dim& part : sizes) {
            total = total + part;
        }
        if (sizes.size() == count && total.differs(size)) {
            given.fail(c, kShapeMismatch,
                       fmt::format("the sizes `{}` of `Split` are {} together, and the axis is {}",
                                   to_text(sizes), total.to_string(), size.to_string()));
        }
        sizes.resize(count);
        return sizes;
    }
    int64_t parts = static_cast<int64_t>(count);
    constexpr int kUnevenVersion = 18;
    if (c.version() >= kUnevenVersion) {
        std::optional<int64_t> declared = c.attribute_int("num_outputs");
        if (!declared.has_value() || *declared < parts) {
            return std::vector<Dim>(count);
        }
        parts = *declared;
        Dim most = ceil_div(size, parts);
        std::vector<Dim> sizes(count, most);
        if (parts == static_cast<int64_t>(count)) {
            sizes.back() = greater_of(size - most * (parts - 1), 0);
        }
        return sizes;
    }
    if (size.is_static() && parts > 0 && size.value() % parts != 0) {
        c.fail(kShapeMismatch,
               fmt::format("`Split` into {} equal parts does not divide the axis of size {}", parts,
                           size.value()),
               0, -1, "give the sizes in `split`");
    }
    return std::vector<Dim>(count, floor_div(size, parts));
}

}  // namespace

void infer_split(NodeContext& c) {
    if (c.has_attribute("num_outputs")) {
        int_in_range(c, "num_outputs", 1);
    }
    if (c.version() >= 13 && !c.check_rank(1, 1, 1)) {
        return;
    }
    const Shape* shape = c.input_shape(0);
    std::optional<int64_t> axis = c.attribute_int("axis");
    if (!axis.has_value() && !c.is_attribute_unbound("axis")) {
        axis = 0;
    }
    std::optional<int> normal;
    if (shape != nullptr && axis.has_value()) {
        normal = c.normalize_axis(*axis, static_cast<int>(shape->size()), "axis");
    }
    if (!normal.has_value() || c.output_count() == 0) {
        for (size_t i = 0; i < c.output_count(); ++i) {
            c.set_output_shape(
                i, shape != nullptr ? std::optional(Shape(shape->size())) : std::nullopt);
        }
        return;
    }
    std::vector<Dim> sizes = split_sizes(c, (*shape)[static_cast<size_t>(*normal)]);
    std::optional<std::vector<Dim>> elements =
        may_have_contents(c, 0) ? c.input_dims(0) : std::nullopt;
    int64_t position = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
        Shape part = *shape;
        part[static_cast<size_t>(*normal)] = sizes[i];
        c.set_output_shape(i, std::move(part));
        if (!elements.has_value() || !sizes[i].is_static() || sizes[i].value() < 0 ||
            position + sizes[i].value() > static_cast<int64_t>(elements->size())) {
            elements.reset();
            continue;
        }
        auto begin = elements->begin() + position;
        c.set_output_dims(i, false, std::vector<Dim>(begin, begin + sizes[i].value()));
        position += sizes[i].value();
    }
}

namespace {

void concat_contents(NodeContext& c) {
    std::vector<Dim> all;
    for (size_t i = 0; i < c.node.input_count(); ++i) {
        std::optional<std::vector<Dim>> part =
            may_have_contents(c, i) ? c.input_dims(i) : std::nullopt;
        if (!part.has_value() || all.size() + part->size() > kMaxContent) {
            return;
        }
        all.insert(all.end(), part->begin(), part->end());
    }
    c.set_output_dims(0, false, std::move(all));
}

}  // namespace

void infer_concat(NodeContext& c) {
    size_t count = c.node.input_count();
    size_t model = 0;  // the first input of known rank
    while (model < count && c.input_shape(model) == nullptr) {
        ++model;
    }
    std::optional<int64_t> axis = c.attribute_int("axis");
    if (model == count || !axis.has_value()) {
        c.set_output_shape(
            0, model < count ? std::optional(Shape(c.input_shape(model)->size())) : std::nullopt);
        return;
    }
    int rank = c.input_rank(model);
    std::optional<int> along = c.normalize_axis(*axis, rank, "axis");
    if (!along.has_value()) {
        c.set_output_shape(0, Shape(static_cast<size_t>(rank)));
        return;
    }
    Shape result = *c.input_shape(model);
    Dim total = 0;
    for (size_t i = 0; i < count; ++i) {
        const Shape* shape = c.input_shape(i);
        if (shape == nullptr || shape->size() != result.size()) {
            if (shape != nullptr) {
                c.fail(kRankMismatch,
                       fmt::format("`Concat` joins shapes `{}` and `{}`, whose ranks differ",
                                   to_text(*c.input_shape(model)), to_text(*shape)),
                       static_cast<int>(i), static_cast<int>(model),
                       "all inputs must have one rank");
            }
            total = Dim();
            continue;
        }
        total = total + (*shape)[static_cast<size_t>(*along)];
        for (int other = 0; other < rank; ++other) {
            if (other != *along) {
                result[other] = known_dim(result[other], c.match_dims(model, other, i, other));
            }
        }
    }
    result[static_cast<size_t>(*along)] = std::move(total);
    c.set_output_shape(0, std::move(result));
    if (rank == 1) {
        concat_contents(c);
    }
}

namespace {

// Gives output 0 the elements of input 0 as often as its shape, which has been set, has room for.
void repeat_contents(NodeContext& c) {
    const ir::Value* output = c.node.output(0);
    if (output == nullptr || !may_have_contents(c, 0) || !output->type.has_shape() ||
        output->type.shape().size() > 1) {
        return;
    }
    const Shape& shape = output->type.shape();
    std::optional<std::vector<Dim>> elements = c.input_dims(0);
    Dim length = shape.empty() ? Dim(1) : shape.front();
    if (!elements.has_value() || elements->empty() || !length.is_static() ||
        length.value() > static_cast<int64_t>(kMaxContent)) {
        return;
    }
    std::vector<Dim> result;
    for (int64_t i = 0; i < length.value(); ++i) {
        result.push_back((*elements)[static_cast<size_t>(i) % elements->size()]);
    }
    c.set_output_dims(0, shape.empty(), std::move(result));
}

// A count that comes as a floating number.
std::optional<int64_t> whole_number(std::optional<double> number) {
    constexpr double kMost = 1e15;
    bool is_exact = number.has_value() && *number > -kMost && *number < kMost;
    return is_exact ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

}  // namespace

// Operators, Tile: one axis and one number in version 1, a number for each axis since opset 6.
void infer_tile(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    if (shape == nullptr) {
        std::optional<std::vector<Dim>> repeats = c.version() > 1 ? c.input_dims(1) : std::nullopt;
        c.set_output_shape(
            0, repeats.has_value() ? std::optional(Shape(repeats->size())) : std::nullopt);
        return;
    }
    Shape result = *shape;
    if (c.version() == 1) {
        std::optional<int64_t> tiles = whole_number(c.input_number(1));
        std::optional<int64_t> axis = whole_number(c.input_number(2));
        std::optional<int> along;
        if (tiles.has_value() && axis.has_value()) {
            along = c.normalize_axis(*axis, static_cast<int>(shape->size()), {}, 2);
        }
        if (along.has_value()) {
            result[*along] = result[*along] * *tiles;
        } else {
            result.assign(result.size(), Dim());
        }
        c.set_output_shape(0, std::move(result));
        return;
    }
    c.check_rank(1, 1);
    std::optional<std::vector<Dim>> repeats = c.input_dims(1);
    if (repeats.has_value() && repeats->size() != shape->size()) {
        c.fail(kShapeMismatch,
               fmt::format("`Tile` has {} repeats, and {} has shape `{}` of rank {}",
                           repeats->size(), c.input_name(0), to_text(*shape), shape->size()),
               1, 0, "give one number for each axis");
        repeats.reset();
    }
    for (size_t i = 0; i < result.size(); ++i) {
        result[i] =
            repeats.has_value() ? product(std::vector<Dim>{result[i], (*repeats)[i]}) : Dim();
    }
    c.set_output_shape(0, std::move(result));
    repeat_contents(c);
}

// Operators, Expand: broadcasts in both directions with the wanted shape.
void infer_expand(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    std::optional<std::vector<Dim>> wanted = c.input_dims(1);
    c.check_rank(1, 1);
    if (shape == nullptr || !wanted.has_value()) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    for (Dim& dim : *wanted) {
        if (dim.is_static() && dim.value() < 0) {
            c.fail(kInvalidValue,
                   fmt::format("`Expand` gets the size {} in `{}`", dim.value(), to_text(*wanted)),
                   1, -1, "write 1 to keep the size of an axis");
            dim = Dim();
        }
    }
    Shape result(std::max(shape->size(), wanted->size()), Dim(1));
    std::copy_backward(wanted->begin(), wanted->end(), result.end());
    size_t offset = result.size() - shape->size();
    for (size_t i = 0; i < shape->size(); ++i) {
        std::optional<Dim> both = broadcast_dims((*shape)[i], result[offset + i]);
        if (!both.has_value()) {
            c.fail(kBroadcastMismatch,
                   fmt::format("`Expand` cannot stretch `{}` to `{}`: axis -{} is {} and should be "
                               "{}",
                               to_text(*shape), to_text(*wanted), shape->size() - i,
                               (*shape)[i].to_string(), result[offset + i].to_string()),
                   1, 0, "only axes of size 1 can be stretched");
        }
        result[offset + i] = both.value_or(Dim());
    }
    c.set_output_shape(0, std::move(result));
    repeat_contents(c);
}

void infer_trilu(NodeContext& c) {
    c.check_rank(0, 2, kAnyRank);
    c.pass_shape();
}

}  // namespace sardonyx::infer
