// The entries of evaluation: a model, one operator, one function.
#include "eval/eval.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "eval/dispatch/invoke.h"
#include "eval/eager.h"
#include "eval/run/runner.h"
#include "ir/sparse.h"
#include "types/numpy_names.h"

namespace sardonyx::eval {
namespace {

bool is_of(ElementType declared, const Tensor& tensor) {
    return declared == ElementType::kUndefined || declared == tensor.element_type();
}

// Whether it is, or holds, what the type says. Shapes are not looked at.
bool holds_declared(const Type& type, const RuntimeValue& value) {
    if (!type.is_known() || value.is_none()) {
        return true;
    }
    if (value.is_tensor()) {
        return type.is_tensor() && is_of(type.element_type(), value.tensor());
    }
    if (value.is_map()) {
        return type.kind() == TypeKind::kMap && is_of(type.element_type(), value.map().keys) &&
               holds_declared(type.element(), value.map().values);
    }
    const std::vector<RuntimeValue>& items = value.sequence().items;
    return type.kind() == TypeKind::kSequence &&
           std::all_of(items.begin(), items.end(), [&](const RuntimeValue& item) {
               return holds_declared(type.element(), item);
           });
}

// Whether a value may be given for what a graph declares, shapes of items included.
bool fits(const Type& declared, const RuntimeValue& value) {
    const Type& type = declared.kind() == TypeKind::kOptional ? declared.element() : declared;
    if (!type.is_known()) {
        return true;
    }
    if (value.is_none()) {
        return declared.kind() == TypeKind::kOptional;
    }
    if (value.is_sequence() && type.kind() == TypeKind::kSequence) {
        const std::vector<RuntimeValue>& items = value.sequence().items;
        return std::all_of(items.begin(), items.end(),
                           [&](const RuntimeValue& item) { return fits(type.element(), item); });
    }
    if (!value.is_tensor()) {
        return holds_declared(type, value);
    }
    const Tensor& tensor = value.tensor();
    if (!type.is_tensor()) {
        return type.kind() == TypeKind::kSparseTensor;
    }
    if (!is_of(type.element_type(), tensor)) {
        return false;
    }
    if (!type.has_shape()) {
        return true;
    }
    const Shape& shape = type.shape();
    if (shape.size() != tensor.dims().size()) {
        return false;
    }
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d].is_static() && shape[d].value() != tensor.dims()[d]) {
            return false;
        }
    }
    return true;
}

// "input `x` is DOUBLE[2]": what does not fit; of a sequence the item whose shape does not.
std::string misfit(std::string_view name, const Type& declared, const RuntimeValue& value) {
    if (value.is_sequence() && declared.kind() == TypeKind::kSequence &&
        holds_declared(declared, value)) {
        const std::vector<RuntimeValue>& items = value.sequence().items;
        auto bad = std::find_if_not(items.begin(), items.end(), [&](const RuntimeValue& item) {
            return fits(declared.element(), item);
        });
        if (bad != items.end()) {
            return fmt::format("item {} of input `{}` is {}", bad - items.begin(), name,
                               bad->describe());
        }
    }
    return fmt::format("input `{}` is {}", name, value.describe());
}

// What an operator that is not known to inference gives may be of another type than the graph says.
Status check_outputs(const ir::Graph& graph, const std::vector<RuntimeValue>& results) {
    for (size_t i = 0; i < std::min(results.size(), graph.outputs.size()); ++i) {
        const Type& declared = graph.outputs[i]->type;
        const Type& type = declared.kind() == TypeKind::kOptional ? declared.element() : declared;
        if (!holds_declared(type, results[i]) && type.kind() != TypeKind::kSparseTensor) {
            return Error{fmt::format("output `{}` is {}, but the graph declares {}",
                                     graph.outputs[i]->name, results[i].describe(),
                                     declared.to_string())};
        }
    }
    return {};
}

// A size of a tensor that is given, and where: of an input, or of an item of one.
struct GivenSize {
    int64_t size;
    size_t input;
    std::optional<size_t> item;
};

// The sizes that are given at a place: one of a tensor, one of each item of a sequence.
std::vector<GivenSize> sizes_at(const Plan::Place& place, const RuntimeValue& value) {
    if (value.is_tensor()) {
        return {{value.tensor().dims()[place.axis], place.input, std::nullopt}};
    }
    std::vector<GivenSize> sizes;
    for (size_t i = 0; value.is_sequence() && i < value.sequence().items.size(); ++i) {
        const RuntimeValue& item = value.sequence().items[i];
        if (item.is_tensor()) {
            sizes.push_back({item.tensor().dims()[place.axis], place.input, i});
        }
    }
    return sizes;
}

