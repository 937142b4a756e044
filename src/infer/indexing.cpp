// Operators that read or write at positions given by tensors.
#include <fmt/format.h>

#include <algorithm>

#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// A Finding for a constant index outside [-size, size).
void check_indices(NodeContext& c, size_t input, const std::vector<Dim>& indices, const Dim& size) {
    for (const Dim& index : indices) {
        if (index.is_static() && size.is_static() &&
            (index.value() >= size.value() || index.value() < -size.value())) {
            c.fail(kInvalidValue,
                   fmt::format("index {} of `{}` is outside an axis of size {}", index.value(),
                               c.node.op_type, size.value()),
                   static_cast<int>(input), 0);
            return;
        }
    }
}

void gather_contents(NodeContext& c, const std::vector<Dim>& indices) {
    std::optional<std::vector<Dim>> elements =
        may_have_contents(c, 0) ? c.input_dims(0) : std::nullopt;
    if (!elements.has_value()) {
        return;
    }
    int64_t count = static_cast<int64_t>(elements->size());
    std::vector<Dim> result;
    for (const Dim& index : indices) {
        int64_t position = index.is_static() ? index.value() : count;
        position = position < 0 ? position + count : position;
        bool is_inside = position >= 0 && position < count;
        result.push_back(is_inside ? (*elements)[static_cast<size_t>(position)] : Dim());
    }
    c.set_output_dims(0, c.input_rank(1) == 0, std::move(result));
}

// The axis attribute within the rank of the data; nothing when either is not known.
std::optional<int> data_axis(NodeContext& c, std::string_view attribute = "axis") {
    std::optional<int64_t> axis = c.attribute_int(attribute);
    if (!axis.has_value() || c.input_shape(0) == nullptr) {
        return std::nullopt;
    }
    return c.normalize_axis(*axis, c.input_rank(0), attribute);
}

}  // namespace

