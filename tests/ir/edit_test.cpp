#include "ir/edit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "ir/copy.h"
#include "ir/graph_walk.h"
#include "ir/verify.h"
#include "ir/walk.h"

namespace sardonyx::ir {
namespace {

using Problems = std::vector<std::string>;
using Inputs = std::vector<Value*>;

// x -> Neg a -> Abs b, and an If `c` whose branch reads `a`.
class Edit : public ::testing::Test {
  protected:
    Edit() {
        model.opset_imports = {{"", 20}};
        graph = model.graph = model.make_graph(nullptr);
        graph->name = model.intern("g");
        editor.emplace(model);
        x = *editor->add_input(*graph, "x", Type::tensor(ElementType::kFloat, Shape{2}));
        flag = *editor->add_input(*graph, "flag", Type::tensor(ElementType::kBool, Shape{}));
        neg = add(*graph, "Neg", {x}, "a");
        abs = add(*graph, "Abs", {neg->output()}, "b");
        choice = add(*graph, "If", {flag}, "c");
        branch = *editor->add_subgraph(*choice, "then_branch", "then");
        inner = add(*branch, "Exp", {neg->output()}, "inner");
        EXPECT_TRUE(editor->set_outputs(*branch, Inputs{inner->output()}).ok());
        EXPECT_TRUE(editor->set_outputs(*graph, Inputs{abs->output(), choice->output()}).ok());
    }

    Node* add(Graph& where, std::string_view op, Inputs inputs, std::string name,
              Node* position = nullptr) {
        Editor::NewNode wanted;
        wanted.op_type = op;
        wanted.inputs = inputs;
        wanted.outputs = {name};
        return *editor->insert(where, position, wanted);
    }
    std::string error(const Result<void>& result) {
        EXPECT_EQ(verify(model), Problems());
        return result.ok() ? "" : result.error().message;
    }

