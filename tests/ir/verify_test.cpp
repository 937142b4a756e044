#include "ir/verify.h"

#include <gtest/gtest.h>

namespace sardonyx::ir {
namespace {

using Names = std::vector<std::string_view>;
using Values = std::vector<Value*>;
using Problems = std::vector<std::string>;

class Verify : public ::testing::Test {
  protected:
    Verify() {
        graph = model.graph = model.make_graph(nullptr);
        graph->name = "g";
        x = model.add_input(graph, "x");
    }

    Node* node(Graph* where, std::string_view op, Values inputs, Names outputs) {
        Node* made = model.make_node("", op, inputs, outputs);
        where->insert(made);
        return made;
    }
    // A node `If` whose only branch is the graph that comes back.
    Graph* branch(Graph* where, std::string_view output) {
        Graph* body = model.make_graph(where);
        body->name = "body";
        node(where, "If", {}, {output})->attributes.push_back(make_attribute("then_branch", body));
        return body;
    }

    Model model;
    Graph* graph;
    Value* x;
};

TEST_F(Verify, AcceptsWhatIsLegal) {
    model.add_default(x, Tensor::scalar(1.0f));
    Value* w = model.add_initializer(graph, "w", Tensor::scalar(2.0f));
    Node* first = node(graph, "Split", {x, nullptr}, {"a", "", ""});
    Graph* body = branch(graph, "r");
    Node* inner = node(body, "Add", {first->output(), w}, {"inner"});
    body->outputs = {inner->output(), inner->output(), x};
    Graph* other = branch(graph, "s");
    Value* local = model.add_initializer(other, "local", Tensor::scalar(1.0f));
    other->outputs = {local};
    graph->outputs = {graph->last_node()->output(), x};
    EXPECT_EQ(verify(model), Problems());
}

TEST_F(Verify, UseBeforeDefinition) {
    Node* later = node(graph, "Neg", {x}, {"y"});
    graph->insert(model.make_node("", "Abs", Values{later->output()}, Names{"z"}), later);
    EXPECT_EQ(verify(model), Problems{"main graph: node `Abs` uses `y`, which is defined later"});
}

TEST_F(Verify, UseOfItself) {
    Node* loop = node(graph, "Neg", {x}, {"y"});
    loop->set_input(0, loop->output());
    EXPECT_EQ(verify(model), Problems{"main graph: node `Neg` uses `y`, which is defined later"});
}

TEST_F(Verify, UseOfAnInnerValueOutside) {
    Graph* body = branch(graph, "r");
    Node* inner = node(body, "Neg", {x}, {"inner"});
    node(graph, "Abs", {inner->output()}, {"y"})->name = "n";
    EXPECT_EQ(verify(model),
              Problems{"main graph: node `n` (Abs) uses `inner`, which is not visible"});
}

TEST_F(Verify, UseBetweenBranches) {
    Graph* first = branch(graph, "r");
    Node* inner = node(first, "Neg", {x}, {"inner"});
    Graph* second = branch(graph, "s");
    second->outputs = {inner->output()};
    EXPECT_EQ(verify(model), Problems{"main graph: output `inner` of graph `body` is not visible"});
}

TEST_F(Verify, UseOfTheOutputsOfItsOwnNode) {
    Graph* body = branch(graph, "r");
    node(body, "Neg", {graph->last_node()->output()}, {"inner"});
    EXPECT_EQ(verify(model), Problems{"main graph: node `Neg` uses `r`, which is defined later"});
}

TEST_F(Verify, UseOfARemovedNode) {
    Node* gone = node(graph, "Neg", {x}, {"y"});
    graph->remove(gone);
    graph->outputs = {gone->output()};
    EXPECT_EQ(verify(model), Problems{"main graph: output `y` of graph `g` is not visible"});
    node(graph, "Abs", {gone->output()}, {"z"});
    EXPECT_EQ(verify(model)[0], "main graph: node `Abs` uses `y`, which is not visible");
}

TEST_F(Verify, NamesAreUnique) {
    node(graph, "Neg", {x}, {"y"});
    node(branch(graph, "r"), "Neg", {x}, {"y"});
    EXPECT_EQ(verify(model), Problems{"main graph: two values are named `y`"});
}

// The scopes of the standard: a name may come again where the other value is not in sight.
TEST_F(Verify, NamesMayComeAgainOutOfSight) {
    node(branch(graph, "r"), "Neg", {x}, {"y"});
    node(branch(graph, "s"), "Neg", {x}, {"y"});
    node(graph, "Abs", {x}, {"y"});
    EXPECT_EQ(verify(model), Problems());
    node(branch(graph, "t"), "Neg", {x}, {"y"});
    EXPECT_EQ(verify(model), Problems{"main graph: two values are named `y`"});
}

// An input or initializer of a subgraph may; what it hides is not what nodes there mean.
TEST_F(Verify, InitializersOfSubgraphsHideNames) {
    Value* outer = model.add_initializer(graph, "w", Tensor::scalar(1.0f));
    Graph* body = branch(graph, "r");
    Value* inner = model.add_initializer(body, "w", Tensor::scalar(2.0f));
    model.add_input(body, "x");
    Node* neg = node(body, "Neg", {inner}, {"s"});
    node(graph, "Abs", {outer}, {"y"});
    EXPECT_EQ(verify(model), Problems());
    neg->set_input(0, outer);
    body->outputs = {x};
    EXPECT_EQ(verify(model),
              (Problems{"main graph: node `Neg` uses `w`, which another `w` hides there",
                        "main graph: output `x` of graph `body` is hidden there by another `x`"}));
    neg->set_input(0, inner);
    body->outputs = {neg->output()};
    node(body, "Neg", {inner}, {"w"});
    EXPECT_EQ(verify(model), Problems{"main graph: two values are named `w`"});
}

TEST_F(Verify, NamesAreNotEmpty) {
    Node* nameless = node(graph, "Neg", {x}, {""});
    EXPECT_EQ(verify(model), Problems());
    graph->outputs = {nameless->output()};
    EXPECT_EQ(verify(model), Problems{"main graph: an output of graph `g` has no name"});
    graph->outputs.clear();
    node(graph, "Neg", {nameless->output()}, {"y"});
    EXPECT_EQ(verify(model), Problems{"main graph: an output of graph `g` has no name"});
    x->name = "";
    EXPECT_EQ(verify(model)[0], "main graph: an input of graph `g` has no name");
}

TEST_F(Verify, OneDefinition) {
    graph->inputs.push_back(x);
    EXPECT_EQ(verify(model), Problems{"main graph: `x` is defined more than once"});
    graph->inputs.pop_back();
    Node* made = node(graph, "Neg", {x}, {"y"});
    graph->inputs.push_back(made->output());
    EXPECT_EQ(verify(model)[0], "main graph: input `y` is not marked as one, or a node makes it");
}

TEST_F(Verify, InitializersHoldTensors) {
    Value* w = model.add_initializer(graph, "w", Tensor::scalar(1.0f));
    w->constant.reset();
    EXPECT_EQ(verify(model), Problems{"main graph: initializer `w` is not marked as one, has no "
                                      "tensor, or a node makes it"});
    graph->initializers = {x};
    EXPECT_EQ(verify(model).size(), 1u);
    graph->initializers.clear();
    model.add_sparse_initializer(graph, "sparse", SparseTensor());
    EXPECT_EQ(verify(model), Problems());
}

TEST_F(Verify, UseListsAreConsistent) {
    Node* neg = node(graph, "Neg", {x}, {"y"});
    // A copy of the input record that the list of `x` does not know.
    Use& use = const_cast<Use&>(neg->inputs()[0]);
    Use kept = use;
    const_cast<Use*>(x->first_use())->index = 5;
    EXPECT_EQ(verify(model), Problems{"main graph: input 0 of node `Neg` does not know its node"});
    use = kept;
    EXPECT_EQ(verify(model), Problems());
    use.next = &use;
    EXPECT_EQ(verify(model), Problems{"main graph: the list of uses of `x` is broken"});
    use = kept;
    Value* other = model.add_input(graph, "other");
    use.value = other;
    EXPECT_EQ(verify(model),
              (Problems{"main graph: the list of uses of `x` is broken",
                        "main graph: `other` does not know that node `Neg` uses it"}));
}

TEST_F(Verify, SubgraphsStandInOnePlace) {
    Graph* body = branch(graph, "r");
    node(graph, "If", {}, {"s"})->attributes.push_back(make_attribute("then_branch", body));
    EXPECT_EQ(verify(model), Problems{"main graph: graph `body` is used in more than one place"});
}

TEST_F(Verify, SubgraphsKnowTheirParent) {
    Graph* body = model.make_graph(nullptr);
    body->name = "body";
    node(graph, "If", {}, {"r"})->attributes.push_back(make_attribute("then_branch", body));
    EXPECT_EQ(verify(model),
              Problems{"main graph: graph `body` does not know the graph around it"});
}

TEST_F(Verify, GraphAttributesHoldGraphs) {
    Graph* none = nullptr;
    node(graph, "If", {}, {"r"})->attributes.push_back(make_attribute("then_branch", none));
    EXPECT_EQ(verify(model),
              Problems{"main graph: node `If` has a graph attribute without a graph"});
}

class VerifyFunction : public Verify {
  protected:
    VerifyFunction() {
        function = model.add_function("d", "F");
        function->attributes = {"alpha"};
        function->attribute_defaults = {make_attribute("beta", 1.0f)};
        Value* input = model.add_input(function->body, "x");
        made = node(function->body, "Elu", {input}, {"y"});
        function->body->outputs = {made->output()};
    }
    static Attribute reference(std::string_view parameter) {
        Attribute attribute;
        attribute.name = "alpha";
        attribute.type = AttributeType::kFloat;
        attribute.reference = parameter;
        return attribute;
    }

