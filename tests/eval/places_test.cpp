// Which values have one place, one after the other.
#include "eval/plan/places.h"

#include <gtest/gtest.h>

namespace sardonyx::eval {
namespace {

void add(GraphPlan& graph, std::vector<Operand> inputs, Operand output,
         std::vector<Operand> releases = {}) {
    NodePlan& node = graph.nodes.emplace_back();
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.releases = std::move(releases);
}

FramePlan frame_of_four() {
    FramePlan frame;
    frame.slot_count = 4;
    frame.graph.inputs = {0};
    add(frame.graph, {0}, 1);
    add(frame.graph, {1, 0}, 2, {1});
    add(frame.graph, {2, 0}, 3, {2, 0});
    frame.graph.outputs = {3};
    return frame;
}

TEST(Places, AreTakenByWhatComesAfterTheLastUse) {
    FramePlan frame = frame_of_four();
    share_places(frame);
    EXPECT_EQ(frame.slot_count, 3);
    EXPECT_EQ(frame.graph.nodes[1].outputs[0], 2);  // the input 1 is read while it is made
    EXPECT_EQ(frame.graph.nodes[2].outputs[0], 1);
    EXPECT_EQ(frame.graph.nodes[2].releases, (std::vector<Operand>{0, 2}));
    EXPECT_EQ(frame.graph.outputs[0], 1);
}

TEST(Places, OfAChainAreFreeBehindAllOfIt) {
    FramePlan frame = frame_of_four();
    frame.graph.chains.push_back({.first = 0, .inputs = {0}, .steps = {{}, {}, {}}});
    share_places(frame);
    EXPECT_EQ(frame.slot_count, 4);
}

TEST(Places, OfSubgraphsLieBesideWhatLivesAround) {
    FramePlan frame;
    frame.slot_count = 5;
    frame.graph.inputs = {0};
    add(frame.graph, {0}, 1);
    add(frame.graph, {0}, 2, {0, 1});  // its subgraph reads 1
    auto body = std::make_unique<GraphPlan>();
    add(*body, {1}, 3);
    body->outputs = {3};
    frame.graph.nodes[1].subgraphs.emplace_back("body", std::move(body));
    add(frame.graph, {2}, 4, {2});
    frame.graph.outputs = {4};
    share_places(frame);
    EXPECT_EQ(frame.graph.nodes[1].subgraphs[0].second->outputs[0], 3);
    EXPECT_EQ(frame.graph.outputs[0], 0);
    EXPECT_EQ(frame.slot_count, 4);
}

TEST(Places, HaveSizesWhereTypesSayThem) {
    ir::Model model;
    ir::Value* value = model.add_input(model.make_graph(nullptr), "x");
    value->type = Type::tensor(ElementType::kFloat, Shape{2, 3});
    EXPECT_EQ(size_of(*value), 24);
    value->type = Type::tensor(ElementType::kFloat, Shape{2, Dim::symbol("N")});
    EXPECT_EQ(size_of(*value), -1);
    value->type = Type::tensor(ElementType::kFloat, Shape{int64_t{1} << 40, int64_t{1} << 40});
    EXPECT_EQ(size_of(*value), -1);
}

}  // namespace
}  // namespace sardonyx::eval
