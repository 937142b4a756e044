// A graph of one node for tests: inputs as type texts or constants, answers as texts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infer/diagnostics.h"
#include "infer/infer.h"

namespace sardonyx::infer {

// "FLOAT[2, N]"; "" leaves the input out; "?" is an input that nothing is known of.
struct Input {
    Input(const char* type) : type(type) {}
    Input(Tensor constant) : constant(std::move(constant)) {}
    // An INT64 vector of which these elements are known.
    Input(std::vector<Dim> elements) : elements(std::move(elements)) {}

    std::string type;
    std::optional<Tensor> constant;
    std::vector<Dim> elements;
};

inline Tensor int64s(std::vector<int64_t> values) {
    int64_t count = static_cast<int64_t>(values.size());
    return Tensor::of<int64_t>({count}, values);
}
inline Tensor floats(std::vector<float> values) {
    int64_t count = static_cast<int64_t>(values.size());
    return Tensor::of<float>({count}, values);
}

struct Attributes {
    Attributes() = default;
    Attributes(std::initializer_list<std::pair<std::string_view, ir::AttributeValue>> values) {
        for (const auto& [name, value] : values) {
            items.push_back(ir::make_attribute(name, value));
        }
    }
    std::vector<ir::Attribute> items;
};

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

struct Answer {
    std::string types;                  // of all outputs, separated by blanks
    std::vector<std::string> findings;  // "code: message", and " (help)" when there is one
};

// Types a node of `op_type` at an opset version of `domain`. Dims that inference cannot tell print
// as "?".
inline Answer infer_one(std::string_view domain, std::string_view op_type, int64_t version,
                        const std::vector<Input>& inputs, const Attributes& attributes = {},
                        size_t output_count = 1) {
    ir::Model model;
    model.opset_imports = {{model.intern(domain), version}};
    ir::Graph* graph = model.make_graph(nullptr);
    model.graph = graph;
    std::vector<ir::Value*> values;
    for (const Input& input : inputs) {
        std::string name = "i" + std::to_string(values.size());
        if (input.constant.has_value()) {
            values.push_back(model.add_initializer(graph, name, *input.constant));
        } else if (!input.elements.empty()) {
            Shape shape{static_cast<int64_t>(input.elements.size())};
            ir::Value* value =
                model.add_input(graph, name, Type::tensor(ElementType::kInt64, shape));
            value->content = std::make_unique<ir::SymbolicContent>();
            value->content->elements = input.elements;
            values.push_back(value);
        } else if (input.type.empty()) {
            values.push_back(nullptr);
        } else {
            Type type = input.type == "?" ? Type() : parse_type(input.type).value();
            values.push_back(model.add_input(graph, name, std::move(type)));
        }
    }
    std::vector<std::string_view> names;
    for (size_t i = 0; i < output_count; ++i) {
        names.push_back(model.intern("o" + std::to_string(i)));
    }
    ir::Node* node = model.make_node(domain, op_type, values, names);
    node->attributes = attributes.items;
    graph->insert(node);

    std::vector<Finding> findings;
    Context context;
    context.model = &model;
    context.opset_imports = model.opset_imports;
    context.findings = &findings;
    infer_node(context, *node);

    Answer answer;
    for (ir::Value* output : node->outputs()) {
        answer.types += (answer.types.empty() ? "" : " ") + output->type.to_string();
    }
    for (const Finding& finding : findings) {
        if (finding.kind->code == kMissingAttribute.code) {
            continue;  // these tests give the attributes that types depend on
        }
        answer.findings.push_back(std::string(finding.kind->code) + ": " + finding.message +
                                  (finding.help.empty() ? "" : " (" + finding.help + ")"));
    }
    return answer;
}

// The types of a node that must have no findings.
inline std::string types_of(std::string_view op_type, int64_t version,
                            const std::vector<Input>& inputs, const Attributes& attributes = {},
                            size_t output_count = 1, std::string_view domain = {}) {
    Answer answer = infer_one(domain, op_type, version, inputs, attributes, output_count);
    return answer.findings.empty() ? answer.types : "finding: " + answer.findings.front();
}

// The first finding of a node; empty: none.
inline std::string finding_of(std::string_view op_type, int64_t version,
                              const std::vector<Input>& inputs, const Attributes& attributes = {},
                              std::string_view domain = {}) {
    Answer answer = infer_one(domain, op_type, version, inputs, attributes);
    return answer.findings.empty() ? "" : answer.findings.front();
}

}  // namespace sardonyx::infer
