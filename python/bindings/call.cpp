// A call of an operator from Python, in four steps: arguments are bound to inputs and attributes,
// literals take the element type of the tensors beside them, the operator runs, and the results
// leave as what came in: Tensors, or NumPy arrays when no Tensor came in.
#include "bindings/call.h"

#include <array>
#include <bit>
#include <list>
#include <memory_resource>
#include <optional>

#include "bindings/interrupt.h"
#include "bindings/tensor.h"
#include "bindings/unpacking.h"
#include "calls/check.h"
#include "ops/standard.h"

namespace sardonyx::python {

namespace {

using eval::RuntimeValue;

// Where no block has chosen another; null: the native kernels.
nb::handle g_evaluator;
// Gives what a block of this thread or task has chosen, (evaluator or None, ...), or None; null
// until there has been such a block.
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

// Evaluating lets other Python threads run when it takes longer than letting them does.
constexpr int64_t kReleaseAt = 1 << 14;  // elements

// Where the lists of a call lie: most have few inputs, and need no heap.
struct CallMemory {
    std::array<std::byte, 1024> buffer;
    std::pmr::monotonic_buffer_resource resource{buffer.data(), buffer.size()};
};

struct Arguments {
    explicit Arguments(CallMemory& memory) : inputs(&memory.resource) {}

    std::pmr::vector<nb::handle> inputs;  // null or None: left out
    std::vector<ir::Attribute> attributes;
    bool has_graphs = false;