    Model model;
    std::optional<Editor> editor;
    Graph *graph, *branch;
    Value *x, *flag;
    Node *neg, *abs, *choice, *inner;
};

TEST_F(Edit, RefusesWhatIsNotInSight) {
    EXPECT_EQ(error(editor->set_input(*neg, 0, abs->output())),
              "value `b` is not available there: the node of `b` (`Abs`) computes it later");
    EXPECT_EQ(error(editor->set_input(*neg, 0, neg->output())),
              "value `a` is not available there: the node of `a` (`Neg`) computes it itself, from "
              "what would read it");
    EXPECT_EQ(
        error(editor->set_input(*inner, 0, choice->output())),
        "value `c` is not available there: the node of `c` (`If`) computes it itself, from what "
        "would read it");
    EXPECT_EQ(error(editor->set_input(*abs, 0, inner->output())),
              "value `inner` is not visible in graph `g`: it is in graph `then`");
    EXPECT_EQ(error(editor->set_input(*inner, 0, abs->output())), "");
    EXPECT_EQ(error(editor->set_input(*inner, 1, x)),
              "the node of `inner` (`Exp`) has 1 inputs, and none of index 1");
    EXPECT_EQ(error(editor->set_inputs(*inner, Inputs{x, nullptr, x})), "");
    EXPECT_EQ(inner->input_count(), 3u);
    EXPECT_EQ(inner->input(2), x);
}

TEST_F(Edit, RefusesToRemoveWhatIsRead) {
    Node* nodes[] = {neg};
    EXPECT_EQ(error(editor->remove(nodes)),
              "the node of `a` (`Neg`) cannot be removed: the node of `inner` (`Exp`) reads its "
              "output `a`");
    Node* last[] = {abs};
    EXPECT_EQ(error(editor->remove(last)),
              "the node of `b` (`Abs`) cannot be removed: `b` is an output of graph `g`");
    EXPECT_EQ(error(editor->remove(*x)),
              "value `x` cannot be removed: the node of `a` (`Neg`) reads it");
    // Together, in any order, they go: also what is in the subgraph.
    EXPECT_EQ(error(editor->set_outputs(*graph, Inputs{x})), "");
    Node* all[] = {neg, choice, abs};
    EXPECT_EQ(error(editor->remove(all)), "");
    EXPECT_EQ(graph->first_node(), nullptr);
    EXPECT_FALSE(editor->is_alive(*inner));
    EXPECT_FALSE(editor->is_alive(*branch));
    EXPECT_FALSE(editor->is_alive(*inner->output()));
    EXPECT_EQ(error(editor->remove(*flag)), "");
    EXPECT_FALSE(editor->is_alive(*flag));
    EXPECT_EQ(error(editor->set_outputs(*graph, Inputs{inner->output()})),
              "value `inner` is no longer in the model");
    EXPECT_EQ(add(*graph, "Neg", {x}, "inner")->output()->name, "inner");  // the name is free
}

TEST_F(Edit, ReplacesUsesAndOutputs) {
    Node* twice = add(*graph, "Mul", {x, x}, "twice", abs);
    EXPECT_EQ(error(editor->replace_uses(*neg->output(), *twice->output())), "");
    EXPECT_EQ(abs->input(0), twice->output());
    EXPECT_EQ(inner->input(0), twice->output());
    Node* nodes[] = {neg};
    EXPECT_EQ(error(editor->remove(nodes)), "");
    EXPECT_NE(error(editor->replace_uses(*x, *abs->output())), "");
    EXPECT_EQ(error(editor->replace_uses(*abs->output(), *twice->output())), "");
    EXPECT_EQ(graph->outputs[0], twice->output());
    Node* rest[] = {abs};
    EXPECT_EQ(error(editor->remove(rest)), "");
}

TEST_F(Edit, SaysWhatIsInAnotherGraph) {
    std::string said = "the node of `inner` (`Exp`) is not in graph `g`";
    EXPECT_EQ(error(Editor::check_in(*graph, *inner)), said);
    EXPECT_EQ(error(editor->move(*neg, inner)), said);
    EXPECT_EQ(error(Editor::check_in(*graph, *neg)), "");
}

TEST_F(Edit, FindsNodesByPlace) {
    size_t place = 0;
    for (Node& node : *graph) {
        EXPECT_EQ(&node_at(*graph, place++), &node);
    }
    EXPECT_EQ(place, node_count(*graph));
    std::vector<Node*> all;
    for_each_node(*graph, [&](Node& node) { all.push_back(&node); });
    EXPECT_EQ(all, (std::vector<Node*>{neg, abs, choice, inner}));
    EXPECT_TRUE(is_graph_output(*graph->outputs[0]));
    EXPECT_FALSE(is_graph_output(*neg->output()));
}

TEST_F(Edit, MovesWithinWhatIsKnown) {
    EXPECT_EQ(error(editor->move(*abs, neg)),
              "the node of `b` (`Abs`) cannot come before the node of `a` (`Neg`), whose output "
              "`a` it reads");
    EXPECT_EQ(error(editor->move(*choice, neg)),
              "the node of `c` (`If`) cannot come before the node of `a` (`Neg`), whose output "
              "`a` it reads");
    EXPECT_EQ(error(editor->move(*neg, nullptr)),
              "the node of `a` (`Neg`) cannot come after the node of `c` (`If`), which reads its "
              "output `a`");
    EXPECT_EQ(error(editor->move(*choice, abs)), "");
    EXPECT_EQ(neg->next(), choice);
    EXPECT_EQ(error(editor->move(*choice, nullptr)), "");
    EXPECT_EQ(graph->last_node(), choice);
}

TEST_F(Edit, MovesKeepNamesUnique) {
    Node* late = add(*graph, "Neg", {x}, "late");
    inner->output()->name = late->output()->name;  // which the branch does not see
    editor.emplace(model);
    std::string said =
        "the node of `c` (`If`) cannot come after the node of `late` (`Neg`): a graph in it has "
        "another value named `late`";
    EXPECT_EQ(error(editor->move(*choice, nullptr)), said);
    EXPECT_EQ(error(editor->move(*late, neg)), said);
    EXPECT_EQ(error(editor->move(*late, choice)), said);
    EXPECT_EQ(error(editor->move(*abs, nullptr)), "");
    EXPECT_EQ(error(editor->move(*neg, nullptr)).empty(), false);
}

TEST_F(Edit, NamesStayUnique) {
    EXPECT_EQ(error(editor->rename(*inner->output(), "a")), "another value is named `a`");
    EXPECT_EQ(error(editor->rename(*x, "")), "a value needs a name");
    EXPECT_EQ(error(editor->rename(*x, "z")), "");
    EXPECT_EQ(error(editor->rename(*inner->output(), "x")), "");
    Editor::NewNode wanted;
    wanted.op_type = "Neg";
    wanted.outputs = {std::nullopt, std::nullopt};
    Node* node = *editor->insert(*graph, nullptr, wanted);
    EXPECT_NE(node->output(0)->name, node->output(1)->name);
    EXPECT_EQ(verify(model), Problems());
    wanted.outputs = {"same", "same"};
    EXPECT_EQ(editor->insert(*graph, nullptr, wanted).error().message,
              "two outputs are named `same`");
}

// Graphs that do not see each other may have the same names; edits of one leave the other's taken.
TEST_F(Edit, NamesThatComeAgain) {
    Node* other = add(*graph, "If", {x}, "d", nullptr);
    Graph* second = *editor->add_subgraph(*other, "then_branch", "second");
    Node* node = add(*second, "Neg", {x}, std::string(inner->output()->name), nullptr);
    std::string name(node->output()->name);
    EXPECT_EQ(error(editor->rename(*node->output(), "free")), "");
    EXPECT_EQ(error(editor->rename(*neg->output(), name)),
              fmt::format("another value is named `{}`", name));
    EXPECT_EQ(error(editor->rename(*node->output(), name)), "");
    EXPECT_EQ(verify(model), Problems());
}

TEST_F(Edit, WhatIsHiddenIsNotVisible) {
    Value* hiding = *editor->add_initializer(*inner->graph(), "hiding", Tensor::scalar(1.0f));
    hiding->name = x->name;
    editor.emplace(model);
    EXPECT_EQ(error(editor->set_input(*inner, 0, x)),
              fmt::format("value `x` is not visible there: another `x`, of graph `{}`, hides it",
                          inner->graph()->name));
    EXPECT_EQ(error(editor->set_input(*inner, 0, hiding)), "");
    EXPECT_EQ(verify(model), Problems());
}

TEST_F(Edit, ForgetsWhatDependsOnAnEdit) {
    Type type = Type::tensor(ElementType::kFloat, Shape{2});
    neg->output()->type = abs->output()->type = inner->output()->type = type;
    EXPECT_EQ(error(editor->set_type(*x, Type::tensor(ElementType::kFloat, Shape{3}))), "");
    editor->settle();
    EXPECT_FALSE(neg->output()->type.is_known());
    EXPECT_FALSE(inner->output()->type.is_known());
    EXPECT_TRUE(abs->output()->type.is_known());  // what the graph declares
}

TEST_F(Edit, SubgraphsGoWithTheirAttribute) {
    EXPECT_EQ(
        error(editor->set_attribute(*abs, make_attribute("body", branch))),
        "attribute `body` of `Abs`: a graph can be used only once; make a new one in the node, "
        "and fill it");
    EXPECT_EQ(error(editor->remove_attribute(*choice, "then_branch")), "");
    EXPECT_FALSE(editor->is_alive(*inner));
    EXPECT_EQ(error(editor->remove_attribute(*choice, "then_branch")),
              "the node of `c` (`If`) has no attribute `then_branch`");
    Attribute reference = make_attribute("alpha", 1.0f);
    reference.reference = "alpha";
    EXPECT_NE(error(editor->set_attribute(*abs, reference)), "");
}

TEST_F(Edit, InsertionsBetweenTheSameNodes) {
    for (int i = 0; i < 200; ++i) {
        Node* node = add(*graph, "Neg", {neg->output()}, "n" + std::to_string(i), abs);
        EXPECT_TRUE(neg->is_before(*node));
        EXPECT_TRUE(node->is_before(*abs));
    }
    EXPECT_EQ(verify(model), Problems());
}

TEST_F(Edit, ACopySaysTheSame) {
    std::unique_ptr<Model> copied = copy(model);
    EXPECT_EQ(dump(*copied), dump(model));
    EXPECT_EQ(verify(*copied), Problems());
    ASSERT_TRUE(editor->rename(*x, "other").ok());
    EXPECT_NE(dump(*copied), dump(model));
}

// Whatever is asked for, what comes of it is a model.
TEST_F(Edit, RandomEdits) {
    std::mt19937 random(7);
    auto below = [&](size_t count) { return static_cast<size_t>(random()) % count; };
    std::vector<Node*> nodes{neg, abs, choice, inner};
    std::vector<Graph*> graphs{graph, branch};
    std::vector<Value*> values{x, flag};
    for (Node* node : nodes) {
        values.push_back(node->output());
    }
    int done = 0;
    for (int i = 0; i < 3000; ++i) {
        if (i % 10 == 0) {  // those that have gone are asked for a while
            std::erase_if(nodes, [&](Node* one) { return !editor->is_alive(*one); });
            std::erase_if(graphs, [&](Graph* one) { return !editor->is_alive(*one); });
            std::erase_if(values, [&](Value* one) { return !editor->is_alive(*one); });
            nodes.push_back(add(*graph, "Abs", {x}, "step" + std::to_string(i)));
            values.push_back(nodes.back()->output());
        }
        Node* node = nodes[below(nodes.size())];
        Node* other = nodes[below(nodes.size())];
        Value* value = values[below(values.size())];
        Value* second = values[below(values.size())];
        Graph* where = graphs[below(graphs.size())];
        bool is_done = false;
        switch (below(14)) {
            default: {
                Editor::NewNode wanted;
                wanted.op_type = "Add";
                Value* inputs[] = {value, second};
                wanted.inputs = inputs;
                wanted.outputs = {std::nullopt};
                Result<Node*> made = editor->insert(*where, below(2) == 0 ? nullptr : node, wanted);
                is_done = made.ok();
                if (made.ok()) {
                    nodes.push_back(*made);
                    values.push_back((*made)->output());
                }
                break;
            }
            case 2: {
                Node* gone[] = {node, other};
                is_done = editor->remove(gone).ok();
                break;
            }
            case 3:
                is_done = editor->move(*node, other).ok();
                break;
            case 4:
                is_done = editor->set_input(*node, 0, value).ok();
                break;
            case 5:
                is_done = editor->replace_uses(*value, *second).ok();
                break;
            case 6:
                is_done = editor->set_outputs(*where, Inputs{value, second}).ok();
                break;
            case 7: {
                Result<Graph*> made = editor->add_subgraph(*node, "body", "body");
                is_done = made.ok();
                if (made.ok()) {
                    graphs.push_back(*made);
                }
                break;
            }
        }
        done += is_done ? 1 : 0;
        if (i % 50 == 0) {
            editor->settle();
            ASSERT_EQ(verify(model), Problems()) << i;
        }
    }
    EXPECT_GT(done, 300);
    EXPECT_EQ(dump(*copy(model)), dump(model));
}

TEST_F(Edit, ACursorMeetsWhatIsPutBehindIt) {
    NodeCursor cursor(*graph);
    EXPECT_EQ(cursor.advance(), neg);
    Node* behind = add(*graph, "Abs", {x}, "behind", abs);
    EXPECT_EQ(cursor.advance(), behind);
    // Where it stands is taken out: it goes on with what was next.
    ASSERT_TRUE(editor->remove({&behind, 1}).ok());
    EXPECT_EQ(cursor.advance(), abs);
    EXPECT_EQ(cursor.advance(), choice);
    EXPECT_EQ(cursor.advance(), nullptr);
    EXPECT_EQ(node_count(*graph), 3);
    EXPECT_EQ(find_own_value(*graph, "a"), neg->output());
    EXPECT_EQ(find_own_value(*graph, "inner"), nullptr);
}

}  // namespace
}  // namespace sardonyx::ir
