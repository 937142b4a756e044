#include "eval/run/scan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "eval/gradient/algebra.h"
#include "eval/kernels/cast.h"
#include "eval/loops/strided.h"
#include "eval/run/iterations.h"

namespace sardonyx::eval {

namespace {

Result<std::vector<int64_t>> per_item(KernelContext& c, std::string_view name, size_t count) {
    std::span<const int64_t> given = c.ints_attribute(name);
    if (given.empty()) {
        return std::vector<int64_t>(count, 0);
    }
    if (given.size() != count) {
        return Error{fmt::format("attribute `{}` has {} items, but must have {}", name,
                                 given.size(), count)};
    }
    return std::vector<int64_t>(given.begin(), given.end());
}

Result<std::vector<bool>> directions(KernelContext& c, std::string_view name, size_t count) {
    SDX_ASSIGN(std::vector<int64_t> given, per_item(c, name, count));
    for (int64_t direction : given) {
        if (direction != 0 && direction != 1) {
            return Error{
                fmt::format("attribute `{}` has {}, but must have 0 or 1", name, direction)};
        }
    }
    return std::vector<bool>(given.begin(), given.end());
}

// Element `index` along `axis`, without that axis.
Result<Tensor> slice_at(const KernelContext& c, const Tensor& source, int axis, int64_t index) {
    AxisView view = axis_view(source.dims(), axis);
    Dims dims = source.dims();
    dims.erase(dims.begin() + axis);
    bool packs = is_packed(source.element_type());
    Tensor from = packs ? unpacked(source) : source;
    SDX_ASSIGN(Tensor item, c.scratch(from.element_type(), std::move(dims)));
    for (int64_t o = 0; o < view.outer && item.count() > 0; ++o) {
        copy_elements(from, (o * view.n + index) * view.inner, item, o * view.inner, view.inner);
    }
    return packs ? packed(item, source.element_type()) : item;
}

// All elements along `axis`, without it, made of operators that the tape knows.
Result<std::vector<RuntimeValue>> recorded_slices(Tape& tape, const RuntimeValue& source,
                                                  int axis) {
    Algebra algebra(tape);
    Expr whole = algebra.value(source);
    std::vector<int64_t> sizes(whole.dim(axis), 1);
    Dims dims = whole.dims();
    dims.erase(dims.begin() + axis);
    std::vector<RuntimeValue> items;
    for (const Expr& part :
         algebra.call("Split", {whole, algebra.ints(sizes)},
                      {ir::make_attribute("axis", int64_t{axis})}, sizes.size())) {
        items.push_back(reshape(part, dims).value());
    }
    SDX_TRY(algebra.status());
    return items;
}

// A tensor of which the iterations get one slice each.
class Scanned {
  public:
    static Result<Scanned> make(const KernelContext& c, Tape* tape, const RuntimeValue& whole,
                                int axis) {
        Scanned scanned(c, whole, axis);
        if (whole.variable() != 0 && scanned.length() > 0) {
            SDX_ASSIGN(scanned.recorded_, recorded_slices(*tape, whole, axis));
        }
        return scanned;
    }

    int64_t length() const { return whole_->tensor().dims()[axis_]; }
    Result<RuntimeValue> at(int64_t index) const {
        if (!recorded_.empty()) {
            return recorded_[index];
        }
        SDX_ASSIGN(Tensor item, slice_at(*c_, whole_->tensor(), axis_, index));
        return RuntimeValue(std::move(item));
    }
    // What a slice looks like, where there is none.
    RuntimeValue zeros() const {
        Dims dims = whole_->tensor().dims();
        dims.erase(dims.begin() + axis_);
        return Tensor::zeros(whole_->tensor().element_type(), std::move(dims));
    }

  private:
    Scanned(const KernelContext& c, const RuntimeValue& whole, int axis)
        : c_(&c), whole_(&whole), axis_(axis) {}