    void set_input(const Operator& op, size_t index, nb::handle value) {
        inputs.resize(std::max(inputs.size(), index + 1));
        if (inputs[index].is_valid()) {
            raise(PyExc_TypeError, calls::given_twice(*op.schema(), index).text());
        }
        inputs[index] = value;
    }
};

std::string quantity(size_t count, const std::string& word) {
    return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

void bind_keyword(const Operator& op, Arguments& bound, std::string_view name, nb::handle value) {
    const ops::Schema& schema = *op.schema();
    calls::Place place = calls::place_of(schema, name);
    if (place.input) {
        bound.set_input(op, *place.input, value);
        return;
    }
    const ops::AttributeSchema* attribute = place.attribute;
    if (attribute == nullptr) {
        raise(PyExc_TypeError, calls::unknown_keyword(schema, name).text());
    }
    if (attribute->type == ops::AttributeType::kGraph) {
        bound.has_graphs = true;
    } else if (!value.is_none()) {
        bound.attributes.push_back(attribute_from_python(*attribute, value));
    }
}

void check_complete(const Operator& op, const Arguments& bound, nb::handle kwargs) {
    const ops::Schema& schema = *op.schema();
    std::optional<calls::Problem> problem = calls::check_inputs(
        schema, bound.inputs.size(),
        [&bound](size_t i) { return bound.inputs[i].is_valid() && !bound.inputs[i].is_none(); });
    if (problem) {
        raise(PyExc_TypeError, problem->text());
    }
    calls::check_required(
        schema,
        [&kwargs](std::string_view name) {
            nb::handle given =
                kwargs.is_valid()
                    ? nb::handle(PyDict_GetItem(kwargs.ptr(), text_to_python(name).ptr()))
                    : nb::handle();
            return given.is_valid() && !given.is_none();
        },
        [](const calls::Problem& missing) { raise(PyExc_TypeError, missing.text()); });
}

Arguments bind(const Operator& op, const nb::args& args, nb::handle kwargs, CallMemory& memory) {
    Arguments bound(memory);
    bound.inputs.reserve(args.size() + 2);
    for (nb::handle value : args) {
        bound.inputs.push_back(value);
    }
    if (kwargs.is_valid()) {
        for (auto [name, value] : nb::borrow<nb::dict>(kwargs)) {
            bind_keyword(op, bound, text_from_python(name), value);
        }
    }
    check_complete(op, bound, kwargs);
    while (!bound.inputs.empty() &&
           (!bound.inputs.back().is_valid() || bound.inputs.back().is_none())) {
        bound.inputs.pop_back();
    }
    return bound;
}

ElementType element_type(const RuntimeValue& value) {
    return value.is_tensor()     ? value.tensor().element_type()
           : value.is_sequence() ? value.sequence().element_type
                                 : ElementType::kUndefined;
}

// The element type that input `index` must have: the only one that its type variable admits, or
// that of an input that shares the variable.
ElementType wanted_type(const ops::Schema& schema, std::span<const RuntimeValue* const> inputs,
                        size_t index) {
    const ops::Parameter* parameter = schema.input(index);
    const ops::TypeSet& types = schema.type_variables[parameter->type_variable].types;
    ops::ElementMask all = types.tensor | types.sequence;
    if (std::has_single_bit(all)) {
        return static_cast<ElementType>(std::countr_zero(all));
    }
    for (size_t i = 0; i < inputs.size() && parameter->is_homogeneous; ++i) {
        if (schema.input(i)->type_variable == parameter->type_variable &&
            element_type(*inputs[i]) != ElementType::kUndefined) {
            return element_type(*inputs[i]);
        }
    }
    return ElementType::kUndefined;
}

// The type of a literal that no tensor settles: an int stands for a float where ints are not
// admitted.
ElementType default_type(const ops::Schema& schema, size_t index, nb::handle literal) {
    auto admits = [&](ElementType type) {
        const ops::TypeSet& types = schema.type_variables[schema.input(index)->type_variable].types;
        return (types.tensor >> static_cast<int>(type) & 1) != 0;
    };
    bool is_int = literal_type(literal) == ElementType::kInt64;
    return is_int && !admits(ElementType::kInt64) && admits(ElementType::kFloat)
               ? ElementType::kFloat
               : ElementType::kUndefined;
}

// An empty list is a sequence where only a sequence can stand.
bool is_literal_input(const ops::Schema& schema, size_t index, nb::handle value) {
    const ops::TypeSet& types = schema.type_variables[schema.input(index)->type_variable].types;
    return is_literal(value) && (types.tensor != 0 || !PyList_Check(value.ptr()));
}

const RuntimeValue kLeftOut;

struct Inputs {
    explicit Inputs(CallMemory& memory) : values(&memory.resource), made(&memory.resource) {}

    std::pmr::vector<const RuntimeValue*> values;  // of the caller's Tensors, or of `made`
    std::pmr::list<RuntimeValue> made;
    bool has_tensor = false;

    void set(size_t index, RuntimeValue value) {
        made.push_back(std::move(value));
        values[index] = &made.back();
    }
};

// What stands for an input that is neither a Tensor nor a literal.
void convert_other(const ops::Schema& schema, size_t i, nb::handle object, Inputs& result) {
    const ops::Parameter& parameter = *schema.input(i);
    const ops::TypeSet& types = schema.type_variables[parameter.type_variable].types;
    if (types.sequence == 0 && is_mixed_list(object)) {  // [n, -1] as a shape
        if (parameter.option == ops::ParameterOption::kVariadic) {
            raise(PyExc_TypeError, "a list of tensors as input `" + std::string(parameter.name) +
                                       "` of `" + std::string(schema.name) +
                                       "`, which takes them one by one: unpack it with `*`");
        }
        result.set(i, tensor_from_mixed_list(object, wanted_type(schema, result.values, i)));
        result.has_tensor = true;
        return;
    }
    result.set(i, value_from_python(object));
    result.has_tensor = result.has_tensor || holds_tensor(object);
}

// What is written down for Range is a scalar, as in a compiled script; a tensor that was computed
// may have the shape [1].
void check_written_scalars(const ops::Schema& schema, std::span<const nb::handle> inputs,
                           const Inputs& bound) {
    for (size_t i = 0; i < inputs.size(); ++i) {
        bool is_written = inputs[i].is_valid() && as_tensor(inputs[i]) == nullptr;
        if (is_written && bound.values[i]->is_tensor() && bound.values[i]->tensor().rank() != 0) {
            raise(eval_error(),
                  "input `" + std::string(schema.inputs[i].name) + "` of `Range` is of rank " +
                      std::to_string(bound.values[i]->tensor().rank()) + ", and must have rank 0");
        }
    }
}

Inputs convert(const ops::Schema& schema, std::span<const nb::handle> inputs, CallMemory& memory) {
    Inputs result(memory);
    result.values.assign(inputs.size(), &kLeftOut);
    std::pmr::vector<size_t> literals(&memory.resource);
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].is_valid()) {
            continue;
        }
        if (const PyTensor* tensor = as_tensor(inputs[i])) {
            result.values[i] = &tensor->value;
            result.has_tensor = true;
        } else if (is_literal_input(schema, i, inputs[i])) {
            literals.push_back(i);
        } else {
            convert_other(schema, i, inputs[i], result);
        }
    }
    std::pmr::vector<ElementType> types(&memory.resource);  // settled by tensors alone, so before
    for (size_t i : literals) {                             // any literal becomes one
        ElementType wanted = wanted_type(schema, result.values, i);
        types.push_back(wanted != ElementType::kUndefined ? wanted
                                                          : default_type(schema, i, inputs[i]));
    }
    for (size_t i = 0; i < literals.size(); ++i) {
        result.set(literals[i], tensor_from_literal(inputs[literals[i]], types[i]));
    }
    if (ops::is_standard(schema, "Range")) {
        check_written_scalars(schema, inputs, result);
    }
    return result;
}

