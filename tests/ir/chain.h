// A model for tests of what shows models.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/edit.h"

namespace sardonyx::ir {

// An input `name`, and `count` nodes, each of which reads the one before it.
inline std::unique_ptr<Model> chain(int count, std::string_view name = "x") {
    auto model = std::make_unique<Model>();
    model->opset_imports = {{"", 20}};
    model->graph = model->make_graph(nullptr);
    model->graph->name = model->intern("g");
    Editor editor(*model);
    Value* value =
        editor.add_input(*model->graph, name, Type::tensor(ElementType::kFloat, Shape{2})).value();
    for (int i = 0; i < count; ++i) {
        Editor::NewNode wanted;
        wanted.op_type = "Neg";
        std::vector<Value*> inputs{value};
        wanted.inputs = inputs;
        wanted.outputs = {std::nullopt};
        value = editor.insert(*model->graph, nullptr, wanted).value()->output();
    }
    std::vector<Value*> outputs{value};
    EXPECT_TRUE(editor.set_outputs(*model->graph, outputs).ok());
    return model;
}

}  // namespace sardonyx::ir
