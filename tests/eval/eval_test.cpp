// The drivers, the eager entry and the runner, on graphs built by hand.
#include "eval/eval.h"

#include <gtest/gtest.h>

#include <limits>

#include "eval/loops/strided.h"
#include "eval/run/observer.h"

namespace sardonyx::eval {
namespace {

using Values = std::vector<RuntimeValue>;

template <typename T>
RuntimeValue tensor(Dims dims, std::vector<T> elements) {
    return Tensor::of<T>(std::move(dims), elements);
}

RuntimeValue flag(bool value) {
    return Tensor::scalar<bool>(value);
}

template <typename T>
std::vector<T> elements(const RuntimeValue& value) {
    std::span<const T> span = value.tensor().elements<T>();
    return {span.begin(), span.end()};
}

Result<Values> call(std::string_view op, Values inputs, std::vector<ir::Attribute> attributes = {},
                    size_t outputs = 1, int64_t version = 21) {
    return run_operator("", op, version, inputs, attributes, outputs);
}

std::string message(const Result<Values>& result) {
    return result.ok() ? "ok" : result.error().message;
}

// --- Geometry ------------------------------------------------------------------------------------

TEST(Strided, BroadcastDims) {
    EXPECT_EQ(*broadcast_dims(Dims{2, 1, 3}, Dims{4, 1}), (Dims{2, 4, 3}));
    EXPECT_EQ(*broadcast_dims(Dims{}, Dims{0}), (Dims{0}));
    EXPECT_FALSE(broadcast_dims(Dims{2}, Dims{3}).ok());
}

TEST(Strided, WalkMergesNeighbours) {
    Dims dims{2, 3, 1, 4};
    Dims contiguous = row_major_strides(dims);
    StridedWalk<1> merged(dims, {contiguous});
    EXPECT_EQ(merged.dims, (Dims{24}));
    Dims column{0, 0, 0, 1};
    StridedWalk<2> apart(dims, {contiguous, column});
    EXPECT_EQ(apart.dims, (Dims{6, 4}));
}

TEST(Strided, WalkVisitsEachRowOnce) {
    Dims dims{2, 3, 5};
    Dims strides{100, 10, 1};
    StridedWalk<1> walk(dims, {strides});
    std::vector<int64_t> starts;
    walk.for_each_row([&](const auto& offsets, const auto& inner, int64_t n) {
        EXPECT_EQ(inner[0], 1);
        EXPECT_EQ(n, 5);
        starts.push_back(offsets[0]);
    });
    EXPECT_EQ(starts, (std::vector<int64_t>{0, 10, 20, 100, 110, 120}));
}

TEST(Strided, HugeDimsBesideZeroAreEmpty) {
    int64_t huge = int64_t{1} << 40;
    Dims dims{huge, huge, 0};
    Dims strides = row_major_strides(dims);
    StridedWalk<1> walk(dims, {strides});
    walk.for_each_row([](const auto&, const auto&, int64_t) { FAIL(); });
}

// --- One operator --------------------------------------------------------------------------------

TEST(Operator, AddBroadcasts) {
    auto result = call("Add", {tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<float>({2}, {10, 20})});
    ASSERT_TRUE(result.ok()) << message(result);
    EXPECT_EQ(elements<float>((*result)[0]), (std::vector<float>{11, 22, 13, 24}));
}

TEST(Operator, InputsAreNotWritten) {
    RuntimeValue x = tensor<float>({3}, {1, 2, 3});
    auto result = call("Neg", {x});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2, 3}));
}

TEST(Operator, IntegerDivision) {
    int32_t least = std::numeric_limits<int32_t>::min();
    auto result =
        call("Div", {tensor<int32_t>({3}, {7, -7, least}), tensor<int32_t>({3}, {-2, 2, -1})});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(elements<int32_t>((*result)[0]), (std::vector<int32_t>{-3, -3, least}));
    EXPECT_EQ(message(call("Div", {tensor<int32_t>({2}, {1, 2}), tensor<int32_t>({2}, {1, 0})})),
              "`Div`: integer division by zero; inputs: INT32[2], INT32[2]");
}

