// Reads paths of .onnx files from standard input and prints what infer_model() finds in each, one
// JSON object per line: {"path", "error"} or {"path", "values", "findings"}. A value's key is its
// graph and name: graph "" is the main one, "/3.body" the attribute `body` of its node 3.
#include <fmt/format.h>

#include <string>

#include "../requests.h"
#include "infer/infer.h"
#include "proto/proto.h"

namespace {

using sardonyx::Type;
using sardonyx::TypeKind;

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (unsigned char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += static_cast<char>(c);
        } else if (c < 0x20) {
            result += fmt::format("\\u{:04x}", c);
        } else {
            result += static_cast<char>(c);
        }
    }
    return result + "\"";
}

// null: unknown; {"element", "dims"}; {"sequence": ...}; {"optional": ...}; {"map", "value"}.
std::string to_json(const Type& type) {
    switch (type.kind()) {
        case TypeKind::kUnknown:
            return "null";
        case TypeKind::kSequence:
            return "{\"sequence\":" + to_json(type.element()) + "}";
        case TypeKind::kOptional:
            return "{\"optional\":" + to_json(type.element()) + "}";
        case TypeKind::kMap:
            return fmt::format("{{\"map\":{},\"value\":{}}}", static_cast<int>(type.element_type()),
                               to_json(type.element()));
        case TypeKind::kTensor:
        case TypeKind::kSparseTensor:
            break;
    }
    std::string dims = "null";
    if (type.has_shape()) {
        dims = "[";
        for (const sardonyx::Dim& dim : type.shape()) {
            dims += (dims.size() > 1 ? "," : "") + quoted(dim.to_string());
        }
        dims += "]";
    }
    return fmt::format("{{\"element\":{},\"dims\":{}}}", static_cast<int>(type.element_type()),
                       dims);
}

void add_value(const sardonyx::ir::Value* value, std::string_view graph, std::string& json) {
    json += fmt::format("{}[{},{},{}]", json.empty() ? "" : ",", quoted(graph), quoted(value->name),
                        to_json(value->type));
}

void add_graph(const sardonyx::ir::Graph& graph, const std::string& path, std::string& json) {
    for (const sardonyx::ir::Value* input : graph.inputs) {
        add_value(input, path, json);
    }
    int index = 0;
    for (const sardonyx::ir::Node& node : graph) {
        for (const sardonyx::ir::Value* output : node.outputs()) {
            add_value(output, path, json);
        }
        for (const sardonyx::ir::Attribute& attribute : node.attributes) {
            if (sardonyx::ir::Graph* const* subgraph = attribute.get<sardonyx::ir::Graph*>()) {
                add_graph(**subgraph, fmt::format("{}/{}.{}", path, index, attribute.name), json);
            }
        }
        ++index;
    }
}

std::string describe(const std::string& path) {
    auto model = sardonyx::proto::read_model_file(path);
    if (!model.ok()) {
        return fmt::format("{{\"path\":{},\"error\":{}}}", quoted(path),
                           quoted(model.error().message));
    }
    std::vector<sardonyx::infer::Finding> findings = sardonyx::infer::infer_model(**model);
    std::string values;
    if ((*model)->graph != nullptr) {
        add_graph(*(*model)->graph, "", values);
    }
    std::string found;
    for (const sardonyx::infer::Finding& finding : findings) {
        found +=
            fmt::format("{}{{\"code\":{},\"message\":{},\"help\":{}}}", found.empty() ? "" : ",",
                        quoted(finding.kind->code), quoted(finding.message), quoted(finding.help));
    }
    return fmt::format("{{\"path\":{},\"values\":[{}],\"findings\":[{}]}}", quoted(path), values,
                       found);
}

}  // namespace

int main() {
    return sardonyx::test::serve(
        1, [](const std::vector<std::string>& fields) { return describe(fields[0]); });
}
