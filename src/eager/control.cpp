#include "eager/control.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "eval/run/iterations.h"
#include "eval/run/scan.h"
#include "ops/standard.h"

namespace sardonyx::eager {

namespace {

using eval::KernelContext;
using eval::StackedRows;

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
    size_t first_row = 1 + carried.size();
    StackedRows rows;
    auto arguments_of = [&carried](int64_t iteration) {
        std::vector<RuntimeValue> arguments{Tensor::scalar<int64_t>(iteration),
                                            Tensor::scalar<bool>(true)};
        arguments.insert(arguments.end(), carried.begin(), carried.end());
        return arguments;
    };
    int64_t i = 0;
    for (; goes_on && (!limit || i < *limit); ++i) {
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   run_body(call, "body", arguments_of(i), first_row));
        SDX_ASSIGN(goes_on, eval::read_condition(results[0]));
        for (size_t k = 0; k < carried.size(); ++k) {
            carried[k] = std::move(results[k + 1]);
        }
        SDX_TRY(rows.add(results, first_row, call.context.options()));
    }
    if (i == 0) {  // only the body knows how many rows there are, and their types
        SDX_ASSIGN(std::vector<RuntimeValue> results,
                   run_body(call, "body", arguments_of(0), first_row));
        rows = StackedRows(eval::row_types(std::span(results).subspan(first_row)));
    }
    for (size_t k = 0; k < rows.size(); ++k) {
        SDX_ASSIGN(RuntimeValue stacked, rows.stacked(nullptr, k, 0, eval::RowOrder::kForward));
        carried.push_back(std::move(stacked));
    }
    return carried;
}

// https://onnx.ai/onnx/operators/onnx__Scan.html
Result<std::vector<RuntimeValue>> scan(const Call& call) {
    size_t lengths = eval::has_lengths(call.context) && !call.inputs.empty() ? 1 : 0;
    SDX_ASSIGN(eval::ScanShape shape,
               eval::read_scan_inputs(call.context, call.inputs.size() - lengths));
    eval::ScanBody body;
    body.run = [&](std::vector<RuntimeValue> arguments) {
        return run_body(call, "body", arguments, shape.state_count);
    };
    body.types = [&](std::vector<RuntimeValue> arguments) -> Result<std::vector<Type>> {
        SDX_ASSIGN(std::vector<RuntimeValue> results, body.run(std::move(arguments)));
        return eval::row_types(results);
    };
    return eval::run_scan(call.context, nullptr, shape, body, call.inputs_from(0));
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