void infer_gather(NodeContext& c) {
    if (!c.check_rank(0, 1, kAnyRank)) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    const Shape* data = c.input_shape(0);
    const Shape* indices = c.input_shape(1);
    std::optional<int> axis = data_axis(c);
    if (data == nullptr || indices == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    if (!axis.has_value()) {
        c.set_output_shape(0, Shape(data->size() + indices->size() - 1));
        return;
    }
    Shape result(data->begin(), data->begin() + *axis);
    result.insert(result.end(), indices->begin(), indices->end());
    result.insert(result.end(), data->begin() + *axis + 1, data->end());
    std::optional<std::vector<Dim>> positions =
        may_have_contents(c, 1) ? c.input_dims(1) : std::nullopt;
    c.set_output_shape(0, std::move(result));
    if (positions.has_value()) {
        check_indices(c, 1, *positions, (*data)[static_cast<size_t>(*axis)]);
        gather_contents(c, *positions);
    }
}

// GatherElements: the output has the shape of the indices, whose rank is that of the data.
void infer_gather_elements(NodeContext& c) {
    if (c.input_rank(0) >= 0) {
        c.check_rank(1, c.input_rank(0));
    }
    data_axis(c);
    const Shape* indices = c.input_shape(1);
    int rank = c.input_rank(0);
    c.set_output_shape(0, indices != nullptr ? std::optional(*indices)
                          : rank >= 0        ? std::optional(Shape(static_cast<size_t>(rank)))
                                             : std::nullopt);
}

// Operators, GatherND: [batch..., indices..., rest of the data]; the last axis of the indices holds
// a position in as many axes of the data.
void infer_gather_nd(NodeContext& c) {
    const Shape* data = c.input_shape(0);
    const Shape* indices = c.input_shape(1);
    bool are_ranks_right = c.check_rank(0, 1, kAnyRank) && c.check_rank(1, 1, kAnyRank);
    bool has_batches = c.schema->find_attribute("batch_dims") != nullptr;
    std::optional<int64_t> batches = has_batches ? c.attribute_int("batch_dims") : 0;
    if (!are_ranks_right || data == nullptr || indices == nullptr || !batches.has_value() ||
        !indices->back().is_static()) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    int64_t depth = indices->back().value();
    int64_t rank = static_cast<int64_t>(data->size());
    if (*batches < 0 || *batches >= rank || depth < 0 || depth > rank - *batches) {
        c.fail(kShapeMismatch,
               fmt::format("the last axis of {} is {}, and the data `{}` has {} axes to index",
                           c.input_name(1), depth, to_text(*data),
                           std::max<int64_t>(rank - *batches, 0)),
               1, 0);
        c.set_output_shape(0, std::nullopt);
        return;
    }
    Shape result(indices->begin(), indices->end() - 1);
    for (int axis = 0; axis < *batches && axis < static_cast<int>(result.size()); ++axis) {
        result[axis] = c.match_dims(1, axis, 0, axis);
    }
    result.insert(result.end(), data->begin() + *batches + depth, data->end());
    c.set_output_shape(0, std::move(result));
}

// Scatter and ScatterElements: indices and updates have one shape, of the rank of the data.
void infer_scatter_elements(NodeContext& c) {
    int rank = c.input_rank(0);
    data_axis(c);
    if (rank >= 0) {
        c.check_rank(1, rank);
        c.check_rank(2, rank);
    }
    if (c.input_rank(1) >= 0 && c.input_rank(1) == c.input_rank(2)) {
        for (int axis = 0; axis < c.input_rank(1); ++axis) {
            c.match_dims(1, axis, 2, axis);
        }
    }
    c.pass_shape();
}

// Operators, ScatterND: updates have the shape indices[:-1] + data[k:], k the last dim of indices.
void infer_scatter_nd(NodeContext& c) {
    const Shape* data = c.input_shape(0);
    const Shape* indices = c.input_shape(1);
    bool are_ranks_right = c.check_rank(0, 1, kAnyRank) && c.check_rank(1, 1, kAnyRank);
    if (are_ranks_right && data != nullptr && indices != nullptr && indices->back().is_static()) {
        int64_t depth = indices->back().value();
        int64_t rank = static_cast<int64_t>(data->size());
        if (depth < 0 || depth > rank) {
            c.fail(kShapeMismatch,
                   fmt::format("the last axis of {} is {}, and the data `{}` has {} axes",
                               c.input_name(1), depth, to_text(*data), rank),
                   1, 0);
        } else {
            c.check_rank(2, static_cast<int>(indices->size()) - 1 + static_cast<int>(rank - depth));
        }
    }
    c.pass_shape();
}

// Operators, Compress: of the flattened input, or of its slices along an axis. A condition shorter
// than the axis takes nothing of the rest.
void infer_compress(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    c.check_rank(1, 1);
    Dim taken;
    if (std::optional<std::vector<int64_t>> condition = c.input_ints(1)) {
        taken = static_cast<int64_t>(condition->size()) -
                std::count(condition->begin(), condition->end(), 0);
    }
    if (!c.has_attribute("axis")) {
        c.set_output_shape(0, Shape{taken});
        return;
    }
    std::optional<int> axis = data_axis(c);
    if (shape == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    Shape result = axis.has_value() ? *shape : Shape(shape->size());
    if (axis.has_value()) {
        result[static_cast<size_t>(*axis)] = taken;
    }
    c.set_output_shape(0, std::move(result));
}

void infer_reverse_sequence(NodeContext& c) {
    if (c.check_rank(0, 2, kAnyRank) && c.input_shape(0) != nullptr) {
        std::optional<int64_t> batch = c.attribute_int("batch_axis");
        std::optional<int64_t> time = c.attribute_int("time_axis");
        if (batch.has_value() && time.has_value() && *batch == *time) {
            c.fail_attribute(kInvalidValue, "time_axis",
                             fmt::format("`batch_axis` and `time_axis` are both {}", *batch));
        } else if (batch.has_value() && (*batch == 0 || *batch == 1)) {
            c.match_dims(0, static_cast<int>(*batch), 1, 0);
        }
    }
    c.check_rank(1, 1);
    c.pass_shape();
}

}  // namespace sardonyx::infer
