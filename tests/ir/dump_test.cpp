#include <gtest/gtest.h>

#include <limits>

#include "ir/ir.h"

namespace sardonyx::ir {
namespace {

using Names = std::vector<std::string_view>;
using Values = std::vector<Value*>;

Type type(std::string_view text) {
    return parse_type(text).value();
}

TEST(Dump, ModelWithEverything) {
    Model model;
    model.ir_version = 10;
    model.producer_name = "sardonyx";
    model.opset_imports = {{"", 18}, {"my.domain", 1}};
    model.metadata = {{"key", "a \"value\"\n"}};
    model.doc = "line\nbreak";
    Graph* graph = model.make_graph(nullptr);
    model.graph = graph;
    graph->name = "main";
    Value* x = model.add_input(graph, "x", type("FLOAT[N, 4]"));
    Value* untyped = model.add_input(graph, "odd name");
    Value* b = model.add_initializer(graph, "b", Tensor::zeros(ElementType::kFloat, {100}));
    Node* add = model.make_node("", "Add", Values{x, b}, Names{"y"});
    add->attributes.push_back(make_attribute("axis", int64_t{1}));
    add->output()->type = type("FLOAT[N, 4]");
    graph->insert(add);
    Node* call =
        model.make_node("my.domain", "F", Values{nullptr, untyped}, Names{"z", "", "unused"});
    call->overload = "two";
    call->name = "n1";
    graph->insert(call);
    graph->outputs = {add->output(), call->output()};
    EXPECT_EQ(dump(model), R"(model ir_version=10 producer="sardonyx"
import ai.onnx 18
import my.domain 1
doc "line\nbreak"
metadata "key" = "a \"value\"\n"

graph main (%x: FLOAT[N, 4], %"odd name") -> (%y: FLOAT[N, 4], %z) {
    initializer %b: FLOAT[100] {0, 0, 0, 0, 0, 0, 0, 0, ...}
    %y: FLOAT[N, 4] = Add(%x, %b) {axis=1}
    %z, _, %unused = my.domain::F#two(_, %"odd name")  # n1
}
)");
}

TEST(Dump, SubgraphsAreIndented) {
    Model model;
    Graph* graph = model.make_graph(nullptr);
    Value* condition = model.add_input(graph, "c", type("BOOL"));
    Node* branch = model.make_node("", "If", Values{condition}, Names{"r"});
    for (std::string_view name : {"then_branch", "else_branch"}) {
        Graph* body = model.make_graph(graph);
        body->name = name;
        Node* node = model.make_node("", "Not", Values{condition}, Names{name.substr(0, 4)});
        body->insert(node);
        body->outputs = {node->output()};
        branch->attributes.push_back(make_attribute(name, body));
    }
    graph->insert(branch);
    graph->outputs = {branch->output()};
    EXPECT_EQ(dump(*graph), R"(graph (%c: BOOL) -> (%r) {
    %r = If(%c) {then_branch=graph then_branch () -> (%then) {
        %then = Not(%c)
    }, else_branch=graph else_branch () -> (%else) {
        %else = Not(%c)
    }}
}
)");
    EXPECT_EQ(dump(*graph, 2).substr(0, 8), "  graph ");
}

TEST(Dump, FunctionWithSignature) {
    Model model;
    Function* function = model.add_function("my.domain", "Scale");
    function->attributes = {"factor"};
    function->attribute_defaults = {make_attribute("offset", 1.0f)};
    function->opset_imports = {{"", 20}};
    function->doc = "scales";
    Value* x = model.add_input(function->body, "x");
    Node* node = model.make_node("", "Scale", Values{x}, Names{"y"});
    Attribute attribute;
    attribute.name = "factor";
    attribute.type = AttributeType::kFloat;
    attribute.reference = "factor";
    node->attributes = {attribute};
    function->body->insert(node);
    function->body->outputs = {node->output()};
    EXPECT_EQ(dump(model), R"(model ir_version=0

function my.domain::Scale <factor, offset=1.0> (%x) -> (%y) {
    import ai.onnx 20
    doc "scales"
    %y = Scale(%x) {factor: FLOAT=@factor}
}
)");
}

TEST(Dump, AttributesOfEveryType) {
    Model model;
    Graph* graph = model.make_graph(nullptr);
    Node* node = model.make_node("", "Op", {}, {});
    auto add = [&](std::string_view name, AttributeValue value) {
        node->attributes.push_back(make_attribute(name, std::move(value)));
    };
    float infinity = std::numeric_limits<float>::infinity();
    add("floats", std::vector<float>{1, 2.5f, -infinity, 1e20f, 0.1f});
    add("ints", std::vector<int64_t>{1, -2});
    add("long", std::vector<int64_t>(40, 7));
    add("strings", std::vector<std::string>{"a", "\xff"});
    add("tensor", Tensor::scalar(int64_t{3}));
    add("sparse", SparseTensor{Tensor::zeros(ElementType::kFloat, {1}),
                               Tensor::zeros(ElementType::kInt64, {1}), Dims{5}});
    add("type", type("Sequence[FLOAT]"));
    add("nothing", std::monostate());
    add("graphs", std::vector<Graph*>{});
    graph->insert(node);
    std::string sevens = "7";
    for (int i = 1; i < 32; ++i) {
        sevens += ", 7";
    }
    EXPECT_EQ(dump(*graph),
              "graph () -> () {\n"
              "    Op() {floats=[1.0, 2.5, -inf, 1e+20, 0.1], ints=[1, -2], long=[" +
                  sevens +
                  ", ...], strings=[\"a\", \"\\xff\"], tensor=INT64 {3}, "
                  "sparse=sparse[5] FLOAT[1] {0} at INT64[1] {0}, "
                  "type=Sequence[FLOAT], nothing=?, graphs=[]}\n"
                  "}\n");
}

}  // namespace
}  // namespace sardonyx::ir