const ir::Attribute* find(const std::vector<ir::Attribute>& attributes, std::string_view name) {
    for (const ir::Attribute& attribute : attributes) {
        if (attribute.name == name) {
            return &attribute;
        }
    }
    return nullptr;
}

// How many results the call has: as many as the caller unpacks, else those that are required.
size_t output_count(const Operator& op, const Inputs& inputs,
                    const std::vector<ir::Attribute>& attributes) {
    const ops::Schema& schema = *op.schema();
    size_t required = std::max<size_t>(schema.minimum_outputs, 1);
    if (schema.maximum_outputs == 1) {
        return 1;
    }
    size_t wanted = unpacked_results();
    if (ops::is_standard(schema, "Split")) {
        const ir::Attribute* parts = find(attributes, "num_outputs");
        const ir::Attribute* sizes = find(attributes, "split");
        if (parts != nullptr) {
            return static_cast<size_t>(std::clamp<int64_t>(*parts->get<int64_t>(), 1, 1 << 20));
        }
        if (sizes != nullptr) {
            return std::max<size_t>(sizes->get<std::vector<int64_t>>()->size(), 1);
        }
        if (inputs.values.size() > 1 && inputs.values[1]->is_tensor()) {
            return static_cast<size_t>(std::max<int64_t>(inputs.values[1]->tensor().count(), 1));
        }
    }
    return wanted == 0 ? required : std::min<size_t>(wanted, schema.maximum_outputs);
}

nb::object to_python(std::vector<RuntimeValue> results, bool as_arrays) {
    if (results.size() == 1) {
        return value_to_python(std::move(results.front()), as_arrays);
    }
    nb::list items;
    for (RuntimeValue& result : results) {
        items.append(value_to_python(std::move(result), as_arrays));
    }
    return nb::tuple(items);
}

std::vector<RuntimeValue> evaluate_elsewhere(nb::handle evaluator, const eval::OperatorEntry& entry,
                                             int64_t opset_version,
                                             std::span<const RuntimeValue* const> inputs,
                                             std::span<const ir::Attribute> attributes,
                                             size_t output_count) {
    nb::list arrays;
    for (const RuntimeValue* input : inputs) {
        arrays.append(value_to_python(*input, Given::kViews));
    }
    nb::dict values;
    for (const ir::Attribute& attribute : attributes) {
        values[text_to_python(attribute.name)] = attribute_to_python(attribute);
    }
    std::string name(entry.schema->name);
    Operator op{std::string(entry.schema->domain), opset_version, name, &entry};
    nb::object results = evaluator.attr("eval")(nb::cast(std::move(op)), arrays, values,
                                                static_cast<int64_t>(output_count));
    std::vector<RuntimeValue> converted;
    for (nb::handle result : results) {
        converted.push_back(value_from_python(result));
    }
    if (converted.size() != output_count) {
        raise(eval_error(), "the evaluator gave " + quantity(converted.size(), "result") + " of `" +
                                name + "`, not " + std::to_string(output_count));
    }
    return converted;
}

