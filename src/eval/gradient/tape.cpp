#include "eval/gradient/tape.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "eval/dispatch/invoke.h"
#include "eval/gradient/derivative.h"

namespace sardonyx::eval {
namespace {

// Operators that put tensors into sequences and take them out: the tensors stay the variables that
// they are.
constexpr std::array<std::string_view, 7> kHandOn = {
    "Identity",          "Optional",      "OptionalGetElement", "SequenceAt",
    "SequenceConstruct", "SequenceErase", "SequenceInsert",
};

bool is_variable(const RuntimeValue& value) {
    if (!value.is_sequence()) {
        return value.variable() != 0;
    }
    const std::vector<RuntimeValue>& items = value.sequence().items;
    return std::any_of(items.begin(), items.end(), is_variable);
}

// The tensors among the values and in their sequences.
std::vector<RuntimeValue> flat(std::span<const RuntimeValue> values) {
    std::vector<RuntimeValue> result;
    for (const RuntimeValue& value : values) {
        if (value.is_sequence()) {
            std::vector<RuntimeValue> items = flat(value.sequence().items);
            result.insert(result.end(), items.begin(), items.end());
        } else {
            result.push_back(value);
        }
    }
    return result;
}

// Makes each floating tensor a variable of its own; 0 for `last`: none of them.
void number(RuntimeValue* value, int64_t* last) {
    if (value->is_sequence()) {
        auto copy = std::make_shared<Sequence>(value->sequence());
        for (RuntimeValue& item : copy->items) {
            number(&item, last);
        }
        *value = std::shared_ptr<const Sequence>(std::move(copy));
    } else {
        bool is_float = value->is_tensor() && is_floating(value->tensor().element_type());
        value->set_variable(last != nullptr && is_float ? ++*last : 0);
    }
}

Error at_record(const TapeRecord& record, const Error& error) {
    std::string place =
        record.node.empty() ? std::string() : fmt::format("node `{}` ", record.node);
    return Error{
        fmt::format("on the way back, at {}(`{}`): {}", place, record.schema->name, error.message)};
}

// The gradients by the inputs of a record.
Result<std::vector<RuntimeValue>> gradients_of(Tape& tape, const TapeRecord& record,
                                               std::vector<RuntimeValue> gradients,
                                               const std::vector<bool>& needs) {
    const Derivative* derivative = find_derivative(*record.schema);
    if (derivative == nullptr) {
        return Error{fmt::format(
            "the operator has no rule of differentiation; write the way from `xs` to `y` with "
            "operators that have one: {}",
            derivative_names())};
    }
    Algebra algebra(tape);
    if (derivative->rule != nullptr) {
        Backward backward(algebra, record, record.inputs, std::move(gradients), needs);
        derivative->rule(backward);
        SDX_TRY(algebra.status());
        return backward.take_gradients();
    }
    std::vector<RuntimeValue> results(record.inputs.size());
    if (derivative->definition == nullptr) {
        return results;
    }
    // Variables of their own, and back through what the definition records.
    size_t start = tape.position();
    bool was_recording = tape.set_recording(true);
    std::vector<RuntimeValue> inputs = record.inputs;
    std::vector<RuntimeValue> variables;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!was_recording) {
            inputs[i].set_variable(0);
        }
        if (needs[i]) {
            inputs[i] = tape.variable(inputs[i]);
            variables.push_back(inputs[i]);
        }
    }
    size_t first = tape.position();
    Backward backward(algebra, record, std::move(inputs), {}, needs);
    std::vector<RuntimeValue> ys;
    for (const Expr& y : derivative->definition(backward)) {
        ys.push_back(y.value());
    }
    tape.set_recording(was_recording);
    SDX_TRY(algebra.status());
    gradients.resize(ys.size());
    auto found = tape.gradients(first, ys, gradients, variables);
    if (!was_recording) {
        tape.truncate(start);
    }
    if (!found.ok()) {
        return found.error();
    }
    for (size_t i = 0, next = 0; i < results.size(); ++i) {
        if (needs[i]) {
            results[i] = std::move((*found)[next++]);
        }
    }
    return results;
}

// Gradients by variable, from `first` on.
class Gradients {
  public:
    Gradients(Tape& tape, int64_t first, int64_t last)
        : tape_(tape), first_(first), values_(last - first + 1) {}

    RuntimeValue& at(int64_t variable) { return values_[variable - first_]; }
    Status add(int64_t variable, RuntimeValue gradient) {
        RuntimeValue& sum = at(variable);
        if (gradient.is_none()) {
            return {};
        }
        if (sum.is_none()) {
            sum = std::move(gradient);
            return {};
        }
        Algebra algebra(tape_);
        sum = (algebra.value(std::move(sum)) + algebra.value(std::move(gradient))).value();
        return algebra.status();
    }

  private:
    Tape& tape_;
    int64_t first_;
    std::vector<RuntimeValue> values_;
};

}  // namespace

