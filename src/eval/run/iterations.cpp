#include "eval/run/iterations.h"

#include <algorithm>

#include <fmt/format.h>

#include "eval/gradient/algebra.h"
#include "eval/kernels/cast.h"
#include "eval/loops/strided.h"

namespace sardonyx::eval {

Result<bool> read_condition(const RuntimeValue& value) {
    if (!value.is_tensor() || value.tensor().element_type() != ElementType::kBool ||
        value.tensor().count() != 1) {
        return Error{fmt::format("the condition is {}, but must be one BOOL", value.describe())};
    }
    return value.tensor().elements<bool>()[0];
}

Result<std::optional<int64_t>> read_trip_count(const RuntimeValue& value) {
    if (value.is_none()) {
        return std::optional<int64_t>();
    }
    std::optional<std::vector<int64_t>> count =
        value.is_tensor() ? to_int64s(value.tensor(), 1) : std::nullopt;
    if (!count.has_value() || count->size() != 1) {
        return Error{fmt::format("the trip count is {}, but must be one INT64", value.describe())};
    }
    return std::optional<int64_t>(count->front());
}

// --- ScanOutput

Status ScanOutput::add(RuntimeValue value, const RunOptions& options) {
    if (!value.is_tensor()) {
        return Error{fmt::format("a scan output is {}, but must be a tensor", value.describe())};
    }
    Tensor item = value.tensor();
    if (!items_.empty() &&
        (item.dims() != items_[0].dims() || item.element_type() != items_[0].element_type())) {
        return Error{fmt::format("a scan output is {}, but was {} in the first iteration",
                                 RuntimeValue(item).describe(),
                                 RuntimeValue(items_[0]).describe())};
    }
    Dims dims = item.dims();
    dims.insert(dims.begin(), static_cast<int64_t>(items_.size()) + 1);
    SDX_TRY(check_size(item.element_type(), dims, options));
    items_.push_back(std::move(item));
    variables_.push_back(value.variable());
    return {};
}

Result<RuntimeValue> ScanOutput::stacked(Tape* tape, const Type& declared, int64_t axis,
                                         RowOrder order) const {
    SDX_ASSIGN(Tensor tensor, stacked(declared, axis, order));
    bool is_constant = std::all_of(variables_.begin(), variables_.end(),
                                   [](int64_t variable) { return variable == 0; });
    return is_constant ? RuntimeValue(std::move(tensor)) : recorded(*tape, tensor, axis, order);
}

Result<Tensor> ScanOutput::stacked(const Type& declared, int64_t axis, RowOrder order) const {
    if (items_.empty()) {
        return empty(declared, axis);
    }
    const Tensor& first = items_[0];
    int rank = first.rank() + 1;
    if (axis < -rank || axis >= rank) {
        return Error{fmt::format("scan output axis {} is out of range for rank {}", axis, rank)};
    }
    axis += axis < 0 ? rank : 0;
    ElementType type = first.element_type();
    bool packs = info(type).bits > 0 && info(type).bits < 8;
    Dims dims = first.dims();
    dims.insert(dims.begin() + axis, static_cast<int64_t>(items_.size()));
    AxisView view = axis_view(dims, static_cast<int>(axis));
    Tensor result = Tensor::uninitialized(packs ? ElementType::kUint8 : type, dims);
    for (int64_t i = 0; i < view.n && result.count() > 0; ++i) {
        const Tensor& item = items_[order == RowOrder::kReversed ? view.n - 1 - i : i];
        Tensor source = packs ? unpacked(item) : item;
        for (int64_t o = 0; o < view.outer; ++o) {
            copy_elements(source, o * view.inner, result, (o * view.n + i) * view.inner,
                          view.inner);
        }
    }
    return packs ? packed(result, type) : result;
}

// The same made of operators that the tape knows.
Result<RuntimeValue> ScanOutput::recorded(Tape& tape, const Tensor& whole, int64_t axis,
                                          RowOrder order) const {
    axis += axis < 0 ? whole.rank() : 0;
    Dims dims = whole.dims();
    dims[axis] = 1;
    Algebra algebra(tape);
    std::vector<Expr> parts;
    for (size_t i = 0; i < items_.size(); ++i) {
        RuntimeValue item = items_[i];
        item.set_variable(variables_[i]);
        parts.push_back(reshape(algebra.value(std::move(item)), dims));
    }
    if (order == RowOrder::kReversed) {
        std::reverse(parts.begin(), parts.end());
    }
    RuntimeValue result = concat(parts, static_cast<int>(axis)).value();
    SDX_TRY(algebra.status());
    return result;
}

Result<Tensor> ScanOutput::empty(const Type& declared, int64_t axis) {
    if (!declared.is_tensor() || declared.element_type() == ElementType::kUndefined) {
        return Error{
            "no iteration has run and the body's output has no declared type, so the "
            "type of the scan output is not known"};
    }
    Dims dims;
    if (declared.has_shape()) {
        for (const Dim& dim : declared.shape()) {
            dims.push_back(dim.is_static() ? std::max<int64_t>(0, dim.value()) : 0);
        }
    }
    auto rank = static_cast<int64_t>(dims.size()) + 1;
    if (!declared.has_shape()) {
        axis = 0;
    } else if (axis < -rank || axis >= rank) {
        return Error{fmt::format("scan output axis {} is out of range for rank {}", axis, rank)};
    }
    dims.insert(dims.begin() + (axis < 0 ? axis + rank : axis), 0);
    return Tensor::zeros(declared.element_type(), std::move(dims));
}

// --- StackedRows

std::vector<Type> row_types(std::span<const RuntimeValue> rows) {
    std::vector<Type> types(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].is_tensor()) {
            const Dims& sizes = rows[i].tensor().dims();
            types[i] =
                Type::tensor(rows[i].tensor().element_type(), Shape(sizes.begin(), sizes.end()));
        }
    }
    return types;
}

Status StackedRows::add(std::span<RuntimeValue> results, size_t first, const RunOptions& options) {
    if (outputs_.empty()) {
        outputs_.resize(results.size() - first);
    }
    if (results.size() - first != outputs_.size()) {
        return Error{
            fmt::format("the body returns {} values, and returned {} in the first iteration",
                        results.size(), first + outputs_.size())};
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
        SDX_TRY(outputs_[i].add(std::move(results[first + i]), options));
    }
    return {};
}

Result<RuntimeValue> StackedRows::stacked(Tape* tape, size_t i, int64_t axis,
                                          RowOrder order) const {
    return outputs_[i].stacked(tape, types_.empty() ? Type() : types_[i], axis, order);
}

}  // namespace sardonyx::eval