std::string place_name(const ir::Graph& graph, const GivenSize& size) {
    return fmt::format("{}input `{}`", size.item ? fmt::format("item {} of ", *size.item) : "",
                       graph.inputs[size.input]->name);
}

// A name of a dimension is one size in all inputs, and in all items of the sequences among them.
Status check_names(const Plan& plan, const std::vector<RuntimeValue>& placed,
                   const std::vector<bool>& given) {
    for (const Plan::EqualSizes& equal : plan.equal_sizes) {
        std::optional<GivenSize> first;
        for (const Plan::Place& place : equal.places) {
            if (!given[place.input]) {
                continue;
            }
            for (const GivenSize& size : sizes_at(place, placed[place.input])) {
                first = first.value_or(size);
                if (size.size != first->size) {
                    return Error{fmt::format("dimension `{}` is {} in {} and {} in {}", equal.name,
                                             first->size, place_name(*plan.graph, *first),
                                             size.size, place_name(*plan.graph, size))};
                }
            }
        }
    }
    return {};
}

// ": it has `x`, `y`".
std::string inputs_of(const ir::Graph& graph) {
    constexpr size_t kMost = 8;
    std::string text;
    for (size_t i = 0; i < std::min(graph.inputs.size(), kMost); ++i) {
        text += fmt::format("{}`{}`", i == 0 ? ": it has " : ", ", graph.inputs[i]->name);
    }
    return graph.inputs.size() > kMost ? text + ", ..." : text;
}

Status place_inputs(const Plan& plan,
                    std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
                    const RunOptions& options, std::vector<RuntimeValue>* placed) {
    const ir::Graph& graph = *plan.graph;
    std::vector<bool> given(graph.inputs.size(), false);
    placed->resize(graph.inputs.size());
    for (const auto& [name, value] : inputs) {
        auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&, key = name](const ir::Value* v) { return v->name == key; });
        if (found == graph.inputs.end()) {
            return Error{fmt::format("the graph has no input `{}`{}", name, inputs_of(graph))};
        }
        if (!fits((*found)->type, value)) {
            const Type& declared = (*found)->type;
            return Error{fmt::format(
                "{}, but the graph declares {}{}", misfit(name, declared, value),
                declared.to_string(),
                value.is_tensor()
                    ? conversion_help(name, value.tensor().element_type(), declared.element_type())
                    : "")};
        }
        size_t i = found - graph.inputs.begin();
        if (given[i]) {
            return Error{fmt::format("input `{}` is given twice", name)};
        }
        (*placed)[i] = value;
        given[i] = true;
    }
    SDX_TRY(check_names(plan, *placed, given));
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
        const ir::Value& input = *graph.inputs[i];
        if (given[i]) {
            continue;
        }
        if (input.constant.has_value()) {
            (*placed)[i] = *input.constant;
        } else if (input.sparse != nullptr) {
            SDX_ASSIGN((*placed)[i], ir::densified(*input.sparse, options.max_bytes));
        } else if (input.type.kind() != TypeKind::kOptional) {
            return Error{
                fmt::format("input `{}` ({}) is missing", input.name, input.type.to_string())};
        }
    }
    return {};
}

// An operator with subgraphs: a plan and a frame of its own.
Result<std::vector<RuntimeValue>> run_control(const OperatorEntry& entry, int64_t opset_version,
                                              std::span<const RuntimeValue* const> inputs,
                                              std::span<const ir::Attribute> attributes,
                                              size_t output_count, const RunOptions& options) {
    ir::OpsetImport import{entry.schema->domain, opset_version};
    SDX_ASSIGN(std::unique_ptr<FramePlan> plan,
               make_call_plan(entry, attributes, inputs.size(), output_count, {&import, 1}));
    Frame frame(*plan, {});
    for (size_t i = 0; i < inputs.size(); ++i) {
        frame.slot(static_cast<Operand>(i)) = *inputs[i];
    }
    Runner runner(options);
    SDX_TRY(runner.run_graph(plan->graph, frame));
    std::vector<RuntimeValue> outputs;
    for (Operand operand : plan->graph.nodes[0].outputs) {
        outputs.push_back(std::move(frame.slot(operand)));
    }
    return outputs;
}

Error at_call(std::string_view op_type, const Error& error,
              std::span<const RuntimeValue* const> inputs) {
    return Error{
        fmt::format("`{}`: {}; inputs: {}", op_type, error.message, describe_inputs(inputs))};
}

}  // namespace

