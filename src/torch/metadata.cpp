#include "torch/metadata.h"

#include <fmt/format.h>

#include <initializer_list>
#include <unordered_map>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

void append_fx(std::string& text, const Value& value);

void append_fx_list(std::string& text, const std::vector<Value>& items, char open, char close) {
    text += open;
    for (size_t i = 0; i < items.size(); ++i) {
        text += i > 0 ? ", " : "";
        append_fx(text, items[i]);
    }
    text += open == '(' && items.size() == 1 ? "," : "";
    text += close;
}

// An argument as FX prints it.
void append_fx(std::string& text, const Value& value) {
    switch (value.kind) {
        case Value::Kind::kNone:
            text += "None";
            break;
        case Value::Kind::kBool:
            text += value.integer != 0 ? "True" : "False";
            break;
        case Value::Kind::kInt:
            text += std::to_string(value.integer);
            break;
        case Value::Kind::kFloat: {
            std::string number = fmt::format("{}", value.real);
            bool is_whole = number.find_first_not_of("-0123456789") == std::string::npos;
            text += number;
            text += is_whole ? ".0" : "";
            break;
        }
        case Value::Kind::kString:
            text += python_string(value.text, '\'');
            break;
        case Value::Kind::kRef:
            text += '%';
            text += value.text;
            break;
        case Value::Kind::kElementType:
        case Value::Kind::kBody:
            text += value.text;
            break;
        case Value::Kind::kList:
            append_fx_list(text, value.items, '[', ']');
            break;
        case Value::Kind::kTuple:
            append_fx_list(text, value.items, '(', ')');
            break;
    }
}

// `torch.ops.aten.add.Tensor` has dots where targets have colons.
std::string dotted(const std::string& target) {
    std::string text = target;
    if (size_t colons = text.find("::"); colons != std::string::npos) {
        text.replace(colons, 2, ".");
    }
    return text;
}

std::string joined(std::initializer_list<std::string_view> parts) {
    size_t size = 0;
    for (std::string_view part : parts) {
        size += part.size();
    }
    std::string text;
    text.reserve(size);
    for (std::string_view part : parts) {
        text += part;
    }
    return text;
}

std::string fx_node(const Node& node, std::string_view operation) {
    std::string text =
        joined({"%", node.name, " = call_function[target=torch.ops.", operation, "](args = "});
    append_fx_list(text, node.args, '(', ')');
    text += ", kwargs = {";
    for (size_t i = 0; i < node.kwargs.size(); ++i) {
        text += i > 0 ? ", " : "";
        text += node.kwargs[i].first;
        text += ": ";
        append_fx(text, node.kwargs[i].second);
    }
    text += "})";
    return text;
}

// The scopes around a node, outermost first, as its metadata have them.
struct Scopes {
    std::string spaces, classes, paths;

    void add(std::string_view path, std::string_view name) {
        std::string_view comma = spaces.empty() ? "" : ", ";
        spaces += spaces.empty() ? "" : "/";
        spaces.append(path).append(": ").append(name);
        classes.append(comma).append(python_string(name, '\''));
        paths.append(comma).append(python_string(path, '\''));
    }
};

Scopes scopes_around(const Node& node) {
    Scopes scopes;
    if (node.place != nullptr) {
        for (const auto& [path, name] : node.place->modules) {
            scopes.add(path, name);
        }
    }
    return scopes;
}

Metadata metadata_of(const Node& node, const Scopes& around) {
    std::string operation = dotted(node.target);
    bool is_inner = !around.spaces.empty();
    std::string_view comma = is_inner ? ", " : "";
    Metadata found;
    found.reserve(5);
    found.emplace_back("namespace",
                       joined({around.spaces, is_inner ? "/" : "", node.name, ": ", operation}));
    found.emplace_back("pkg.torch.onnx.class_hierarchy",
                       joined({"[", around.classes, comma, python_string(operation, '\''), "]"}));
    found.emplace_back("pkg.torch.onnx.name_scopes",
                       joined({"[", around.paths, comma, python_string(node.name, '\''), "]"}));
    found.emplace_back("pkg.torch.onnx.fx_node", fx_node(node, operation));
    if (node.place != nullptr && !node.place->trace.empty()) {
        found.emplace_back("pkg.torch.onnx.stack_trace", node.place->trace);
    }
    return found;
}

}  // namespace

std::vector<std::pair<uint32_t, Metadata>> metadata_by_line(const std::vector<const Node*>& lines) {
    std::unordered_map<std::string_view, const Node*> makers;
    for (const Node* node : lines) {
        if (node != nullptr) {
            makers[node->name] = node;
        }
    }
    // Many nodes have one place.
    std::unordered_map<const Place*, Scopes> scopes;
    std::vector<std::pair<uint32_t, Metadata>> found;
    found.reserve(lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
        const Node* node = lines[i];
        if (node == nullptr) {
            continue;
        }
        // The operator that gives several results.
        for (size_t steps = 0; node->target == "py::getitem" && steps < lines.size(); ++steps) {
            auto maker = makers.find(node->args[0].text);
            if (maker == makers.end() || maker->second == node) {
                break;
            }
            node = maker->second;
        }
        auto [place, is_new] = scopes.try_emplace(node->place.get());
        if (is_new) {
            place->second = scopes_around(*node);
        }
        found.emplace_back(static_cast<uint32_t>(i + 1), metadata_of(*node, place->second));
    }
    return found;
}

}  // namespace sardonyx::torch