    const KernelContext* c_;
    const RuntimeValue* whole_;
    int axis_;
    std::vector<RuntimeValue> recorded_;
};

// The tensors that are scanned, which have one length.
Result<std::vector<Scanned>> scanned_inputs(KernelContext& c, Tape* tape, const ScanShape& shape,
                                            std::span<const RuntimeValue> inputs) {
    std::vector<Scanned> all;
    for (size_t i = 0; i < shape.scan_count; ++i) {
        const RuntimeValue& value = inputs[shape.state_count + i];
        if (!value.is_tensor()) {
            return Error{
                fmt::format("scan input {} is {}, but must be a tensor", i, value.describe())};
        }
        SDX_ASSIGN(int axis, c.axis(shape.input_axes[i], value.tensor().rank()));
        SDX_ASSIGN(Scanned one, Scanned::make(c, tape, value, axis));
        if (i > 0 && one.length() != all[0].length()) {
            return Error{
                fmt::format("scan inputs have lengths {} and {}", all[0].length(), one.length())};
        }
        all.push_back(std::move(one));
    }
    return all;
}

// One scan, of as many steps as `length` says or there are.
Result<std::vector<RuntimeValue>> scan_one(KernelContext& c, Tape* tape, const ScanShape& shape,
                                           const ScanBody& body,
                                           std::span<const RuntimeValue> inputs,
                                           std::optional<int64_t> length) {
    SDX_ASSIGN(std::vector<Scanned> scanned, scanned_inputs(c, tape, shape, inputs));
    int64_t full = scanned[0].length();
    int64_t steps = length.value_or(full);
    if (steps < 0 || steps > full) {
        return Error{fmt::format("length {} is not within the scan inputs' {}", steps, full)};
    }
    auto state_end = inputs.begin() + static_cast<ptrdiff_t>(shape.state_count);
    std::vector<RuntimeValue> state(inputs.begin(), state_end);
    StackedRows rows;
    for (int64_t step = 0; step < steps; ++step) {
        std::vector<RuntimeValue> arguments = std::move(state);
        for (size_t i = 0; i < scanned.size(); ++i) {
            SDX_ASSIGN(RuntimeValue item,
                       scanned[i].at(shape.input_reversed[i] ? steps - 1 - step : step));
            arguments.push_back(std::move(item));
        }
        SDX_ASSIGN(std::vector<RuntimeValue> results, body.run(std::move(arguments)));
        SDX_TRY(rows.add(results, shape.state_count, c.options()));
        results.resize(shape.state_count);
        state = std::move(results);
    }
    if (steps == 0) {
        std::vector<RuntimeValue> arguments = state;
        for (const Scanned& one : scanned) {
            arguments.push_back(one.zeros());
        }
        SDX_ASSIGN(std::vector<Type> types, body.types(std::move(arguments)));
        types.erase(types.begin(), types.begin() + static_cast<ptrdiff_t>(shape.state_count));
        rows = StackedRows(std::move(types));
    }
    SDX_ASSIGN(std::vector<int64_t> axes, per_item(c, "scan_output_axes", rows.size()));
    SDX_ASSIGN(std::vector<bool> reversed, directions(c, "scan_output_directions", rows.size()));
    for (size_t i = 0; i < rows.size(); ++i) {
        RowOrder order = reversed[i] ? RowOrder::kReversed : RowOrder::kForward;
        SDX_ASSIGN(RuntimeValue stacked, rows.stacked(tape, i, axes[i], order));
        state.push_back(std::move(stacked));
    }
    return state;
}

// With zeros at its end, so that axis 0 has `length` elements.
Result<RuntimeValue> filled_up(KernelContext& c, Tape* tape, const RuntimeValue& value,
                               int64_t length) {
    const Tensor& part = value.tensor();
    Dims dims = part.dims();
    dims[0] = length;
    SDX_TRY(check_size(part.element_type(), dims, c.options()));
    if (value.variable() != 0) {
        Algebra algebra(*tape);
        std::vector<int64_t> none(dims.size());
        std::vector<int64_t> end = none;
        end[0] = length - part.dims()[0];
        RuntimeValue whole = pad(algebra.value(value), none, end).value();
        SDX_TRY(algebra.status());
        return whole;
    }
    Tensor whole = Tensor::zeros(part.element_type(), std::move(dims));
    copy_elements(part, 0, whole, 0, part.count());
    return RuntimeValue(std::move(whole));
}

// The inputs with their batch axis.
Result<std::vector<Scanned>> batches(const KernelContext& c, Tape* tape,
                                     std::span<const RuntimeValue> inputs) {
    std::vector<Scanned> all;
    for (const RuntimeValue& input : inputs) {
        if (!input.is_tensor() || input.tensor().rank() == 0) {
            return Error{fmt::format("an input is {}, but must be a tensor with a batch axis",
                                     input.describe())};
        }
        SDX_ASSIGN(Scanned one, Scanned::make(c, tape, input, 0));
        if (!all.empty() && one.length() != all[0].length()) {
            return Error{"all inputs must have the same batch axis"};
        }
        all.push_back(std::move(one));
    }
    return all;
}

// Each element of the batch (axis 0) on its own, to its own length; what is beyond that in an
// output is zero. One element of zeros, of which nothing is scanned, shows what the results of an
// empty batch look like.
Result<std::vector<RuntimeValue>> scan_batch(KernelContext& c, Tape* tape, const ScanShape& shape,
                                             const ScanBody& body,
                                             std::span<const RuntimeValue> inputs,
                                             const RuntimeValue& lengths) {
    SDX_ASSIGN(std::vector<Scanned> parts, batches(c, tape, inputs));
    int64_t batch = parts[0].length();
    std::optional<std::vector<int64_t>> counts;
    if (!lengths.is_none()) {
        counts = lengths.is_tensor() ? to_int64s(lengths.tensor()) : std::nullopt;
        if (!counts || static_cast<int64_t>(counts->size()) != batch) {
            return Error{"`sequence_lens` must have one length for each element of the batch"};
        }
    }
    StackedRows stacks;
    for (int64_t b = 0; b < std::max<int64_t>(batch, 1); ++b) {
        std::vector<RuntimeValue> items;
        for (const Scanned& part : parts) {
            SDX_ASSIGN(RuntimeValue item,
                       batch > 0 ? part.at(b) : Result<RuntimeValue>(part.zeros()));
            items.push_back(std::move(item));
        }
        std::optional<int64_t> length;
        if (batch == 0) {
            length = 0;
        } else if (counts) {
            length = (*counts)[b];
        }
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   scan_one(c, tape, shape, body, items, length));
        const Tensor& scanned = items[shape.state_count].tensor();
        for (size_t i = shape.state_count; i < results.size(); ++i) {
            if (results[i].tensor().dims()[0] < scanned.dims()[0]) {
                SDX_ASSIGN(results[i], filled_up(c, tape, results[i], scanned.dims()[0]));
            }
        }
        if (batch == 0) {
            stacks = StackedRows(row_types(results));
            continue;
        }
        SDX_TRY(stacks.add(results, 0, c.options()));
    }
    std::vector<RuntimeValue> outputs;
    for (size_t i = 0; i < stacks.size(); ++i) {
        SDX_ASSIGN(RuntimeValue stacked, stacks.stacked(tape, i, 0, RowOrder::kForward));
        outputs.push_back(std::move(stacked));
    }
    return outputs;
}

}  // namespace

