// Chains: which nodes they are made of, and which shapes they are run on as one.
#include "eval/run/chain.h"
#include "eval/plan/chains.h"

#include <gtest/gtest.h>

namespace sardonyx::eval {
namespace {

// x and y are the slots 0 and 1; each node makes the next one.
constexpr Operand kX = 0;
constexpr Operand kY = 1;

struct Nodes {
    std::vector<NodePlan> nodes;

    Operand add(std::string_view op, std::vector<Operand> inputs) {
        NodePlan& node = nodes.emplace_back();
        node.op_type = op;
        node.entry = find_operator("", op, 21);
        node.inputs = std::move(inputs);
        node.outputs = {static_cast<Operand>(nodes.size()) + kY};
        return node.outputs[0];
    }
    // The last node reads this slot last, for the input `i`.
    void release(Operand slot, size_t i) {
        nodes.back().releases.push_back(slot);
        nodes.back().dying.add(i);
    }
};

TEST(Chain, NeighboursThatReadEachOther) {
    Nodes n;
    Operand product = n.add("Mul", {kX, kY});
    Operand erf = n.add("Erf", {product});
    n.release(product, 0);
    n.add("Neg", {kX});                       // of another chain: it reads no result of this one
    Operand sum = n.add("ReduceSum", {erf});  // not elementwise
    n.add("Add", {sum, kX});
    std::vector<ChainPlan> chains = plan_chains(n.nodes, FramePlan());
    ASSERT_EQ(chains.size(), 1u);
    const ChainPlan& chain = chains[0];
    EXPECT_EQ(chain.first, 0u);
    EXPECT_EQ(chain.inputs, (std::vector<Operand>{kX, kY}));
    ASSERT_EQ(chain.steps.size(), 2u);
    EXPECT_EQ(chain.steps[0].inputs, (std::vector<int>{0, 1}));
    EXPECT_FALSE(chain.steps[0].is_kept);
    EXPECT_EQ(chain.steps[1].inputs, (std::vector<int>{2}));
    EXPECT_TRUE(chain.steps[1].dying.contains(0));
    EXPECT_TRUE(chain.steps[1].is_kept);
}

TEST(Chain, QuantizationByScalarsAlone) {
    Nodes n;
    n.add("QuantizeLinear", {n.add("Neg", {kX}), kY});  // the scale is known to the run alone
    EXPECT_TRUE(plan_chains(n.nodes, FramePlan()).empty());
    FramePlan frame;
    Operand scale = frame.add_constant(Tensor::scalar(2.0f));
    Operand scales = frame.add_constant(Tensor::of<float>({2}, std::vector<float>{2.0f, 3.0f}));
    Nodes by_one;
    by_one.add("QuantizeLinear", {by_one.add("Neg", {kX}), scale});
    EXPECT_EQ(plan_chains(by_one.nodes, frame).size(), 1u);
    Nodes by_two;
    by_two.add("QuantizeLinear", {by_two.add("Neg", {kX}), scales});
    EXPECT_TRUE(plan_chains(by_two.nodes, frame).empty());
}

TEST(Table, ColumnsOfOperators) {
    auto entry = [](std::string_view name) { return *find_operator("", name, 21); };
    EXPECT_EQ(entry("Relu").order, AxisOrder::kKept);
    EXPECT_EQ(entry("Relu").elementwise, Elementwise::kAlways);
    EXPECT_EQ(entry("Cast").order, AxisOrder::kOnnx);
    EXPECT_EQ(entry("Cast").elementwise, Elementwise::kAlways);
    EXPECT_EQ(entry("Concat").order, AxisOrder::kKeptAlongChannels);
    EXPECT_EQ(entry("MaxPool").order, AxisOrder::kKeptOfFirst);
    EXPECT_EQ(entry("AveragePool").order, AxisOrder::kKeptOfFirst);
    EXPECT_EQ(entry("BatchNormalization").order, AxisOrder::kKeptOfFirst);
    EXPECT_EQ(entry("GlobalAveragePool").order, AxisOrder::kEitherOfFirst);
    EXPECT_EQ(entry("Conv").order, AxisOrder::kEitherByWeights);
    EXPECT_EQ(entry("MatMul").order, AxisOrder::kOnnx);
    EXPECT_EQ(entry("DequantizeLinear").elementwise, Elementwise::kByScalars);
    EXPECT_EQ(entry("Softmax").elementwise, Elementwise::kNever);
    EXPECT_EQ(find_operator("", "Add", 6)->elementwise, Elementwise::kNever);
}

TEST(InputSet, HasNoRoomForAll) {
    InputSet set;
    set.add(0);
    set.add(40);
    set.add(InputSet::kCapacity);
    EXPECT_TRUE(set.contains(0) && set.contains(40));
    EXPECT_FALSE(set.contains(8) || set.contains(32) || set.contains(InputSet::kCapacity));
    EXPECT_FALSE(InputSet::has_room(InputSet::kCapacity + 1));
}

// Whether -(x * y) runs as one.
bool runs_as_one(const Dims& x, const Dims& y, ElementType type = ElementType::kFloat) {
    Nodes n;
    Operand product = n.add("Mul", {kX, kY});
    Operand result = n.add("Neg", {product});
    n.release(product, 0);
    GraphPlan graph;
    graph.nodes = std::move(n.nodes);
    graph.chains = plan_chains(graph.nodes, FramePlan());
    FramePlan plan;
    plan.slot_count = result + 1;
    Frame frame(plan, {});
    frame.slot(kX) = Tensor::zeros(type, x);
    frame.slot(kY) = Tensor::zeros(type, y);
    bool done = run_chain(graph, graph.chains[0], frame, {});
    if (done) {
        EXPECT_TRUE(frame.get(product).is_none());
        EXPECT_EQ(frame.get(result).tensor().dims(), x);
        EXPECT_EQ(frame.get(result).tensor().element_type(), type);
    } else {
        EXPECT_TRUE(frame.get(result).is_none());
    }
    return done;
}

TEST(Chain, ShapesThatAreCutByRows) {
    EXPECT_TRUE(runs_as_one({20000}, {20000}));
    EXPECT_TRUE(runs_as_one({20000}, {}));
    EXPECT_TRUE(runs_as_one({20000}, {1}));
    EXPECT_TRUE(runs_as_one({2, 100, 200}, {200}));
    EXPECT_TRUE(runs_as_one({2, 100, 200}, {1, 1, 200}));
    EXPECT_TRUE(runs_as_one({2, 100, 200}, {2, 100, 1}));
    EXPECT_TRUE(runs_as_one({20, 10, 200}, {10, 1}));
    EXPECT_TRUE(runs_as_one({20, 10, 200}, {20, 1, 1}));
    EXPECT_TRUE(runs_as_one({20, 10, 200}, {20, 10, 200}, ElementType::kInt8));
}

TEST(Chain, OtherShapesRunNodeByNode) {
    EXPECT_FALSE(runs_as_one({1000}, {1000}));             // too few elements
    EXPECT_FALSE(runs_as_one({2, 20000}, {1, 20000}));     // rows too long
    EXPECT_FALSE(runs_as_one({100, 200}, {2, 100, 200}));  // long rows, of the other
    EXPECT_FALSE(runs_as_one({1, 100, 200}, {100, 200}));  // one row
    EXPECT_FALSE(runs_as_one({20000, 1}, {1, 3}));         // the result is larger than both
    EXPECT_FALSE(runs_as_one({20000}, {3}));               // do not broadcast: an error
    EXPECT_FALSE(runs_as_one({0, 20000}, {0, 20000}));     // nothing to do
}

}  // namespace
}  // namespace sardonyx::eval
