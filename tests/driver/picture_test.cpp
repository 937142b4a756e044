// Models as pictures for notebooks.
#include "driver/picture.h"

#include <gtest/gtest.h>

#include "ir/edit.h"

namespace sardonyx::driver {
namespace {

using Values = std::vector<ir::Value*>;

// x, and `count` nodes, each of which reads the one before it.
std::unique_ptr<ir::Model> chain(int count) {
    auto model = std::make_unique<ir::Model>();
    model->opset_imports = {{"", 20}};
    model->graph = model->make_graph(nullptr);
    model->graph->name = model->intern("g");
    ir::Editor editor(*model);
    ir::Value* value =
        editor.add_input(*model->graph, "x", Type::tensor(ElementType::kFloat, Shape{2})).value();
    for (int i = 0; i < count; ++i) {
        ir::Editor::NewNode wanted;
        wanted.op_type = "Neg";
        Values inputs{value};
        wanted.inputs = inputs;
        wanted.outputs = {std::nullopt};
        value = editor.insert(*model->graph, nullptr, wanted).value()->output();
    }
    EXPECT_TRUE(editor.set_outputs(*model->graph, Values{value}).ok());
    return model;
}

TEST(Picture, DrawsWhatPeopleLookAt) {
    std::unique_ptr<ir::Model> model = chain(2);
    std::optional<std::string> svg = picture(*model);
    ASSERT_TRUE(svg.has_value());
    EXPECT_NE(svg->find("<svg"), std::string::npos);
    EXPECT_NE(svg->find("Neg"), std::string::npos);
    EXPECT_FALSE(model->graph->outputs[0]->type.is_known());  // types are those of a copy
    EXPECT_FALSE(picture(*chain(static_cast<int>(kMostPictureBoxes))).has_value());
    EXPECT_TRUE(picture(*chain(static_cast<int>(kMostPictureBoxes) - 2)).has_value());
}

}  // namespace
}  // namespace sardonyx::driver
