#include "eager/control.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "eval/run/iterations.h"
#include "ops/standard.h"

namespace sardonyx::eager {

namespace {

using eval::KernelContext;
using eval::ScanOutput;

struct Call {
    const ops::Schema& schema;
    std::span<const RuntimeValue* const> inputs;
    std::span<const NamedBody> bodies;
    KernelContext& context;  // of the attributes

    RuntimeValue input(size_t i) const { return i < inputs.size() ? *inputs[i] : RuntimeValue(); }
    std::vector<RuntimeValue> inputs_from(size_t first) const {
        std::vector<RuntimeValue> rest;
        for (size_t i = first; i < inputs.size(); ++i) {
            rest.push_back(*inputs[i]);
        }
        return rest;
    }
};

// What the body gives, of which `least` are needed.
Result<std::vector<RuntimeValue>> run_body(const Call& call, std::string_view attribute,
                                           std::span<const RuntimeValue> arguments, size_t least) {
    for (const NamedBody& body : call.bodies) {
        if (body.attribute != attribute) {
            continue;
        }
        SDX_TRY(eval::check_interrupt(call.context.options()));
        SDX_ASSIGN(std::vector<RuntimeValue> results, body.run(arguments));
        if (results.size() < least) {
            return Error{fmt::format("`{}` of `{}` returns {} values, and must return at least {}",
                                     attribute, call.schema.name, results.size(), least)};
        }
        return results;
    }
    return Error{fmt::format("`{}` takes a function as `{}`", call.schema.name, attribute)};
}

// The rows of iterations, one output for each result of the body from `first` on.
struct Rows {
    size_t first = 0;
    std::vector<ScanOutput> outputs;
    std::vector<Type> types;  // of rows, where no iteration has run

    Result<void> add(std::vector<RuntimeValue>& results, bool is_begin,
                     const eval::RunOptions& options) {
        if (is_begin) {
            outputs.resize(results.size() - first);
        }
        if (results.size() - first != outputs.size()) {
            return Error{
                fmt::format("the body returns {} values, and returned {} in the first "
                            "iteration",
                            results.size(), outputs.size() + first)};
        }
        for (size_t i = 0; i < outputs.size(); ++i) {
            SDX_TRY(outputs[i].add(std::move(results[first + i]), options));
        }
        return {};
    }
    // Of rows that look like these, none.
    void add_none(const std::vector<RuntimeValue>& results) {
        outputs.resize(results.size() - first);
        for (size_t i = first; i < results.size(); ++i) {
            std::vector<Dim> dims;
            if (!results[i].is_tensor()) {
                types.emplace_back();
                continue;
            }
            for (int64_t size : results[i].tensor().dims()) {
                dims.emplace_back(size);
            }
            types.push_back(Type::tensor(results[i].tensor().element_type(), std::move(dims)));
        }
    }
    Result<RuntimeValue> stacked(size_t i, int64_t axis, bool is_reversed) const {
        return outputs[i].stacked(nullptr, types.empty() ? Type() : types[i], axis, is_reversed);
    }
};

// https://onnx.ai/onnx/operators/onnx__If.html
Result<std::vector<RuntimeValue>> if_else(const Call& call) {
    SDX_ASSIGN(bool condition, eval::read_condition(call.input(0)));
    return run_body(call, condition ? "then_branch" : "else_branch", {}, 1);
}

// https://onnx.ai/onnx/operators/onnx__Loop.html
Result<std::vector<RuntimeValue>> loop(const Call& call) {
    SDX_ASSIGN(std::optional<int64_t> limit, eval::read_trip_count(call.input(0)));
    bool goes_on = true;
    if (!call.input(1).is_none()) {
        SDX_ASSIGN(goes_on, eval::read_condition(call.input(1)));
    }
    std::vector<RuntimeValue> carried = call.inputs_from(2);
    Rows rows{1 + carried.size(), {}, {}};
    auto arguments_of = [&carried](int64_t iteration) {
        std::vector<RuntimeValue> arguments{Tensor::scalar<int64_t>(iteration),
                                            Tensor::scalar<bool>(true)};
        arguments.insert(arguments.end(), carried.begin(), carried.end());
        return arguments;
    };
    int64_t i = 0;
    for (; goes_on && (!limit || i < *limit); ++i) {
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   run_body(call, "body", arguments_of(i), rows.first));
        SDX_ASSIGN(goes_on, eval::read_condition(results[0]));
        for (size_t k = 0; k < carried.size(); ++k) {
            carried[k] = std::move(results[k + 1]);
        }
        SDX_TRY(rows.add(results, i == 0, call.context.options()));
    }
    if (i == 0) {  // only the body knows how many rows there are, and their types
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   run_body(call, "body", arguments_of(0), rows.first));
        rows.add_none(results);
    }
    for (size_t k = 0; k < rows.outputs.size(); ++k) {
        SDX_ASSIGN(RuntimeValue stacked, rows.stacked(k, 0, false));
        carried.push_back(std::move(stacked));
    }
    return carried;
}

// The axes of what is scanned, and how many elements they all have.
Result<int64_t> scan_length(const Call& call, const eval::ScanShape& shape,
                            std::vector<int>* axes) {
    int64_t length = 0;
    for (size_t i = 0; i < shape.scan_count; ++i) {
        const RuntimeValue& value = *call.inputs[shape.state_count + i];
        if (!value.is_tensor()) {
            return Error{
                fmt::format("scan input {} is {}, but must be a tensor", i, value.describe())};
        }
        SDX_ASSIGN(int axis, call.context.axis(shape.input_axes[i], value.tensor().rank()));
        axes->push_back(axis);
        int64_t size = value.tensor().dims()[static_cast<size_t>(axis)];
        if (i > 0 && size != length) {
            return Error{fmt::format("scan inputs have lengths {} and {}", length, size)};
        }
        length = size;
    }
    return length;
}

