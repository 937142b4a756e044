#include "decompile/attribute_types.h"

#include <fmt/format.h>

#include <cmath>

#include "base/stop.h"
#include "decompile/facts.h"
#include "ir/walk.h"

namespace sardonyx::decompile {
namespace {

template <typename T, typename Word>
std::optional<Expression> list_of(const std::vector<T>& values, Word word) {
    std::vector<Expression> items;
    for (const T& value : values) {
        std::string text = word(value);
        if (text.empty()) {
            return std::nullopt;
        }
        items.push_back(Expression::atom(std::move(text)));
    }
    return Expression::list(std::move(items));
}

// Empty: no literal gives these bits.
std::string float_word(float value) {
    return std::isnan(value) && !is_plain_nan(value) ? "" : float_literal(value);
}

std::string text_word(const std::string& text) {
    return text_literal(text);
}

std::optional<Expression> word(std::string text) {
    return text.empty() ? std::nullopt : std::optional(Expression::atom(std::move(text)));
}

}  // namespace

std::optional<Expression> plain_value(const ir::Attribute& attribute) {
    std::optional<Expression> words;
    if (const auto* number = attribute.get<int64_t>()) {
        words = Expression::atom(fmt::to_string(*number));
    } else if (const auto* real = attribute.get<float>()) {
        words = word(float_word(*real));
    } else if (const auto* string = attribute.get<std::string>()) {
        words = Expression::atom(text_literal(*string));
    } else if (const auto* ints = attribute.get<std::vector<int64_t>>()) {
        words = list_of(*ints, [](int64_t value) { return fmt::to_string(value); });
    } else if (const auto* floats = attribute.get<std::vector<float>>()) {
        words = list_of(*floats, float_word);
    } else if (const auto* strings = attribute.get<std::vector<std::string>>()) {
        words = list_of(*strings, text_word);
    }
    return words;
}

std::string_view attribute_annotation(ir::AttributeType type) {
    switch (type) {
        case ir::AttributeType::kFloat:
            return "float";
        case ir::AttributeType::kInt:
            return "int";
        case ir::AttributeType::kString:
            return "str";
        case ir::AttributeType::kFloats:
            return "Sequence[float]";
        case ir::AttributeType::kInts:
            return "Sequence[int]";
        case ir::AttributeType::kStrings:
            return "Sequence[str]";
        case ir::AttributeType::kTensor:
            return "TensorProto";
        case ir::AttributeType::kTensors:
            return "Sequence[TensorProto]";
        default:
            return {};
    }
}

std::map<std::string, ir::AttributeType> referenced_types(const ir::Graph& body) {
    std::map<std::string, ir::AttributeType> types;
    std::vector<const ir::Graph*> waiting{&body};
    while (!waiting.empty()) {
        const ir::Graph* graph = waiting.back();
        waiting.pop_back();
        for (const ir::Node& node : *graph) {
            stop_point();
            for (const ir::Attribute& attribute : node.attributes) {
                if (attribute.is_reference()) {
                    types.emplace(attribute.reference, attribute.type);
                }
            }
            for (const ir::Graph* one : subgraphs(node)) {
                waiting.push_back(one);
            }
        }
    }
    return types;
}

ir::AttributeType given_type(const ir::Model& model, const ir::Function& function,
                             std::string_view name) {
    ir::AttributeType type = ir::AttributeType::kInt;
    auto look_at = [&](const ir::Node& node) {
        stop_point();
        const ir::Attribute* given = node.find_attribute(name);
        if (given != nullptr &&
            model.find_function(node.domain, node.op_type, node.overload) == &function) {
            type = given->type;
        }
    };
    ir::for_each_node(*model.graph, look_at);
    for (const ir::Function* caller : model.functions) {
        ir::for_each_node(*caller->body, look_at);
    }
    return type;
}

}  // namespace sardonyx::decompile
