// A call of an operator from Python: eager/arguments.h binds and converts the arguments, the
// operator runs, and the results are Tensors, or NumPy arrays if none of the arguments was a
// Tensor.
#include "bindings/call.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "bindings/interrupt.h"
#include "bindings/surface.h"
#include "bindings/tensor.h"
#include "bindings/unpacking.h"
#include "eager/arguments.h"
#include "eager/control.h"

namespace sardonyx::python {

namespace {

using eval::RuntimeValue;

// Used where no `with` block has chosen another evaluator; null: the native kernels.
nb::handle g_evaluator;
// Returns what a `with` block of this thread or task has chosen, (evaluator or None, ...), or None;
// null until there has been such a block.
nb::handle g_choice;

// Invalid: the native kernels.
nb::object evaluator_in_force() {
    if (g_choice.is_valid()) {
        nb::object choice = g_choice();
        if (!choice.is_none()) {
            nb::object chosen = choice[0];
            return chosen.is_none() ? nb::object() : chosen;
        }
    }
    return nb::borrow(g_evaluator);
}

// The interpreter lock is released if the evaluation takes longer than releasing it.
constexpr int64_t kReleaseAt = 1 << 14;  // elements

std::string quantity(size_t count, const std::string& word) {
    return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

// Moves the results out.
nb::object results_to_python(std::span<RuntimeValue> results, bool as_arrays,
                             bool is_tuple = false) {
    if (results.size() == 1 && !is_tuple) {
        return value_to_python(std::move(results.front()), as_arrays);
    }
    nb::list items;
    for (RuntimeValue& result : results) {
        items.append(value_to_python(std::move(result), as_arrays));
    }
    return nb::tuple(items);
}

void evaluate_elsewhere(nb::handle evaluator, const eval::OperatorEntry& entry,
                        int64_t opset_version, std::span<const RuntimeValue* const> inputs,
                        std::span<const ir::Attribute> attributes,
                        std::span<RuntimeValue> outputs) {
    nb::list arrays;
    for (const RuntimeValue* input : inputs) {
        arrays.append(value_to_python(RuntimeValue(*input), Given::kViews));
    }
    nb::dict values;
    for (const ir::Attribute& attribute : attributes) {
        values[text_to_python(attribute.name)] = attribute_to_python(attribute);
    }
    std::string name(entry.schema->name);
    Operator op{std::string(entry.schema->domain), opset_version, name, &entry};
    nb::object results = evaluator.attr("eval")(nb::cast(std::move(op)), arrays, values,
                                                static_cast<int64_t>(outputs.size()));
    std::vector<RuntimeValue> converted;
    for (nb::handle result : results) {
        converted.push_back(value_from_python(result));
    }
    if (converted.size() != outputs.size()) {
        raise(eval_error(), "the evaluator gave " + quantity(converted.size(), "result") + " of `" +
                                name + "`, not " + std::to_string(outputs.size()));
    }
    std::move(converted.begin(), converted.end(), outputs.begin());
}

// Releases the interpreter lock meanwhile; another thread may assign items of an input, so the
// inputs are kept alive.
eval::Status run_aside(const eval::OperatorEntry& entry, int64_t opset_version,
                       std::span<const RuntimeValue* const> inputs,
                       std::span<const ir::Attribute> attributes, std::span<RuntimeValue> outputs,
                       const eval::RunOptions& options) {
    std::vector<RuntimeValue> kept;
    for (const RuntimeValue* input : inputs) {
        kept.push_back(*input);
    }
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& value : kept) {
        pointers.push_back(&value);
    }
    nb::gil_scoped_release release;
    return eval::run_operator(entry, opset_version, pointers, attributes, outputs, options);
}

// While bodies run, results stay Tensors.
struct InsideScript {
    InsideScript() { enter_script(); }
    ~InsideScript() { leave_script(); }
    InsideScript(const InsideScript&) = delete;
    InsideScript& operator=(const InsideScript&) = delete;
};

std::vector<RuntimeValue> values_of_body(nb::handle function,
                                         std::span<const RuntimeValue> arguments) {
    nb::list given;
    for (const RuntimeValue& value : arguments) {
        given.append(value_to_python(RuntimeValue(value), Given::kTensors));
    }
    nb::object returned = function(*nb::tuple(given));
    nb::object items =
        PyTuple_Check(returned.ptr()) ? returned : nb::object(nb::make_tuple(returned));
    std::vector<RuntimeValue> values;
    for (nb::handle item : items) {
        values.push_back(value_from_python(argument(item, 0)));
    }
    return values;
}

// An exception of a body is stored in `raised`, because exceptions must not pass through the
// engine.
eager::Body body_of(nb::handle function, std::exception_ptr* raised) {
    return [function,
            raised](std::span<const RuntimeValue> arguments) -> Result<std::vector<RuntimeValue>> {
        try {
            return values_of_body(function, arguments);
        } catch (...) {
            *raised = std::current_exception();
            return Error{"a body has raised an exception"};
        }
    };
}

// If, Loop, Scan or SequenceMap with functions.
nb::object call_with_bodies(const ops::Schema& schema, const eager::Inputs& inputs,
                            const eager::Arguments<Surface>& bound) {
    std::exception_ptr raised;
    std::vector<eager::NamedBody> bodies;
    for (const eager::BodyArgument<Surface>& given : bound.bodies()) {
        if (PyCallable_Check(given.body.ptr()) == 0) {
            raise(PyExc_TypeError, "`" + std::string(schema.name) + "` takes a function as `" +
                                       std::string(given.attribute) + "`, got `" +
                                       text_from_python(nb::repr(given.body)) + "`");
        }
        bodies.push_back({given.attribute, body_of(given.body, &raised)});
    }
    auto run = [&] {
        InsideScript inside;
        return eager::run_control(schema, inputs.values, bound.attributes(), bodies);
    };
    Result<std::vector<RuntimeValue>> results = run();
    if (raised != nullptr) {
        std::rethrow_exception(raised);
    }
    if (!results.ok()) {
        raise(eval_error(), "`" + std::string(schema.name) + "`: " + results.error().message);
    }
    bool is_tuple = results->size() == 1 && unpacked_results() > 1;
    return results_to_python(*results, !inputs.has_tensor && !inside_script(), is_tuple);
}

// The arguments by the schema; what is missing is not looked for.
eager::Arguments<Surface> bind(const Operator& op, const nb::tuple& args, nb::handle kwargs,
                               eager::CallMemory& memory) {
    eager::Arguments<Surface> bound(*op.schema(), args.size(), memory);
    for (nb::handle value : args) {
        bound.add(value);
    }
    if (kwargs.is_valid()) {
        for (auto [name, value] : nb::borrow<nb::dict>(kwargs)) {
            bound.add(text_from_python(name), value);
        }
    }
    return bound;
}

}  // namespace

Operator make_operator(std::string domain, std::string name, int64_t version) {
    const eval::OperatorEntry* entry = eval::find_operator(domain, name, version);
    return {std::move(domain), version, std::move(name), entry};
}

BoundCall bind_call(const Operator& op, const nb::tuple& args, const nb::dict& kwargs) {
    BoundCall call;
    if (op.schema() == nullptr) {  // nobody knows the operator
        call.inputs.assign(args.begin(), args.end());
        for (auto [name, value] : kwargs) {
            call.names.push_back(text_from_python(name));
            call.attributes.push_back(implied_attribute(call.names.back(), value));
        }
        return call;
    }
    eager::CallMemory memory;
    eager::Arguments<Surface> bound = bind(op, args, kwargs, memory);
    if (!bound.bodies().empty()) {
        raise(PyExc_TypeError, "`" + op.name +
                                   "` takes graphs: use `builder.if_` or `builder.loop`, " +
                                   "or `builder.graph.append` and `node.add_subgraph`");
    }
    call.inputs.assign(bound.inputs().begin(), bound.inputs().end());
    call.attributes = bound.attributes();
    return call;
}

void set_evaluator(nb::handle evaluator) {
    nb::handle before = g_evaluator;
    g_evaluator = evaluator.is_none() ? nb::handle() : evaluator.inc_ref();
    before.dec_ref();
}

bool has_evaluator() {
    return evaluator_in_force().is_valid();
}

void set_evaluator_choice(nb::handle choice) {
    nb::handle before = g_choice;
    g_choice = choice.inc_ref();
    before.dec_ref();
}

namespace {

// With the evaluator, or with the native kernels where it is invalid.
void evaluate_by(nb::handle evaluator, const eval::OperatorEntry& entry, int64_t opset_version,
                 std::span<const RuntimeValue* const> inputs,
                 std::span<const ir::Attribute> attributes, std::span<RuntimeValue> outputs) {
    if (evaluator.is_valid()) {
        evaluate_elsewhere(evaluator, entry, opset_version, inputs, attributes, outputs);
        return;
    }
    int64_t elements = 0;
    for (const RuntimeValue* input : inputs) {
        elements += input->is_tensor() ? input->tensor().count() : 0;
    }
    RunInterrupt interrupt;
    eval::RunOptions options;
    options.interrupt = interrupt.get();
    unwrap(interrupt,
           elements >= kReleaseAt
               ? run_aside(entry, opset_version, inputs, attributes, outputs, options)
               : eval::run_operator(entry, opset_version, inputs, attributes, outputs, options));
}

}  // namespace

void evaluate(const eval::OperatorEntry& entry, int64_t opset_version,
              std::span<const RuntimeValue* const> inputs,
              std::span<const ir::Attribute> attributes, std::span<RuntimeValue> outputs) {
    evaluate_by(evaluator_in_force(), entry, opset_version, inputs, attributes, outputs);
}

nb::object call(nb::handle self, const Operator& op, const nb::args& args, nb::handle kwargs) {
    // An evaluator that sees calls as they are made.
    nb::object evaluator = evaluator_in_force();
    if (evaluator.is_valid() && nb::cast<bool>(evaluator.attr("_sees_calls"))) {
        nb::object keywords = kwargs.is_valid() ? nb::borrow(kwargs) : nb::object(nb::dict());
        return evaluator.attr("eval_op")(self, nb::borrow<nb::tuple>(args), keywords);
    }
    if (op.entry == nullptr) {
        raise(eval_error(), eager::no_implementation(op.domain, op.name));
    }
    eager::CallMemory memory;
    eager::Arguments<Surface> bound = bind(op, args, kwargs, memory);
    bound.finish();
    eager::Inputs inputs = eager::convert<Surface>(*op.schema(), bound.inputs(), memory);
    if (!bound.bodies().empty()) {
        return call_with_bodies(*op.schema(), inputs, bound);
    }
    std::optional<size_t> settled =
        eager::settled_output_count(*op.schema(), inputs.values, bound.attributes());
    size_t count = settled ? *settled : eager::output_count(*op.schema(), unpacked_results());
    RuntimeValue one;
    std::vector<RuntimeValue> more(count == 1 ? 0 : count);
    std::span<RuntimeValue> outputs = count == 1 ? std::span(&one, 1) : std::span(more);
    evaluate_by(evaluator, *op.entry, op.version, inputs.values, bound.attributes(), outputs);
    return results_to_python(outputs, !inputs.has_tensor && !inside_script());
}

}  // namespace sardonyx::python
