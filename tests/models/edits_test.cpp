// Operations on whole models: what they refuse, and what they leave.
#include <gtest/gtest.h>

#include "ir/copy.h"
#include "ir/edit.h"
#include "ir/graph_walk.h"
#include "ir/verify.h"
#include "models/cut.h"
#include "models/extract.h"
#include "models/merge.h"
#include "models/rename.h"
#include "models/runtimes.h"
#include "models/set_shape.h"
#include "models/strip.h"
#include "models/versions.h"

namespace sardonyx::models {
namespace {

using Values = std::vector<ir::Value*>;

// x -> Neg a -> Abs b, and x -> Exp c, which nothing reads.
struct Chain {
    Chain() {
        model.opset_imports = {{"", 20}};
        graph = model.graph = model.make_graph(nullptr);
        graph->name = model.intern("g");
        ir::Editor editor(model);
        x = editor
                .add_input(*graph, "x", Type::tensor(ElementType::kFloat, Shape{Dim::symbol("N")}))
                .value();
        a = add(editor, "Neg", x, "a");
        b = add(editor, "Abs", a, "b");
        c = add(editor, "Exp", x, "c");
        EXPECT_TRUE(editor.set_outputs(*graph, Values{b}).ok());
        b->type = x->type;
    }
    ir::Value* add(ir::Editor& editor, std::string_view op, ir::Value* input, std::string name) {
        ir::Editor::NewNode wanted;
        wanted.op_type = op;
        Values inputs{input};
        wanted.inputs = inputs;
        wanted.outputs = {name};
        return editor.insert(*graph, nullptr, wanted).value()->output();
    }
    size_t nodes() const { return ir::node_count(*graph); }