Result<ScanShape> read_scan_inputs(KernelContext& c, size_t input_count) {
    int64_t scan_count = c.int_attribute("num_scan_inputs");
    if (scan_count < 1 || static_cast<size_t>(scan_count) > input_count) {
        return Error{fmt::format("attribute `num_scan_inputs` is {}, but there are {} inputs",
                                 scan_count, input_count)};
    }
    ScanShape shape;
    shape.scan_count = static_cast<size_t>(scan_count);
    shape.state_count = input_count - shape.scan_count;
    SDX_ASSIGN(shape.input_axes, per_item(c, "scan_input_axes", shape.scan_count));
    SDX_ASSIGN(
        shape.input_reversed,
        directions(c, has_lengths(c) ? "directions" : "scan_input_directions", shape.scan_count));
    return shape;
}

bool has_lengths(const KernelContext& c) {
    return c.version() < 9;
}

Result<std::vector<RuntimeValue>> run_scan(KernelContext& c, Tape* tape, const ScanShape& shape,
                                           const ScanBody& body,
                                           std::span<const RuntimeValue> inputs) {
    return has_lengths(c) ? scan_batch(c, tape, shape, body, inputs.subspan(1), inputs[0])
                          : scan_one(c, tape, shape, body, inputs, std::nullopt);
}

}  // namespace sardonyx::eval
