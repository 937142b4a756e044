// What `difference` sees. The models are the same graph with one thing changed.
#include "decompile/isomorphic.h"

#include <gtest/gtest.h>

#include <functional>

namespace sardonyx::decompile {
namespace {

using Names = std::vector<std::string_view>;
using Values = std::vector<ir::Value*>;
using Change = std::function<void(ir::Model&)>;

Type type(std::string_view text) {
    return parse_type(text).value();
}

// y = If(c) { x + w } else { Softmax(x) }; z = my::F(x); u = Identity(x), by the graph itself.
std::unique_ptr<ir::Model> model(const Change& change = {}) {
    auto model = std::make_unique<ir::Model>();
    model->ir_version = 10;
    model->opset_imports = {{"", 18}, {"my", 1}};
    ir::Graph* graph = model->graph = model->make_graph(nullptr);
    ir::Value* x = model->add_input(graph, "x", type("FLOAT[N, 2]"));
    ir::Value* c = model->add_input(graph, "c", type("BOOL"));
    ir::Value* w = model->add_initializer(graph, "w", Tensor::zeros(ElementType::kFloat, {2}));
    ir::Node* choice = model->make_node("", "If", Values{c}, Names{"y"});
    for (std::string_view branch : {"then_branch", "else_branch"}) {
        ir::Graph* body = model->make_graph(graph);
        bool is_then = branch == "then_branch";
        ir::Node* node = is_then ? model->make_node("", "Add", Values{x, w}, Names{"a"})
                                 : model->make_node("", "Softmax", Values{x}, Names{"b"});
        body->insert(node);
        body->outputs = {node->output()};
        choice->attributes.push_back(ir::make_attribute(branch, body));
    }
    graph->insert(choice);
    ir::Function* function = model->add_function("my", "F");
    function->opset_imports = {{"", 18}};
    function->attributes = {"k"};
    ir::Value* in = model->add_input(function->body, "in");
    ir::Node* inner = model->make_node("", "LeakyRelu", Values{in}, Names{"out"});
    ir::Attribute alpha = ir::make_attribute("alpha", ir::AttributeValue());
    alpha.type = ir::AttributeType::kFloat;
    alpha.reference = "k";
    inner->attributes = {alpha};
    function->body->insert(inner);
    function->body->outputs = {inner->output()};
    ir::Node* call = model->make_node("my", "F", Values{x}, Names{"z"});
    call->attributes = {ir::make_attribute("k", 0.5F)};
    graph->insert(call);
    graph->outputs = {choice->output(), call->output(), x};
    if (change) {
        change(*model);
    }
    return model;
}

ir::Graph& branch(ir::Model& model, size_t index) {
    return **model.graph->first_node()->attributes[index].get<ir::Graph*>();
}

std::string difference_after(const Change& change) {
    return difference(*model(), *model(change));
}

TEST(Isomorphic, EqualModels) {
    EXPECT_EQ(difference_after({}), "");
    EXPECT_EQ(difference_after([](ir::Model& m) { m.graph->first_node()->name = "other"; }), "");
    EXPECT_EQ(difference_after([](ir::Model& m) { m.graph->inputs[0]->name = "other"; }), "");
}

TEST(Isomorphic, DefaultsAreWhatIsNotSaid) {
    EXPECT_EQ(difference_after([](ir::Model& m) {
                  ir::Node* softmax = branch(m, 1).first_node();
                  softmax->attributes = {ir::make_attribute("axis", int64_t{-1})};
              }),
              "");
}

TEST(Isomorphic, ConstantsAreTheirBytes) {
    EXPECT_EQ(difference_after([](ir::Model& m) {
                  ir::Node* node = m.make_node("", "Constant", Values{}, Names{"k"});
                  node->attributes = {
                      ir::make_attribute("value", Tensor::zeros(ElementType::kFloat, {2}))};
                  branch(m, 0).insert(node, branch(m, 0).first_node());
                  node->next()->set_input(1, node->output());
              }),
              "");
}

TEST(Isomorphic, AResultThatNoNodeMakesMayBeItsIdentity) {
    EXPECT_EQ(difference_after([](ir::Model& m) {
                  ir::Node* node =
                      m.make_node("", "Identity", Values{m.graph->inputs[0]}, Names{"u"});
                  m.graph->insert(node);
                  m.graph->outputs[2] = node->output();
              }),
              "");
}

TEST(Isomorphic, SeesEveryChange) {
    const std::pair<const char*, Change> changes[] = {
        {"operator", [](ir::Model& m) { branch(m, 0).first_node()->op_type = "Sub"; }},
        {"domain", [](ir::Model& m) { branch(m, 0).first_node()->domain = "other"; }},
        {"version", [](ir::Model& m) { m.opset_imports[0].version = 17; }},
        {"attribute",
         [](ir::Model& m) {
             branch(m, 1).first_node()->attributes = {ir::make_attribute("axis", int64_t{0})};
         }},
        {"attribute of a call",
         [](ir::Model& m) { m.graph->last_node()->attributes[0].value = 0.25F; }},
        {"reference",
         [](ir::Model& m) {
             m.functions[0]->body->first_node()->attributes[0].reference = "other";
         }},
        {"body of a function",
         [](ir::Model& m) { m.functions[0]->body->first_node()->op_type = "Elu"; }},
        {"version in a function",
         [](ir::Model& m) { m.functions[0]->opset_imports[0].version = 17; }},
        {"weight",
         [](ir::Model& m) {
             m.graph->initializers[0]->constant = Tensor::of<float>({2}, std::vector{0.F, -0.F});
         }},
        {"element type", [](ir::Model& m) { m.graph->inputs[0]->type = type("DOUBLE[N, 2]"); }},
        {"dimension", [](ir::Model& m) { m.graph->inputs[0]->type = type("FLOAT[M, 2]"); }},
        {"type of a result", [](ir::Model& m) { m.graph->inputs[0]->type = type("FLOAT[3, 2]"); }},
        {"swapped inputs",
         [](ir::Model& m) {
             ir::Node* add = branch(m, 0).first_node();
             ir::Value* a = add->input(0);
             add->set_input(0, add->input(1));
             add->set_input(1, a);
         }},
        {"swapped results",
         [](ir::Model& m) { std::swap(m.graph->outputs[0], m.graph->outputs[1]); }},
        {"one result less", [](ir::Model& m) { m.graph->outputs.pop_back(); }},
        {"another result", [](ir::Model& m) { m.graph->outputs[2] = m.graph->outputs[1]; }},
        {"an input that is left out",
         [](ir::Model& m) { branch(m, 0).first_node()->set_input(1, nullptr); }},
        {"swapped branches",
         [](ir::Model& m) {
             auto& attributes = m.graph->first_node()->attributes;
             std::swap(attributes[0].value, attributes[1].value);
         }},
        {"overload", [](ir::Model& m) { branch(m, 0).first_node()->overload = "other"; }},
        {"default of an input",
         [](ir::Model& m) {
             m.add_default(m.graph->inputs[1], Tensor::zeros(ElementType::kBool, {}));
         }},
    };
    for (const auto& [name, change] : changes) {
        EXPECT_NE(difference_after(change), "") << name;
        EXPECT_NE(difference(*model(change), *model()), "") << name;
    }
}

TEST(Isomorphic, OneNodeIsNotTwo) {
    auto one = model([](ir::Model& m) {
        ir::Node* node =
            m.make_node("", "Add", Values{m.graph->inputs[0], m.graph->inputs[0]}, Names{"p"});
        m.graph->insert(node);
        ir::Node* sum = m.make_node("", "Mul", Values{node->output(), node->output()}, Names{"q"});
        m.graph->insert(sum);
        m.graph->outputs = {sum->output()};
    });
    auto two = model([](ir::Model& m) {
        Values ends;
        for (std::string_view name : {"p", "r"}) {
            ir::Node* node = m.make_node("", "Add", Values{m.graph->inputs[0], m.graph->inputs[0]},
                                         std::span(&name, 1));
            m.graph->insert(node);
            ends.push_back(node->output());
        }
        ir::Node* sum = m.make_node("", "Mul", ends, Names{"q"});
        m.graph->insert(sum);
        m.graph->outputs = {sum->output()};
    });
    EXPECT_NE(difference(*one, *two), "");
    EXPECT_NE(difference(*two, *one), "");
}

}  // namespace
}  // namespace sardonyx::decompile