RuntimeValue Tape::variable(const RuntimeValue& value) {
    static const OperatorEntry* identity = find_operator("", "Identity", INT16_MAX);
    RuntimeValue result = value;
    result.set_variable(++last_variable_);
    if (is_recording_ && value.variable() != 0) {
        records_.push_back({identity->schema, {}, {}, {value}, {result}});
    }
    return result;
}

bool Tape::has_variable(std::span<const RuntimeValue* const> values) {
    return std::any_of(values.begin(), values.end(),
                       [](const RuntimeValue* value) { return is_variable(*value); });
}

void Tape::record(const ops::Schema& schema, std::string_view node, AttributeView attributes,
                  std::vector<RuntimeValue> inputs, std::span<RuntimeValue> outputs) {
    auto is_sequence = [](const RuntimeValue& value) { return value.is_sequence(); };
    bool has_sequence = std::any_of(inputs.begin(), inputs.end(), is_sequence) ||
                        std::any_of(outputs.begin(), outputs.end(), is_sequence);
    if (has_sequence && schema.domain.empty() &&
        std::find(kHandOn.begin(), kHandOn.end(), schema.name) != kHandOn.end()) {
        return;
    }
    bool depends = is_recording_ && std::any_of(inputs.begin(), inputs.end(), is_variable);
    int64_t before = last_variable_;
    for (RuntimeValue& output : outputs) {
        number(&output, depends ? &last_variable_ : nullptr);
    }
    if (last_variable_ == before) {
        return;
    }
    TapeRecord& record = records_.emplace_back();
    record.schema = &schema;
    record.node = node;
    record.inputs = has_sequence ? flat(inputs) : std::move(inputs);
    record.outputs = flat(outputs);
    for (const ir::Attribute& attribute : attributes.all()) {
        if (const ir::Attribute* value = attributes.resolve(attribute)) {
            record.attributes.push_back(*value);
            record.attributes.back().name = attribute.name;
        }
    }
}

Result<std::vector<RuntimeValue>> Tape::run(const OperatorEntry& entry,
                                            std::vector<RuntimeValue> inputs,
                                            std::span<const ir::Attribute> attributes,
                                            size_t output_count) {
    const ops::Schema& schema = *entry.schema;
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& input : inputs) {
        pointers.push_back(&input);
    }
    std::vector<RuntimeValue> outputs(std::max<size_t>(output_count, schema.minimum_outputs));
    AttributeView view(attributes, {});
    KernelContext context(schema, pointers, view, outputs, options_, random_);
    if (Status status = invoke(entry, context, output_count); !status.ok()) {
        return Error{fmt::format("`{}`: {}; inputs: {}", schema.name, status.error().message,
                                 describe_inputs(pointers))};
    }
    record(schema, {}, view, std::move(inputs), outputs);
    return outputs;
}

Result<std::vector<RuntimeValue>> Tape::gradients(size_t first, std::span<const RuntimeValue> ys,
                                                  std::span<const RuntimeValue> seeds,
                                                  std::span<const RuntimeValue> xs) {
    std::vector<RuntimeValue> results;
    if (xs.empty()) {
        return results;
    }
    size_t end = records_.size();
    int64_t base = xs.front().variable();
    Gradients gradients(*this, base, last_variable_);
    // What depends on an x.
    std::vector<bool> depends(last_variable_ - base + 1);
    auto is_dependent = [&](const RuntimeValue& value) {
        return value.variable() >= base && depends[value.variable() - base];
    };
    for (const RuntimeValue& x : xs) {
        depends[x.variable() - base] = true;
    }
    for (size_t i = first; i < end; ++i) {
        const TapeRecord& record = records_[i];
        if (std::any_of(record.inputs.begin(), record.inputs.end(), is_dependent)) {
            for (const RuntimeValue& output : record.outputs) {
                if (output.variable() != 0) {
                    depends[output.variable() - base] = true;
                }
            }
        }
    }
    for (size_t i = 0; i < ys.size(); ++i) {
        if (is_dependent(ys[i])) {
            SDX_TRY(gradients.add(ys[i].variable(), seeds[i]));
        }
    }
    for (size_t i = end; i-- > first;) {
        const TapeRecord& record = records_[i];
        std::vector<RuntimeValue> by_output(record.outputs.size());
        bool is_reached = false;
        for (size_t k = 0; k < by_output.size(); ++k) {
            if (is_dependent(record.outputs[k])) {
                by_output[k] = std::move(gradients.at(record.outputs[k].variable()));
                is_reached |= !by_output[k].is_none();
            }
        }
        if (!is_reached) {
            continue;
        }
        std::vector<bool> needs(record.inputs.size());
        std::transform(record.inputs.begin(), record.inputs.end(), needs.begin(), is_dependent);
        auto by_input = gradients_of(*this, record, std::move(by_output), needs);
        if (!by_input.ok()) {
            return at_record(record, by_input.error());
        }
        for (size_t k = 0; k < needs.size(); ++k) {
            if (needs[k]) {
                SDX_TRY(gradients.add(record.inputs[k].variable(), std::move((*by_input)[k])));
            }
        }
    }
    for (const RuntimeValue& x : xs) {
        results.push_back(std::move(gradients.at(x.variable())));
    }
    return results;
}

}  // namespace sardonyx::eval