TEST(Operator, CallsAreChecked) {
    RuntimeValue x = tensor<float>({2}, {1, 2});
    EXPECT_EQ(message(call("Add", {x})),
              "`Add`: takes 2 inputs, and `B` is missing; inputs: FLOAT[2]");
    EXPECT_EQ(
        message(call("Add", {x, tensor<double>({2}, {1, 2})})),
        "`Add`: input `B` is DOUBLE[2], but input `A` is FLOAT[2]: both must "
        "be of one type (`T`): convert one of them with `Cast` or `CastLike`; inputs: FLOAT[2], "
        "DOUBLE[2]");
    EXPECT_EQ(message(call("And", {x, x})),
              "`And`: input `A` is FLOAT[2], which the operator does not take: it takes "
              "BOOL; convert the value with `Cast`; inputs: FLOAT[2], FLOAT[2]");
    EXPECT_EQ(message(call("Softmax", {x}, {ir::make_attribute("axis", 1.5f)})),
              "`Softmax`: attribute `axis` is FLOAT, and must be INT; inputs: FLOAT[2]");
    EXPECT_EQ(message(call("Nothing", {x})),
              "there is no operator `Nothing` in version 21 of domain \"\"");
}

TEST(Operator, HostileShapes) {
    int64_t huge = std::numeric_limits<int64_t>::max();
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
             {huge, huge}, {huge}, {-1}, {1 << 20, 1 << 20, 1 << 20}, {huge, 0, huge}}) {
        auto result =
            call("ConstantOfShape", {tensor<int64_t>({static_cast<int64_t>(shape.size())}, shape)});
        EXPECT_FALSE(result.ok() && (*result)[0].tensor().count() != 0);
        auto expanded =
            call("Expand", {tensor<float>({1}, {1}),
                            tensor<int64_t>({static_cast<int64_t>(shape.size())}, shape)});
        EXPECT_FALSE(expanded.ok() && (*expanded)[0].tensor().count() != 0);
    }
    EXPECT_FALSE(call("Tile", {tensor<float>({2}, {1, 2}), tensor<int64_t>({1}, {huge})}).ok());
    EXPECT_FALSE(
        call("Pad", {tensor<float>({2}, {1, 2}), tensor<int64_t>({2}, {huge, huge})}).ok());
    EXPECT_FALSE(call("Range", {Tensor::scalar<int64_t>(-huge), Tensor::scalar<int64_t>(huge),
                                Tensor::scalar<int64_t>(1)})
                     .ok());
    EXPECT_FALSE(
        call("Gather", {tensor<float>({2}, {1, 2}), Tensor::scalar<int64_t>(-huge - 1)}).ok());
    auto slice = call("Slice", {tensor<float>({3}, {1, 2, 3}), tensor<int64_t>({1}, {huge}),
                                tensor<int64_t>({1}, {-huge - 1}), tensor<int64_t>({1}, {0}),
                                tensor<int64_t>({1}, {-huge - 1})});
    ASSERT_TRUE(slice.ok()) << message(slice);
    EXPECT_EQ(elements<float>((*slice)[0]), (std::vector<float>{3}));
}

TEST(Operator, SeedDecidesRandomNumbers) {
    std::vector<ir::Attribute> attributes{ir::make_attribute("shape", std::vector<int64_t>{1000}),
                                          ir::make_attribute("seed", 3.0f)};
    auto a = call("RandomNormal", {}, attributes);
    auto b = call("RandomNormal", {}, attributes);
    ASSERT_TRUE(a.ok()) << message(a);
    EXPECT_EQ(elements<float>((*a)[0]), elements<float>((*b)[0]));
    double sum = 0;
    for (float x : elements<float>((*a)[0])) {
        sum += x;
    }
    EXPECT_NEAR(sum / 1000, 0, 0.15);
}

// --- Graphs --------------------------------------------------------------------------------------

class GraphTest : public testing::Test {
  protected:
    GraphTest() {
        model.graph = model.make_graph(nullptr);
        model.opset_imports = {{"", 21}, {"here", 1}};
    }

