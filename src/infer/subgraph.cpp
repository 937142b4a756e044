#include "infer/subgraph.h"

#include <fmt/format.h>

#include <functional>

#include "infer/diagnostics.h"
#include "infer/node_context.h"

namespace sardonyx::infer {

Knowledge knowledge_of(const Context& context, const ir::Value& value) {
    Knowledge result;
    result.type = value.type;
    if (const Tensor* constant = constant_of(context, value)) {
        result.constant = *constant;
    }
    if (value.content != nullptr) {
        result.content = std::make_unique<ir::SymbolicContent>(*value.content);
    }
    return result;
}

void set_knowledge(ir::Value& value, Knowledge knowledge) {
    value.type = std::move(knowledge.type);
    value.constant = std::move(knowledge.constant);
    value.content = std::move(knowledge.content);
}

Snapshot::Snapshot(const ir::Graph& graph) {
    add(graph);
}

void Snapshot::add(ir::Value* value) {
    std::shared_ptr<const ir::SymbolicContent> content;
    if (value->content != nullptr) {
        content = std::make_shared<ir::SymbolicContent>(*value->content);
    }
    entries_.push_back({value, value->type, value->constant, std::move(content)});
}

void Snapshot::add(const ir::Graph& graph) {
    for (ir::Value* input : graph.inputs) {
        add(input);
    }
    for (ir::Node& node : graph) {
        for (ir::Value* output : node.outputs()) {
            add(output);
        }
        for (const ir::Attribute& attribute : node.attributes) {
            if (ir::Graph* const* subgraph = attribute.get<ir::Graph*>()) {
                add(**subgraph);
            } else if (auto* subgraphs = attribute.get<std::vector<ir::Graph*>>()) {
                for (ir::Graph* each : *subgraphs) {
                    add(*each);
                }
            }
        }
    }
}

void Snapshot::restore() const {
    for (const Entry& entry : entries_) {
        entry.value->type = entry.type;
        entry.value->constant = entry.constant;
        entry.value->content = entry.content != nullptr
                                   ? std::make_unique<ir::SymbolicContent>(*entry.content)
                                   : nullptr;
    }
}

void Snapshot::drop_symbols() const {
    for (const Entry& entry : entries_) {
        entry.value->type =
            infer::drop_symbols(entry.value->type, [](std::string_view) { return true; });
        entry.value->content = nullptr;
    }
}

Type drop_symbols(const Type& type, const std::function<bool(std::string_view)>& is_dropped) {
    auto value_of = [&is_dropped](std::string_view symbol) {
        return is_dropped(symbol) ? Dim() : Dim::symbol(symbol);
    };
    switch (type.kind()) {
        case TypeKind::kUnknown:
            return type;
        case TypeKind::kSequence:
            return Type::sequence(drop_symbols(type.element(), is_dropped));
        case TypeKind::kOptional:
            return Type::optional(drop_symbols(type.element(), is_dropped));
        case TypeKind::kMap:
            return Type::map(type.element_type(), drop_symbols(type.element(), is_dropped));
        case TypeKind::kTensor:
        case TypeKind::kSparseTensor:
            break;
    }
    if (!type.has_shape()) {
        return type;
    }
    Shape shape = type.shape();
    for (Dim& dim : shape) {
        if (dim.is_symbolic()) {
            dim = dim.substitute(value_of);
        }
    }
    Type result = type;
    result.set_shape(std::move(shape));
    return result;
}

std::optional<int> fresh_number(std::string_view symbol) {
    constexpr std::string_view kPrefix = "unk__";
    if (symbol.substr(0, kPrefix.size()) != kPrefix) {
        return std::nullopt;
    }
    symbol.remove_prefix(kPrefix.size());
    constexpr size_t kMaxDigits = 8;
    if (symbol.empty() || symbol.size() > kMaxDigits) {
        return std::nullopt;
    }
    int number = 0;
    for (char c : symbol) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        number = number * 10 + (c - '0');
    }
    return number;
}

bool take_steps(const Context& context, size_t count) {
    if (context.steps == nullptr) {
        return true;
    }
    *context.steps -= static_cast<int64_t>(count);
    return *context.steps >= 0;
}

namespace {

// Gives the body's inputs what is known of the arguments, checked against the declared types.
void bind_inputs(const Context& context, const ir::Function& function,
                 std::span<ir::Value* const> inputs) {
    const std::vector<ir::Value*>& parameters = function.body->inputs;
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (i >= inputs.size() || inputs[i] == nullptr) {
            continue;
        }
        Knowledge knowledge = knowledge_of(context, *inputs[i]);
        std::optional<Type> both = merge(knowledge.type, parameters[i]->type);
        if (both.has_value()) {
            knowledge.type = std::move(*both);
        } else if (context.findings != nullptr) {
            Finding finding;
            finding.kind = &kDeclaredTypeMismatch;
            finding.message = fmt::format(
                "input `{}` of function `{}` is declared as {}, and gets {}", parameters[i]->name,
                function.name, parameters[i]->type.to_string(), knowledge.type.to_string());
            finding.input = static_cast<int>(i);
            context.findings->push_back(std::move(finding));
        }
        set_knowledge(*parameters[i], std::move(knowledge));
    }
}

bool is_recursive(const Context& context, const ir::Function& function) {
    for (const Call* call = context.call; call != nullptr; call = call->outer) {
        if (call->function == &function) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::vector<Knowledge> call_function(const Context& context, const ir::Function& function,
                                     std::span<ir::Value* const> inputs,
                                     std::span<const ir::Attribute> attributes) {
    if (is_recursive(context, function)) {
        if (context.findings != nullptr) {
            Finding finding;
            finding.kind = &kRecursiveFunction;
            finding.message = fmt::format("function `{}` calls itself, directly or through others",
                                          function.name);
            finding.help = "ONNX has no recursion; use `Loop` or `Scan`";
            context.findings->push_back(std::move(finding));
        }
        return {};
    }
    if (context.depth >= kMaxDepth) {
        return {};
    }
    int64_t own_steps = kMaxSteps;
    Call call{&function, attributes, context.call};
    Context inner = context;
    inner.opset_imports = function.opset_imports;
    inner.call = &call;
    inner.depth = context.depth + 1;
    inner.subgraphs_are_typed = false;
    inner.steps = context.steps != nullptr ? context.steps : &own_steps;

    Snapshot snapshot(*function.body);
    if (!take_steps(inner, snapshot.size() + 1)) {
        return {};
    }
    snapshot.drop_symbols();
    bind_inputs(context, function, inputs);
    infer_graph(inner, *function.body);
    std::vector<Knowledge> results;
    for (const ir::Value* output : function.body->outputs) {
        results.push_back(knowledge_of(inner, *output));
    }
    snapshot.restore();
    return results;
}

std::vector<Type> infer_call(const Context& context, const ir::Function& function,
                             std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes) {
    std::vector<Knowledge> results = call_function(context, function, inputs, attributes);
    std::vector<Type> types;
    for (Knowledge& result : results) {
        types.push_back(std::move(result.type));
    }
    types.resize(function.body->outputs.size());
    return types;
}

}  // namespace sardonyx::infer