Result<std::vector<RuntimeValue>> run(
    const Plan& plan, std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
    const RunOptions& options, RunObserver* observer) {
    std::vector<RuntimeValue> placed;
    SDX_TRY(place_inputs(plan, inputs, options, &placed));
    Runner runner(options, observer);
    SDX_ASSIGN(std::vector<RuntimeValue> results, unless_stopped(options, [&] {
                   return runner.call(plan.main, std::move(placed), {});
               }));
    SDX_TRY(check_outputs(*plan.graph, results));
    return results;
}

Result<std::vector<RuntimeValue>> run(
    const Plan& plan, std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
    const RunOptions& options) {
    return run(plan, inputs, options, nullptr);
}

Result<std::vector<RuntimeValue>> run_model(
    const ir::Model& model, std::span<const std::pair<std::string_view, RuntimeValue>> inputs,
    const RunOptions& options) {
    SDX_ASSIGN(std::shared_ptr<const Plan> plan, prepare(model));
    return run(*plan, inputs, options);
}

Result<std::vector<RuntimeValue>> run_function(const ir::Model& model, const ir::Function& function,
                                               std::span<const RuntimeValue> inputs,
                                               std::span<const ir::Attribute> attributes,
                                               const RunOptions& options) {
    SDX_ASSIGN(std::shared_ptr<const Plan> plan, prepare_function(model, function));
    Runner runner(options);
    return unless_stopped(options, [&] {
        return runner.call_function(function, plan->main, {inputs.begin(), inputs.end()},
                                    AttributeView(attributes, {}));
    });
}

Status run_operator(const OperatorEntry& entry, int64_t opset_version,
                    std::span<const RuntimeValue* const> inputs,
                    std::span<const ir::Attribute> attributes, std::span<RuntimeValue> outputs,
                    const RunOptions& options) {
    const ops::Schema& schema = *entry.schema;
    if (entry.control != nullptr) {
        auto results = unless_stopped(options, [&] {
            return run_control(entry, opset_version, inputs, attributes, outputs.size(), options);
        });
        SDX_TRY(results);
        std::move(results->begin(), results->end(), outputs.begin());
        return {};
    }
    if (entry.kernel == nullptr) {
        return Error{fmt::format("`{}`: version {} of the operator is not implemented", schema.name,
                                 schema.since_version)};
    }
    size_t count = inputs.size();
    while (count > 0 && inputs[count - 1]->is_none() && count > schema.minimum_inputs) {
        --count;
    }
    inputs = inputs.first(count);
    RandomState random{options.seed};
    // A kernel fills all that the operator always has.
    std::vector<RuntimeValue> all(outputs.size() < schema.minimum_outputs ? schema.minimum_outputs
                                                                          : 0);
    KernelContext context(schema, inputs, AttributeView(attributes, {}),
                          all.empty() ? outputs : std::span(all), options, random);
    bool has_attributes = !attributes.empty() || !schema.attributes.empty();
    Status status = invoke(entry, context, outputs.size(),
                           has_attributes ? Unchecked::kCallAndAttributes : Unchecked::kCall);
    if (!status.ok()) {
        return is_stopped(options) ? status.error() : at_call(schema.name, status.error(), inputs);
    }
    if (!all.empty()) {
        std::move(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(outputs.size()),
                  outputs.begin());
    }
    return {};
}

Result<std::vector<RuntimeValue>> run_operator(const OperatorEntry& entry, int64_t opset_version,
                                               std::span<const RuntimeValue* const> inputs,
                                               std::span<const ir::Attribute> attributes,
                                               size_t output_count, const RunOptions& options) {
    std::vector<RuntimeValue> outputs(output_count);
    SDX_TRY(run_operator(entry, opset_version, inputs, attributes, outputs, options));
    return outputs;
}

Result<std::vector<RuntimeValue>> run_operator(std::string_view domain, std::string_view op_type,
                                               int64_t opset_version,
                                               std::span<const RuntimeValue> inputs,
                                               std::span<const ir::Attribute> attributes,
                                               size_t output_count, const RunOptions& options) {
    const OperatorEntry* entry = find_operator(domain, op_type, opset_version);
    if (entry == nullptr) {
        return Error{fmt::format("there is no operator `{}` in version {} of domain \"{}\"",
                                 op_type, opset_version, domain)};
    }
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& input : inputs) {
        pointers.push_back(&input);
    }
    return run_operator(*entry, opset_version, pointers, attributes, output_count, options);
}

}  // namespace sardonyx::eval