    ir::Value* node(ir::Graph* graph, std::string_view op, std::vector<ir::Value*> inputs,
                    std::string_view output, std::vector<ir::Attribute> attributes = {},
                    std::string_view domain = "") {
        ir::Node* made = model.make_node(domain, op, inputs, {{output}});
        made->attributes = std::move(attributes);
        graph->insert(made);
        return made->output();
    }

    Result<Values> run(std::vector<std::pair<std::string_view, RuntimeValue>> inputs,
                       RunOptions options = {}) {
        return run_model(model, inputs, options);
    }

    // Counts up from x by one, `trips` times, without a condition of its own; collects the values.
    void make_loop(int64_t trips) {
        ir::Value* x =
            model.add_input(model.graph, "x", Type::tensor(ElementType::kFloat, Shape{}));
        ir::Value* one = model.add_initializer(model.graph, "one", Tensor::scalar<float>(1));
        ir::Value* count = model.add_initializer(model.graph, "m", Tensor::scalar<int64_t>(trips));
        ir::Graph* body = model.make_graph(model.graph);
        model.add_input(body, "i");
        ir::Value* condition = model.add_input(body, "c");
        ir::Value* v = model.add_input(body, "v");
        ir::Value* next = node(body, "Add", {v, one}, "next");
        ir::Value* scan = node(body, "Mul", {next, one}, "scan");
        scan->type = Type::tensor(ElementType::kFloat, Shape{});
        body->outputs = {condition, next, scan};
        ir::Node* loop = model.make_node("", "Loop", std::vector<ir::Value*>{count, nullptr, x},
                                         std::vector<std::string_view>{"last", "all"});
        loop->attributes = {ir::make_attribute("body", body)};
        model.graph->insert(loop);
        model.graph->outputs = {loop->output(0), loop->output(1), x};
    }

    ir::Model model;
};

TEST_F(GraphTest, LoopCarriesAndCollects) {
    make_loop(3);
    auto result = run({{"x", Tensor::scalar<float>(10)}});
    ASSERT_TRUE(result.ok()) << message(result);
    EXPECT_EQ(elements<float>((*result)[0]), std::vector<float>{13});
    EXPECT_EQ(elements<float>((*result)[1]), (std::vector<float>{11, 12, 13}));
    EXPECT_EQ(elements<float>((*result)[2]), std::vector<float>{10});
}

TEST_F(GraphTest, LoopWithoutIterationsTakesTheDeclaredType) {
    make_loop(0);
    auto result = run({{"x", Tensor::scalar<float>(10)}});
    ASSERT_TRUE(result.ok()) << message(result);
    EXPECT_EQ(elements<float>((*result)[0]), std::vector<float>{10});
    EXPECT_EQ((*result)[1].tensor().dims(), Dims{0});
}

TEST_F(GraphTest, APlanRunsManyTimes) {
    make_loop(2);
    auto plan = prepare(model);
    ASSERT_TRUE(plan.ok());
    for (float start : {1.0f, 5.0f}) {
        std::pair<std::string_view, RuntimeValue> x{"x", Tensor::scalar<float>(start)};
        auto result = sardonyx::eval::run(**plan, {&x, 1});
        ASSERT_TRUE(result.ok()) << message(result);
        EXPECT_EQ(elements<float>((*result)[0]), std::vector<float>{start + 2});
        EXPECT_EQ(elements<float>((*result)[1]), (std::vector<float>{start + 1, start + 2}));
    }
}

class Watcher final : public RunObserver {
  public:
    explicit Watcher(bool wants_values) : wants_values_(wants_values) {}
    bool wants_values() const override { return wants_values_; }
    void node_done(const ir::Node& node, std::span<const RuntimeValue* const> outputs,
                   int) override {
        seen += std::string(node.op_type) + (outputs.empty() ? " " : "! ");
    }
    std::string seen;

  private:
    bool wants_values_;
};

