// Builds graphs for the tests: each node is typed as it is added, as the elaborator does.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "infer/infer.h"

namespace sardonyx::infer {

class Builder {
  public:
    explicit Builder(int64_t opset = 26) {
        model.graph = model.make_graph(nullptr);
        model.opset_imports.push_back({"", opset});
        graph = model.graph;
    }

    ir::Value* input(std::string_view type) {
        std::optional<Type> parsed = parse_type(type);
        EXPECT_TRUE(parsed.has_value()) << type;
        return model.add_input(graph, next_name(), parsed.value_or(Type()));
    }
    ir::Value* constant(Tensor tensor) {
        return model.add_initializer(graph, next_name(), std::move(tensor));
    }
    ir::Value* ints(const std::vector<int64_t>& values) {
        return constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())},
                                            std::span<const int64_t>(values)));
    }
    ir::Value* scalar(int64_t value) { return constant(Tensor::scalar<int64_t>(value)); }

    ir::Node* node(std::string_view op_type, const std::vector<ir::Value*>& inputs,
                   std::vector<ir::Attribute> attributes = {}, size_t outputs = 1,
                   std::string_view domain = {}) {
        std::vector<std::string> names;
        for (size_t i = 0; i < outputs; ++i) {
            names.push_back(next_name());
        }
        std::vector<std::string_view> views(names.begin(), names.end());
        ir::Node* made = model.make_node(domain, op_type, inputs, views);
        made->attributes = std::move(attributes);
        graph->insert(made);
        infer_node(context(), *made);
        return made;
    }
    ir::Value* op(std::string_view op_type, const std::vector<ir::Value*>& inputs,
                  std::vector<ir::Attribute> attributes = {}) {
        return node(op_type, inputs, std::move(attributes))->output();
    }

    Context context() {
        Context result;
        result.model = &model;
        result.opset_imports = model.opset_imports;
        result.findings = &findings;
        result.fresh_dims = &fresh_dims;
        return result;
    }

    // "code: message", one per line.
    std::string found() const {
        std::string text;
        for (const Finding& finding : findings) {
            text += std::string(finding.kind->code) + ": " + finding.message + "\n";
        }
        return text;
    }
    // The contents of a value: "[2,N]", "5" for a scalar, "" when there are none.
    static std::string contents(const ir::Value* value) {
        if (value->content == nullptr) {
            return "";
        }
        std::string text;
        for (const Dim& dim : value->content->elements) {
            text += (text.empty() ? "" : ",") + dim.to_string();
        }
        return value->content->is_scalar ? text : "[" + text + "]";
    }

    ir::Model model;
    ir::Graph* graph = nullptr;
    std::vector<Finding> findings;
    int fresh_dims = 0;

  private:
    std::string next_name() { return "v" + std::to_string(count_++); }
    int count_ = 0;
};

inline std::string type_of(const ir::Value* value) {
    return value->type.to_string();
}

}  // namespace sardonyx::infer
