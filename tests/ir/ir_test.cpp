#include "ir/ir.h"

#include <gtest/gtest.h>

#include "ir/verify.h"

namespace sardonyx::ir {
namespace {

using Names = std::vector<std::string_view>;
using Values = std::vector<Value*>;

// A chain of `length` nodes, x -> v0 -> v1 ...
struct Chain {
    explicit Chain(int length) {
        graph = model.graph = model.make_graph(nullptr);
        x = model.add_input(graph, "x");
        Value* last = x;
        for (int i = 0; i < length; ++i) {
            std::string name = "v" + std::to_string(i);
            Node* node = model.make_node("", "Neg", Values{last}, Names{name});
            graph->insert(node);
            last = node->output();
        }
        graph->outputs = {last};
    }
    std::string names() const {
        std::string text;
        for (const Node& node : *graph) {
            text += std::string(node.output()->name) + " ";
        }
        return text;
    }
    int use_count(const Value* value) const {
        int count = 0;
        for (const Use* use = value->first_use(); use != nullptr; use = use->next) {
            ++count;
        }
        return count;
    }

    Model model;
    Graph* graph;
    Value* x;
};

TEST(Ir, RemoveWhileWalking) {
    Chain chain(6);
    for (Node& node : *chain.graph) {
        if ((node.output()->name.back() - '0') % 2 == 0) {
            node.output()->replace_uses_with(node.input(0));
            chain.graph->remove(&node);
            EXPECT_EQ(node.graph(), nullptr);
        }
    }
    EXPECT_EQ(chain.names(), "v1 v3 v5 ");
    EXPECT_EQ(verify(chain.model), std::vector<std::string>());
    EXPECT_EQ(chain.graph->first_node()->input(0), chain.x);
}

TEST(Ir, RemoveAll) {
    Chain chain(3);
    chain.graph->outputs.clear();
    while (Node* node = chain.graph->last_node()) {
        chain.graph->remove(node);
    }
    EXPECT_EQ(chain.graph->first_node(), nullptr);
    EXPECT_FALSE(chain.x->has_uses());
    EXPECT_EQ(verify(chain.model), std::vector<std::string>());
}

TEST(Ir, InsertWhileWalking) {
    Chain chain(2);
    for (Node& node : *chain.graph) {
        std::string name = "before_" + std::string(node.output()->name);
        Node* added = chain.model.make_node("", "Abs", Values{node.input(0)}, Names{name});
        chain.graph->insert(added, &node);
        node.set_input(0, added->output());
    }
    EXPECT_EQ(chain.names(), "before_v0 v0 before_v1 v1 ");
    EXPECT_EQ(verify(chain.model), std::vector<std::string>());
}

TEST(Ir, ReplaceUses) {
    Chain chain(1);
    Value* v0 = chain.graph->outputs[0];
    Node* both = chain.model.make_node("", "Add", Values{v0, v0, nullptr}, Names{"sum"});
    chain.graph->insert(both);
    EXPECT_EQ(chain.use_count(v0), 2);
    v0->replace_uses_with(chain.x);
    EXPECT_FALSE(v0->has_uses());
    EXPECT_EQ(chain.use_count(chain.x), 3);
    EXPECT_EQ(both->input(1), chain.x);
    EXPECT_EQ(chain.graph->outputs[0], v0);  // graph outputs are not uses
    both->set_input(0, nullptr);
    both->set_input(2, v0);
    EXPECT_EQ(chain.use_count(chain.x), 2);
    EXPECT_EQ(both->input(2), v0);
    EXPECT_EQ(both->input(7), nullptr);
    EXPECT_EQ(verify(chain.model), std::vector<std::string>());
}

TEST(Ir, MoveBetweenGraphs) {
    Chain chain(2);
    Node* node = chain.graph->last_node();
    chain.graph->outputs = {chain.x};
    chain.graph->remove(node);
    Graph* other = chain.model.make_graph(chain.graph);
    other->insert(node);
    EXPECT_EQ(node->graph(), other);
    EXPECT_EQ(node->output()->graph(), other);
}

TEST(Ir, OpsetsAndFunctions) {
    Model model;
    model.opset_imports = {{"ai.onnx", 18}, {"d", 2}};
    EXPECT_EQ(model.opset_version(""), 18);
    EXPECT_EQ(model.opset_version("d"), 2);
    EXPECT_EQ(model.opset_version("other"), 0);
    Function* one = model.add_function("d", "F");
    Function* two = model.add_function("d", "F", "two");
    EXPECT_EQ(model.find_function("d", "F"), one);
    EXPECT_EQ(model.find_function("d", "F", "two"), two);
    EXPECT_EQ(model.find_function("", "F"), nullptr);
}

TEST(Ir, Attributes) {
    EXPECT_EQ(make_attribute("a", 1.5f).type, AttributeType::kFloat);
    EXPECT_EQ(make_attribute("a", std::vector<std::string>{}).type, AttributeType::kStrings);
    EXPECT_EQ(make_attribute("a", Type()).type, AttributeType::kTypeProto);
    EXPECT_EQ(name(AttributeType::kTypeProtos), "TYPE_PROTOS");
    EXPECT_EQ(make_attribute("a", int64_t{3}).get<float>(), nullptr);
}

}  // namespace
}  // namespace sardonyx::ir