// The first two nodes are a chain, which runs as one where nobody looks at what is between them.
TEST_F(GraphTest, ObserversSeeEachNodeAndTheValuesThatTheyWant) {
    ir::Value* x = model.add_input(model.graph, "x", Type::tensor(ElementType::kFloat));
    ir::Value* doubled = node(model.graph, "Add", {x, x}, "doubled");
    ir::Value* negative = node(model.graph, "Neg", {doubled}, "negative");
    model.graph->outputs = {node(model.graph, "Identity", {negative}, "y")};
    auto plan = prepare(model);
    ASSERT_TRUE(plan.ok());
    constexpr size_t kCount = 1 << 16;
    std::pair<std::string_view, RuntimeValue> input{
        "x", tensor<float>({kCount}, std::vector<float>(kCount, 1.5f))};
    for (bool wants_values : {false, true}) {
        Watcher watcher(wants_values);
        auto result = sardonyx::eval::run(**plan, {&input, 1}, {}, &watcher);
        ASSERT_TRUE(result.ok()) << message(result);
        EXPECT_EQ(elements<float>((*result)[0]), std::vector<float>(kCount, -3.0f));
        EXPECT_EQ(watcher.seen, wants_values ? "Add! Neg! Identity! " : "Add Neg Identity! ");
    }
}

TEST_F(GraphTest, PreparationNamesTheFunctionAtFault) {
    ir::Function* outer = model.add_function("here", "Outer");
    outer->opset_imports = {{"here", 1}};
    ir::Value* a = model.add_input(outer->body, "a");
    outer->body->outputs = {node(outer->body, "Inner", {a}, "b", {}, "here")};
    ir::Function* inner = model.add_function("here", "Inner");
    inner->opset_imports = {{"", 21}};
    ir::Value* c = model.add_input(inner->body, "c");
    inner->body->outputs = {node(inner->body, "NoSuchOperator", {c}, "d")};
    ir::Value* x = model.add_input(model.graph, "x");
    model.graph->outputs = {node(model.graph, "Outer", {x}, "y", {}, "here")};
    auto plan = prepare(model);
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(
        plan.error().message.find("function `here.Inner`: the node of `d` (`NoSuchOperator`)"),
        std::string::npos)
        << plan.error().message;
}

TEST_F(GraphTest, LoopStopsAtTheStepLimit) {
    make_loop(std::numeric_limits<int64_t>::max());
    model.graph->outputs.erase(model.graph->outputs.begin() + 1);
    auto result = run({{"x", Tensor::scalar<float>(0)}}, {.max_steps = 1000});
    EXPECT_NE(message(result).find("the limit of 1000 steps is reached"), std::string::npos);
}

TEST_F(GraphTest, InputsAreMatchedWithTheirDeclarations) {
    make_loop(1);
    EXPECT_EQ(message(run({})), "input `x` (FLOAT) is missing");
    EXPECT_EQ(message(run({{"y", flag(true)}})), "the graph has no input `y`: it has `x`");
    Tensor zero = Tensor::scalar<float>(0);
    EXPECT_EQ(message(run({{"x", zero}, {"x", zero}})), "input `x` is given twice");
    EXPECT_EQ(message(run({{"x", flag(true)}})),
              "input `x` is BOOL, but the graph declares FLOAT: convert it, as NumPy's "
              "`x.astype(\"float32\")` does");
}

