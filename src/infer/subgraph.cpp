#include "infer/subgraph.h"

#include <algorithm>
#include <functional>
#include <string>

#include "base/stop.h"
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
    StopCounter stops;
    for (ir::Node& node : graph) {
        stops.step();
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

Type map_symbols(const Type& type, const std::function<Dim(std::string_view)>& value_of) {
    switch (type.kind()) {
        case TypeKind::kUnknown:
            return type;
        case TypeKind::kSequence:
            return Type::sequence(map_symbols(type.element(), value_of));
        case TypeKind::kOptional:
            return Type::optional(map_symbols(type.element(), value_of));
        case TypeKind::kMap:
            return Type::map(type.element_type(), map_symbols(type.element(), value_of));
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

void for_each_bounded(const Type& type,
                      const std::function<void(const std::string& name, const DimBounds&)>& visit) {
    if (type.element().is_known()) {
        for_each_bounded(type.element(), visit);
    }
    if (type.has_shape()) {
        for (const Dim& dim : type.shape()) {
            sardonyx::for_each_bounded(dim, visit);
        }
    }
}

namespace {

auto appending_to(std::string& text) {
    return [&text](const std::string& name, const DimBounds& bounds) {
        text += name + ":" + std::to_string(*bounds.lower) + ":" +
                (bounds.upper ? std::to_string(*bounds.upper) : std::string()) + ";";
    };
}

}  // namespace

std::string stated_bounds(const Dim& dim) {
    std::string text;
    sardonyx::for_each_bounded(dim, appending_to(text));
    return text;
}

std::string stated_bounds(const Type& type) {
    std::string text;
    for_each_bounded(type, appending_to(text));
    return text;
}

Type drop_symbols(const Type& type, const std::function<bool(std::string_view)>& is_dropped) {
    return map_symbols(type, [&is_dropped](std::string_view symbol) {
        return is_dropped(symbol) ? Dim() : Dim::symbol(symbol);
    });
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

std::string without_fresh_symbols(std::string_view message) {
    constexpr std::string_view kDigits = "0123456789";
    std::string written;
    for (size_t at = message.find("unk__"); at != std::string_view::npos;
         at = message.find("unk__")) {
        size_t end = std::min(message.find_first_not_of(kDigits, at + 5), message.size());
        std::string_view symbol = message.substr(at, end - at);
        written += message.substr(0, at);
        written += fresh_number(symbol) ? "?" : symbol;
        message.remove_prefix(end);
    }
    written += message;
    return written;
}

bool take_steps(const Context& context, size_t count) {
    if (context.steps == nullptr) {
        return true;
    }
    *context.steps -= static_cast<int64_t>(count);
    return *context.steps >= 0;
}

}  // namespace sardonyx::infer