    Function* function;
    Node* made;
};

TEST_F(VerifyFunction, ReferencesAreDeclared) {
    made->attributes = {reference("alpha"), reference("beta")};
    EXPECT_EQ(verify(model), Problems());
    node(branch(function->body, "r"), "Elu", {}, {"inner"})->attributes = {reference("gamma")};
    EXPECT_EQ(verify(model), Problems{"function `d::F`: attribute `alpha` of node `Elu` refers to "
                                      "`gamma`, which is not a parameter of the function"});
}

TEST_F(VerifyFunction, ReferencesStandInFunctions) {
    node(graph, "Elu", {x}, {"y"})->attributes = {reference("alpha")};
    EXPECT_EQ(verify(model), Problems{"main graph: attribute `alpha` of node `Elu` refers to the "
                                      "parameter `alpha` outside of a function"});
}

TEST_F(VerifyFunction, OutputsAreMadeInside) {
    function->body->outputs = {function->body->inputs[0]};
    EXPECT_EQ(verify(model), Problems{"function `d::F`: output `x` is not made in the body"});
}

TEST_F(VerifyFunction, HoldsNoInitializersAndNoForeignValues) {
    made->set_input(0, x);
    EXPECT_EQ(verify(model),
              Problems{"function `d::F`: node `Elu` uses `x`, which is not visible"});
    made->set_input(0, nullptr);
    model.add_initializer(function->body, "w", Tensor::scalar(1.0f));
    EXPECT_EQ(verify(model), Problems{"function `d::F`: a function cannot hold initializers"});
}

TEST_F(VerifyFunction, IsDefinedOnceWithDistinctParameters) {
    function->attributes.push_back("beta");
    EXPECT_EQ(verify(model),
              Problems{"function `d::F`: two attribute parameters have the same name"});
    function->attributes.pop_back();
    model.add_function("d", "F", "other");
    EXPECT_EQ(verify(model), Problems());
    model.add_function("d", "F");
    EXPECT_EQ(verify(model), Problems{"function `d::F` is defined twice"});
}

}  // namespace
}  // namespace sardonyx::ir