TEST_F(GraphTest, FunctionsBindAttributes) {
    ir::Function* scale = model.add_function("here", "Scale");
    scale->opset_imports = {{"", 21}};
    scale->attribute_defaults = {ir::make_attribute("by", 2.0f)};
    ir::Value* x = model.add_input(scale->body, "x");
    ir::Attribute reference{"value_float", ir::AttributeType::kFloat, "by", {}, {}};
    ir::Value* factor = node(scale->body, "Constant", {}, "factor", {reference});
    scale->body->outputs = {node(scale->body, "Mul", {x, factor}, "y")};

    ir::Value* input = model.add_input(model.graph, "x", Type::tensor(ElementType::kFloat));
    ir::Value* a = node(model.graph, "Scale", {input}, "a", {}, "here");
    ir::Value* b = node(model.graph, "Scale", {a}, "b", {ir::make_attribute("by", 5.0f)}, "here");
    model.graph->outputs = {a, b};
    auto result = run({{"x", tensor<float>({2}, {1, 2})}});
    ASSERT_TRUE(result.ok()) << message(result);
    EXPECT_EQ(elements<float>((*result)[0]), (std::vector<float>{2, 4}));
    EXPECT_EQ(elements<float>((*result)[1]), (std::vector<float>{10, 20}));

    Values arguments{tensor<float>({1}, {3})};
    auto called = run_function(model, *scale, arguments, {});
    ASSERT_TRUE(called.ok());
    EXPECT_EQ(elements<float>((*called)[0]), std::vector<float>{6});
}

TEST_F(GraphTest, RecursionIsRefused) {
    ir::Function* f = model.add_function("here", "F");
    f->opset_imports = {{"", 21}, {"here", 1}};
    ir::Value* x = model.add_input(f->body, "x");
    f->body->outputs = {node(f->body, "F", {x}, "y", {}, "here")};
    ir::Value* input = model.add_input(model.graph, "x");
    model.graph->outputs = {node(model.graph, "F", {input}, "y", {}, "here")};
    std::string text = message(run({{"x", flag(true)}}));
    EXPECT_NE(text.find("function `here.F` calls itself"), std::string::npos) << text;
}

TEST_F(GraphTest, DyingValuesAreReusedOnlyWhenNobodyElseHasThem) {
    // y = -x; z = -y (y dies), and y's storage must not be x's; w = x + z must see x unchanged.
    ir::Value* x = model.add_input(model.graph, "x", Type::tensor(ElementType::kFloat));
    ir::Value* y = node(model.graph, "Neg", {x}, "y");
    ir::Value* same = node(model.graph, "Identity", {y}, "same");
    ir::Value* z = node(model.graph, "Neg", {y}, "z");
    ir::Value* w = node(model.graph, "Add", {same, z}, "w");
    model.graph->outputs = {w, same};
    auto result = run({{"x", tensor<float>({3}, {1, 2, 3})}});
    ASSERT_TRUE(result.ok()) << message(result);
    EXPECT_EQ(elements<float>((*result)[0]), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(elements<float>((*result)[1]), (std::vector<float>{-1, -2, -3}));
}

TEST_F(GraphTest, ErrorsNameTheNode) {
    ir::Value* x = model.add_input(model.graph, "x", Type::tensor(ElementType::kFloat));
    ir::Value* w =
        model.add_initializer(model.graph, "w", Tensor::of<float>({2, 3}, std::vector<float>(6)));
    model.graph->outputs = {node(model.graph, "MatMul", {x, w}, "y")};
    model.graph->first_node()->name = "project";
    EXPECT_EQ(message(run({{"x", tensor<float>({1, 3}, {1, 2, 3})}})),
              "node `project` (`MatMul`): shapes [1,3] and [2,3] do not multiply: 3 against 2; "
              "inputs: FLOAT[1, 3], FLOAT[2, 3]");
}

// --- Eager control flow --------------------------------------------------------------------------

TEST_F(GraphTest, EagerIfRunsItsBranch) {
    ir::Graph* yes = model.make_graph(nullptr);
    ir::Graph* no = model.make_graph(nullptr);
    yes->outputs = {node(yes, "Constant", {}, "a", {ir::make_attribute("value_int", int64_t{1})})};
    no->outputs = {node(no, "Constant", {}, "b", {ir::make_attribute("value_int", int64_t{2})})};
    std::vector<ir::Attribute> branches{ir::make_attribute("then_branch", yes),
                                        ir::make_attribute("else_branch", no)};
    auto result = call("If", {flag(false)}, branches);
    ASSERT_TRUE(result.ok()) << message(result);
    EXPECT_EQ(elements<int64_t>((*result)[0]), std::vector<int64_t>{2});
}

}  // namespace
}  // namespace sardonyx::eval