    ir::Model model;
    ir::Graph* graph = nullptr;
    ir::Value *x = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
};

TEST(Cut, TakesWhatIsBetweenTwoValues) {
    Chain chain;
    Result<Cut> made = cut(chain.model, {{"a"}, {}});
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->inputs, std::vector<std::string>{"a"});
    EXPECT_EQ(chain.nodes(), 1U);
    EXPECT_EQ(chain.graph->inputs[0]->type.to_string(), "FLOAT[N]");  // which nobody had stated
    EXPECT_TRUE(ir::verify(chain.model).empty());
}

TEST(Cut, RefusesNamesThatMeanNothing) {
    for (const CutRequest& wrong :
         {CutRequest{{"no"}, {}}, CutRequest{{}, {"no"}}, CutRequest{{}, {"b", "b"}},
          CutRequest{{"a", "a"}, {}}, CutRequest{{"c"}, {"b"}}}) {
        Chain chain;
        EXPECT_FALSE(cut(chain.model, wrong).ok());
    }
}

TEST(Merge, LinksOutputsToInputsAndRenamesWhatIsTaken) {
    Chain first, second;
    EXPECT_FALSE(merge(first.model, second.model, {{{"b", "x"}}, "", false}).ok());  // two `b`
    Chain again;
    Result<Merge> made = merge(again.model, second.model, {{{"b", "x"}}, "next_", false});
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(again.model.graph->inputs.size(), 1U);
    EXPECT_EQ(made->outputs, std::vector<std::string>{"next_b"});
    EXPECT_FALSE(made->renamed.empty());
    EXPECT_TRUE(ir::verify(again.model).empty());
}

TEST(Merge, RefusesWhatDoesNotFit) {
    Chain first, second;
    EXPECT_FALSE(merge(first.model, second.model, {{{"no", "x"}}, "", false}).ok());
    Chain third;
    EXPECT_FALSE(merge(third.model, second.model, {{{"b", "no"}}, "", false}).ok());
    Chain whole, other;
    other.x->type = Type::tensor(ElementType::kInt64, Shape{Dim(1)});
    EXPECT_FALSE(merge(whole.model, other.model, {{{"b", "x"}}, "", false}).ok());
}

TEST(Rename, DoesAllAtOnce) {
    Chain chain;
    Renaming renaming;
    renaming.values = {{"a", "b"}, {"b", "a"}};
    renaming.dims = {{"N", "batch"}};
    ASSERT_TRUE(rename(chain.model, renaming).ok());
    EXPECT_EQ(chain.a->name, "b");
    EXPECT_EQ(chain.b->name, "a");
    EXPECT_EQ(chain.x->type.to_string(), "FLOAT[batch]");
    EXPECT_TRUE(ir::verify(chain.model).empty());
}

TEST(Rename, RefusesNamesOfOthers) {
    Chain chain;
    Renaming taken, unknown;
    taken.values = {{"a", "x"}};
    unknown.values = {{"no", "y"}};
    EXPECT_FALSE(rename(chain.model, taken).ok());
    EXPECT_FALSE(rename(chain.model, unknown).ok());
    EXPECT_EQ(chain.a->name, "a");
}

TEST(SetShapes, InfersOutputsAgain) {
    Chain chain;
    ASSERT_TRUE(set_shapes(chain.model, {{}, {{"N", 4}}}).ok());
    EXPECT_EQ(chain.x->type.to_string(), "FLOAT[4]");
    EXPECT_EQ(chain.b->type.to_string(), "FLOAT[4]");
    Chain other;
    Result<void> done = set_shapes(other.model, {{{"x", "[2,3]"}, {"b", "[2,3]"}}, {}});
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(other.b->type.to_string(), "FLOAT[2, 3]");
}

TEST(SetShapes, RefusesWhatIsNoTypeOrContradictsOperators) {
    for (const ShapeRequest& wrong :
         {ShapeRequest{{{"x", "FLOAT["}}, {}}, ShapeRequest{{{"no", "[2]"}}, {}},
          ShapeRequest{{{"x", "STRING[2]"}}, {}}, ShapeRequest{{{"x", "[2,3]"}}, {}},
          ShapeRequest{{}, {{"M", 2}}}}) {
        Chain chain;
        EXPECT_FALSE(set_shapes(chain.model, wrong).ok());
    }
}

TEST(Strip, TakesWhatNoResultNeeds) {
    Chain chain;
    Result<Stripped> stripped = strip(chain.model, {});
    ASSERT_TRUE(stripped.ok());
    EXPECT_EQ(chain.nodes(), 2U);
    Chain other;
    StripRequest keeps;
    keeps.unused = false;
    ASSERT_TRUE(strip(other.model, keeps).ok());
    EXPECT_EQ(other.nodes(), 3U);
}

TEST(ExtractFunction, RefusesFunctionsThatAreNot) {
    Chain chain;
    EXPECT_FALSE(extract_function(chain.model, {"no", {}}).ok());
    EXPECT_FALSE(extract_function(chain.model, {"", {}}).ok());
}

TEST(SetOpsets, ChangesAllOrNothing) {
    Chain chain;
    ir::Editor editor(chain.model);
    using Imports = std::vector<ir::OpsetImport>;
    EXPECT_FALSE(set_opsets(chain.model, editor, Imports{}).ok());
    EXPECT_FALSE(set_opsets(chain.model, editor, Imports{{"mine", 1}, {"", 99'999}}).ok());
    EXPECT_FALSE(set_opsets(chain.model, editor, Imports{{"", 0}}).ok());
    EXPECT_EQ(chain.model.opset_imports.size(), 1U);
    ASSERT_TRUE(set_opsets(chain.model, editor, Imports{{"ai.onnx", 21}, {"mine", 1}}).ok());
    EXPECT_EQ(chain.model.opset_version(""), 21);
    EXPECT_EQ(chain.model.opset_version("mine"), 1);
    ASSERT_TRUE(set_opsets(chain.model, editor, Imports{{"", 20}}).ok());
    EXPECT_EQ(chain.model.opset_imports.size(), 1U);
}

TEST(SetIrVersion, KnowsTheVersions) {
    Chain chain;
    EXPECT_TRUE(set_ir_version(chain.model, 8).ok());
    EXPECT_FALSE(set_ir_version(chain.model, -1).ok());
    EXPECT_FALSE(set_ir_version(chain.model, 99'999).ok());
    EXPECT_EQ(chain.model.ir_version, 8);
    EXPECT_TRUE(set_ir_version(chain.model, 0).ok());
}

TEST(Runtime, ReadsReleases) {
    EXPECT_EQ(*read_runtime("onnxruntime-1.20"), (Runtime{1, 20}));
    EXPECT_EQ(*read_runtime("onnxruntime-1.20.1"), (Runtime{1, 20}));
    for (const char* wrong : {"", "onnxruntime", "onnxruntime-", "onnxruntime-1", "onnxruntime-1.x",
                              "onnxruntime-0.1", "tensorrt-1.20", "onnxruntime-99999999999.1"}) {
        EXPECT_FALSE(read_runtime(wrong).ok()) << wrong;
    }
    EXPECT_EQ(*opset_for(Runtime{1, 20}, std::nullopt, 20), 20);
    EXPECT_FALSE(opset_for(Runtime{1, 17}, 23, 20).ok());
}

}  // namespace
}  // namespace sardonyx::models
