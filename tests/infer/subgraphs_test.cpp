// Control flow and calls of model-local functions.
#include <functional>

#include "builder.h"

namespace sardonyx::infer {
namespace {

using ir::make_attribute;

// A subgraph with these input types; values of the builder may be used in it.
struct Body {
    Body(Builder& builder, const std::vector<std::string>& input_types) : builder(builder) {
        outer = builder.graph;
        graph = builder.graph = builder.model.make_graph(outer);
        for (const std::string& type : input_types) {
            inputs.push_back(builder.input(type));
        }
    }
    ir::Attribute close(std::string_view name, const std::vector<ir::Value*>& outputs) {
        // What was inferred while the body was built is not a declaration.
        for (ir::Node& node : *graph) {
            node.output()->type = Type();
            node.output()->content.reset();
        }
        graph->outputs = outputs;
        builder.graph = outer;
        return make_attribute(name, graph);
    }
    Builder& builder;
    ir::Graph* outer;
    ir::Graph* graph;
    std::vector<ir::Value*> inputs;
};

TEST(Subgraphs, IfJoinsItsBranches) {
    Builder b;
    ir::Value* x = b.input("FLOAT[N, 2]");
    Body yes(b, {});
    ir::Attribute then_branch = yes.close("then_branch", {b.op("Neg", {x})});
    Body no(b, {});
    ir::Value* wide = b.op("Concat", {x, x}, {make_attribute("axis", int64_t{1})});
    ir::Attribute else_branch = no.close("else_branch", {wide});
    EXPECT_EQ(type_of(b.op("If", {b.input("BOOL")}, {then_branch, else_branch})),
              "FLOAT[N, unk__0]");
    ir::Value* decided = b.op("Less", {b.scalar(1), b.scalar(2)});
    EXPECT_EQ(type_of(b.op("If", {decided}, {then_branch, else_branch})), "FLOAT[N, 2]");
    EXPECT_EQ(b.found(), "");
}

TEST(Subgraphs, LoopWidensWhatChanges) {
    Builder b;
    Body body(b, {"INT64", "BOOL", "?", "?"});
    ir::Value* same = b.op("Neg", {body.inputs[2]});
    ir::Value* longer =
        b.op("Concat", {body.inputs[3], b.input("FLOAT[1]")}, {make_attribute("axis", int64_t{0})});
    body.graph->inputs.pop_back();  // the builder's input above belongs outside
    ir::Value* extra = b.model.add_input(body.outer, "extra", *parse_type("FLOAT[1]"));
    longer->producer()->set_input(1, extra);
    ir::Value* go_on = b.op("Identity", {body.inputs[1]});
    ir::Attribute attribute = body.close("body", {go_on, same, longer, same});
    ir::Node* loop =
        b.node("Loop", {b.scalar(5), nullptr, b.input("FLOAT[N, 3]"), b.input("FLOAT[2]")},
               {attribute}, 3);
    EXPECT_EQ(type_of(loop->output(0)), "FLOAT[N, 3]");
    EXPECT_EQ(loop->output(1)->type.shape().size(), 1U);
    EXPECT_FALSE(loop->output(1)->type.shape()[0].is_static());
    EXPECT_EQ(type_of(loop->output(2)), "FLOAT[5, N, 3]");
    EXPECT_EQ(b.found(), "");
}

// The element of a sequence that a loop fills, from an empty one; `fill` makes the body's result of
// the body's sequence and a tensor.
using Fill = std::function<ir::Value*(Builder&, ir::Value* sequence, ir::Value* tensor)>;
std::string filled_by(std::string_view tensor_type, const Fill& fill) {
    Builder b;
    ir::Value* tensor = b.input(std::string(tensor_type));
    ir::Value* empty = b.op("SequenceEmpty", {});
    Body body(b, {"INT64", "BOOL", "?"});
    ir::Value* go_on = b.op("Identity", {body.inputs[1]});
    ir::Attribute attribute = body.close("body", {go_on, fill(b, body.inputs[2], tensor)});
    ir::Node* loop = b.node("Loop", {b.scalar(5), nullptr, empty}, {attribute}, 1);
    EXPECT_EQ(b.found(), "");
    return type_of(loop->output(0));
}

TEST(Subgraphs, LoopFillsAnEmptySequence) {
    Fill insert = [](Builder& b, ir::Value* sequence, ir::Value* tensor) {
        return b.op("SequenceInsert", {sequence, tensor});
    };
    EXPECT_EQ(filled_by("FLOAT[N, 3]", insert), "Sequence[FLOAT[N, 3]]");
    Fill insert_both = [&](Builder& b, ir::Value* sequence, ir::Value* tensor) {
        ir::Value* wide = b.op("Concat", {tensor, tensor}, {make_attribute("axis", int64_t{1})});
        return insert(b, insert(b, sequence, tensor), wide);
    };
    EXPECT_EQ(filled_by("FLOAT[N, 3]", insert_both), "Sequence[FLOAT[N, ?]]");
    Fill keep = [](Builder& b, ir::Value* sequence, ir::Value*) {
        return b.op("Identity", {sequence});
    };
    EXPECT_EQ(filled_by("FLOAT[N, 3]", keep), "Sequence[FLOAT[...]]");
    Fill insert_last = [&](Builder& b, ir::Value* sequence, ir::Value*) {
        return insert(b, sequence, b.op("SequenceAt", {sequence, b.scalar(0)}));
    };
    EXPECT_EQ(filled_by("FLOAT[N, 3]", insert_last), "Sequence[FLOAT[...]]");
}

TEST(Subgraphs, ScanSlicesAndStacks) {
    Builder b;
    Body body(b, {"?", "?"});
    ir::Value* sum = b.op("Add", {body.inputs[0], body.inputs[1]});
    ir::Value* out = b.op("Identity", {sum});
    ir::Attribute attribute = body.close("body", {sum, out});
    ir::Node* scan = b.node("Scan", {b.input("FLOAT[3]"), b.input("FLOAT[T, 3]")},
                            {attribute, make_attribute("num_scan_inputs", int64_t{1}),
                             make_attribute("scan_output_axes", std::vector<int64_t>{-1})},
                            2);
    EXPECT_EQ(type_of(scan->output(0)), "FLOAT[3]");
    EXPECT_EQ(type_of(scan->output(1)), "FLOAT[3, T]");
    EXPECT_EQ(b.found(), "");
}

TEST(Subgraphs, SequenceMapForgetsSizesOfOneElement) {
    Builder b;
    Body body(b, {"?"});
    ir::Attribute attribute = body.close("body", {b.op("NonZero", {body.inputs[0]})});
    EXPECT_EQ(type_of(b.op("SequenceMap", {b.input("Sequence[FLOAT[N, 2]]")}, {attribute})),
              "Sequence[INT64[2, ?]]");
}

ir::Function* add_double(Builder& b) {
    ir::Function* function = b.model.add_function("my", "Double");
    function->opset_imports.push_back({"", 26});
    ir::Value* x = b.model.add_input(function->body, "x");
    std::vector<ir::Value*> inputs = {x, x};
    std::vector<std::string_view> names = {"y"};
    ir::Node* node = b.model.make_node("", "Concat", inputs, names);
    ir::Attribute axis = make_attribute("axis", {});
    axis.type = ir::AttributeType::kInt;
    axis.reference = "where";
    node->attributes.push_back(axis);
    function->body->insert(node);
    function->body->outputs = {node->output()};
    function->attributes = {"where"};
    return function;
}

TEST(Calls, AreTypedAnewEachTime) {
    Builder b;
    ir::Function* function = add_double(b);
    ir::Value* first =
        b.node("Double", {b.input("FLOAT[N, 2]")}, {make_attribute("where", int64_t{0})}, 1, "my")
            ->output();
    ir::Value* second =
        b.node("Double", {b.input("INT64[3]")}, {make_attribute("where", int64_t{-1})}, 1, "my")
            ->output();
    EXPECT_EQ(type_of(first), "FLOAT[2*N, 2]");
    EXPECT_EQ(type_of(second), "INT64[6]");
    EXPECT_FALSE(function->body->outputs[0]->type.is_known());
    EXPECT_FALSE(function->body->inputs[0]->type.is_known());
    EXPECT_EQ(b.found(), "");
}

TEST(Calls, RecursionIsFound) {
    Builder b;
    ir::Function* function = b.model.add_function("my", "Self");
    function->opset_imports.push_back({"my", 1});
    std::vector<ir::Value*> inputs = {b.model.add_input(function->body, "x")};
    std::vector<std::string_view> names = {"y"};
    ir::Node* node = b.model.make_node("my", "Self", inputs, names);
    function->body->insert(node);
    function->body->outputs = {node->output()};
    b.node("Self", {b.input("FLOAT")}, {}, 1, "my");
    EXPECT_EQ(b.found(),
              "recursive-function: function `Self` calls itself, directly or through others\n");
}

TEST(Calls, NestedCallsAreBounded) {
    // f0 calls f1 twice, f1 calls f2 twice, ...: 2^40 nodes if all were walked.
    Builder b;
    constexpr int kDepth = 40;
    for (int i = 0; i <= kDepth; ++i) {
        ir::Function* function = b.model.add_function("my", "f" + std::to_string(i));
        function->opset_imports = {{"", 26}, {"my", 1}};
        std::vector<ir::Value*> inputs = {b.model.add_input(function->body, "x")};
        for (const char* name : {"y", "z"}) {
            std::vector<std::string_view> names = {name};
            bool is_last = i == kDepth;
            ir::Node* node = b.model.make_node(
                is_last ? "" : "my", is_last ? "Neg" : "f" + std::to_string(i + 1), inputs, names);
            function->body->insert(node);
            inputs = {node->output()};
        }
        function->body->outputs = {inputs[0]};
    }
    std::vector<ir::Value*> inputs = {b.input("FLOAT[2]")};
    std::vector<std::string_view> names = {"out"};
    b.graph->insert(b.model.make_node("my", "f0", inputs, names));
    EXPECT_TRUE(infer_model(b.model).empty());
}

}  // namespace
}  // namespace sardonyx::infer