// What the body gets in an iteration: the state, and a slice of each tensor that is scanned; zeros
// of its shape where there is none.
Result<std::vector<RuntimeValue>> scan_arguments(const Call& call, const eval::ScanShape& shape,
                                                 const std::vector<int>& axes,
                                                 const std::vector<RuntimeValue>& state,
                                                 int64_t step, int64_t length) {
    std::vector<RuntimeValue> arguments = state;
    for (size_t i = 0; i < shape.scan_count; ++i) {
        const Tensor& whole = call.inputs[shape.state_count + i]->tensor();
        if (length == 0) {
            Dims dims = whole.dims();
            dims.erase(dims.begin() + axes[i]);
            arguments.emplace_back(Tensor::zeros(whole.element_type(), std::move(dims)));
            continue;
        }
        int64_t index = shape.input_reversed[i] ? length - 1 - step : step;
        SDX_ASSIGN(Tensor item, eval::slice_at(call.context, whole, axes[i], index));
        arguments.emplace_back(std::move(item));
    }
    return arguments;
}

// https://onnx.ai/onnx/operators/onnx__Scan.html
Result<std::vector<RuntimeValue>> scan(const Call& call) {
    if (call.schema.since_version < 9) {
        return Error{"`Scan` before opset 9 takes no function: use opset 9 or newer"};
    }
    eval::ScanShape shape;
    SDX_TRY(eval::read_scan_inputs(call.context, call.inputs.size(), &shape));
    std::vector<int> axes;
    SDX_ASSIGN(int64_t length, scan_length(call, shape, &axes));
    std::vector<RuntimeValue> state = call.inputs_from(0);
    state.resize(shape.state_count);
    Rows rows{shape.state_count, {}, {}};
    for (int64_t step = 0; step < length; ++step) {
        SDX_ASSIGN(std::vector<RuntimeValue> arguments,
                   scan_arguments(call, shape, axes, state, step, length));
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   run_body(call, "body", arguments, rows.first));
        SDX_TRY(rows.add(results, step == 0, call.context.options()));
        results.resize(shape.state_count);
        state = std::move(results);
    }
    if (length == 0) {
        SDX_ASSIGN(std::vector<RuntimeValue> arguments,
                   scan_arguments(call, shape, axes, state, 0, 0));
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   run_body(call, "body", arguments, rows.first));
        rows.add_none(results);
    }
    SDX_TRY(eval::read_scan_outputs(call.context, rows.outputs.size(), &shape));
    for (size_t i = 0; i < rows.outputs.size(); ++i) {
        SDX_ASSIGN(RuntimeValue stacked,
                   rows.stacked(i, shape.output_axes[i], shape.output_reversed[i]));
        state.push_back(std::move(stacked));
    }
    return state;
}

// https://onnx.ai/onnx/operators/onnx__SequenceMap.html
Result<std::vector<RuntimeValue>> sequence_map(const Call& call) {
    RuntimeValue first = call.input(0);
    if (!first.is_sequence()) {
        return Error{
            fmt::format("the first input is {}, but must be a sequence", first.describe())};
    }
    size_t length = first.sequence().items.size();
    std::vector<std::shared_ptr<eval::Sequence>> outputs;
    for (size_t step = 0; step < length; ++step) {
        std::vector<RuntimeValue> arguments = call.inputs_from(0);
        for (RuntimeValue& argument : arguments) {
            if (!argument.is_sequence()) {
                continue;
            }
            if (argument.sequence().items.size() != length) {
                return Error{"the sequences have different lengths"};
            }
            RuntimeValue item = argument.sequence().items[step];
            argument = std::move(item);
        }
        SDX_ASSIGN(std::vector<RuntimeValue> results, run_body(call, "body", arguments, 1));
        while (step == 0 && outputs.size() < results.size()) {
            outputs.push_back(std::make_shared<eval::Sequence>());
        }
        if (results.size() != outputs.size()) {
            return Error{
                fmt::format("the body returns {} values, and returned {} for the first "
                            "item",
                            results.size(), outputs.size())};
        }
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (results[i].is_tensor()) {
                outputs[i]->element_type = results[i].tensor().element_type();
            }
            outputs[i]->items.push_back(std::move(results[i]));
        }
    }
    if (length == 0) {  // how many results the body has, nobody says
        outputs.push_back(std::make_shared<eval::Sequence>());
        outputs[0]->element_type = first.sequence().element_type;
    }
    std::vector<RuntimeValue> results;
    for (std::shared_ptr<eval::Sequence>& output : outputs) {
        results.emplace_back(std::shared_ptr<const eval::Sequence>(std::move(output)));
    }
    return results;
}

}  // namespace

Result<std::vector<RuntimeValue>> run_control(const ops::Schema& schema,
                                              std::span<const RuntimeValue* const> inputs,
                                              std::span<const ir::Attribute> attributes,
                                              std::span<const NamedBody> bodies,
                                              const eval::RunOptions& options) {
    eval::RandomState random;
    KernelContext context(schema, {}, eval::AttributeView(attributes, {}), {}, options, random);
    Call call{schema, inputs, bodies, context};
    using Runner = Result<std::vector<RuntimeValue>> (*)(const Call&);
    Runner runner = ops::is_standard(schema, "If")            ? if_else
                    : ops::is_standard(schema, "Loop")        ? loop
                    : ops::is_standard(schema, "Scan")        ? scan
                    : ops::is_standard(schema, "SequenceMap") ? sequence_map
                                                              : nullptr;
    if (runner == nullptr) {
        return Error{fmt::format("`{}` takes no function as a body here", schema.name)};
    }
    return runner(call);
}

}  // namespace sardonyx::eager
