#include "torch/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

std::string fx_text(const Value& value);

std::string fx_list(const std::vector<Value>& items, char open, char close) {
    std::string text(1, open);
    for (const Value& item : items) {
        text += text.size() > 1 ? ", " : "";
        text += fx_text(item);
    }
    return text + (open == '(' && items.size() == 1 ? "," : "") + close;
}

// An argument as FX prints it.
std::string fx_text(const Value& value) {
    switch (value.kind) {
        case Value::Kind::kNone:
            return "None";
        case Value::Kind::kBool:
            return value.integer != 0 ? "True" : "False";
        case Value::Kind::kInt:
            return std::to_string(value.integer);
        case Value::Kind::kFloat: {
            std::string text = fmt::format("{}", value.real);
            bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
            return is_whole ? text + ".0" : text;
        }
        case Value::Kind::kString:
            return python_string(value.text, '\'');
        case Value::Kind::kRef:
            return "%" + value.text;
        case Value::Kind::kElementType:
        case Value::Kind::kBody:
            return value.text;
        case Value::Kind::kList:
            return fx_list(value.items, '[', ']');
        case Value::Kind::kTuple:
            return fx_list(value.items, '(', ')');
    }
    return {};
}

// `torch.ops.aten.add.Tensor` has dots where targets have colons.
std::string dotted(const std::string& target) {
    std::string text = target;
    if (size_t colons = text.find("::"); colons != std::string::npos) {
        text.replace(colons, 2, ".");
    }
    return text;
}

std::string fx_node(const Node& node, const std::string& operation) {
    std::string kwargs;
    for (const auto& [key, one] : node.kwargs) {
        kwargs += fmt::format("{}{}: {}", kwargs.empty() ? "" : ", ", key, fx_text(one));
    }
    return fmt::format("%{} = call_function[target=torch.ops.{}](args = {}, kwargs = {{{}}})",
                       node.name, operation, fx_list(node.args, '(', ')'), kwargs);
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
    found.emplace_back("namespace", fmt::format("{}{}{}: {}", around.spaces, is_inner ? "/" : "",
                                                node.name, operation));
    found.emplace_back(
        "pkg.torch.onnx.class_hierarchy",
        fmt::format("[{}{}{}]", around.classes, comma, python_string(operation, '\'')));
    found.emplace_back("pkg.torch.onnx.name_scopes", fmt::format("[{}{}{}]", around.paths, comma,
                                                                 python_string(node.name, '\'')));
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