// Lets other Python threads run meanwhile; one of them may assign items of an input, so the inputs
// are kept.
Result<std::vector<RuntimeValue>> run_aside(const eval::OperatorEntry& entry, int64_t opset_version,
                                            std::span<const RuntimeValue* const> inputs,
                                            std::span<const ir::Attribute> attributes,
                                            size_t output_count, const eval::RunOptions& options) {
    std::vector<RuntimeValue> kept;
    for (const RuntimeValue* input : inputs) {
        kept.push_back(*input);
    }
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& value : kept) {
        pointers.push_back(&value);
    }
    nb::gil_scoped_release release;
    return eval::run_operator(entry, opset_version, pointers, attributes, output_count, options);
}

}  // namespace

Operator make_operator(std::string domain, std::string name, int64_t version) {
    const eval::OperatorEntry* entry = eval::find_operator(domain, name, version);
    return {std::move(domain), version, std::move(name), entry};
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

std::vector<RuntimeValue> evaluate(const eval::OperatorEntry& entry, int64_t opset_version,
                                   std::span<const RuntimeValue* const> inputs,
                                   std::span<const ir::Attribute> attributes, size_t output_count) {
    if (nb::object evaluator = evaluator_in_force(); evaluator.is_valid()) {
        return evaluate_elsewhere(evaluator, entry, opset_version, inputs, attributes,
                                  output_count);
    }
    int64_t elements = 0;
    for (const RuntimeValue* input : inputs) {
        elements += input->is_tensor() ? input->tensor().count() : 0;
    }
    RunInterrupt interrupt;
    eval::RunOptions options;
    options.interrupt = interrupt.get();
    if (elements >= kReleaseAt) {
        return unwrap(interrupt,
                      run_aside(entry, opset_version, inputs, attributes, output_count, options));
    }
    return unwrap(interrupt, eval::run_operator(entry, opset_version, inputs, attributes,
                                                output_count, options));
}

nb::object call(nb::handle self, const Operator& op, const nb::args& args, nb::handle kwargs) {
    // An evaluator that sees calls as they are made.
    if (nb::object evaluator = evaluator_in_force();
        evaluator.is_valid() && nb::cast<bool>(evaluator.attr("_sees_calls"))) {
        nb::object keywords = kwargs.is_valid() ? nb::borrow(kwargs) : nb::object(nb::dict());
        return evaluator.attr("eval_op")(self, nb::borrow<nb::tuple>(args), keywords);
    }
    if (op.entry == nullptr) {
        raise(eval_error(), "`" + op.name + "` of the domain `" + op.domain +
                                "` has no implementation to evaluate: it can be compiled only");
    }
    CallMemory memory;
    Arguments bound = bind(op, args, kwargs, memory);
    if (bound.has_graphs) {
        nb::object run = nb::module_::import_("sardonyx._control").attr("run");
        nb::list inputs;
        for (nb::handle input : bound.inputs) {
            inputs.append(input.is_valid() ? input : nb::handle(Py_None));
        }
        return run(self, inputs, nb::dict(nb::borrow<nb::dict>(kwargs)), unpacked_results());
    }
    Inputs inputs = convert(*op.schema(), bound.inputs, memory);
    size_t count = output_count(op, inputs, bound.attributes);
    return to_python(evaluate(*op.entry, op.version, inputs.values, bound.attributes, count),
                     !inputs.has_tensor && !inside_script());
}

}  // namespace sardonyx::python
