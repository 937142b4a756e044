// Nodes made one by one: what is wrong is said, and leaves nothing behind.
#include "build/nodes.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <variant>

#include "build/blocks.h"
#include "build/inputs.h"
#include "ir/graph_walk.h"
#include "ir/verify.h"
#include "lowering/operators.h"
#include "lowering/symbols.h"

namespace sardonyx::build {
namespace {

using Values = std::vector<ir::Value*>;

class Build : public ::testing::Test {
  protected:
    Build() {
        graph = model->graph;
        x = editor.add_input(*graph, "x", Type::tensor(ElementType::kFloat, Shape{2, 3})).value();
        flag = editor.add_input(*graph, "flag", Type::tensor(ElementType::kBool, Shape{})).value();
    }
    Site site() { return {*model, editor, graph, &fresh_dims}; }
    Result<ir::Node*> make(std::string_view op_type, const Values& inputs,
                           std::string_view domain = "") {
        NodeRequest request;
        request.domain = domain;
        request.op_type = op_type;
        request.inputs = inputs;
        request.outputs = {std::nullopt};
        return make_node(site(), std::move(request));
    }

    std::unique_ptr<ir::Model> model = empty_model(20, "g").value();
    ir::Editor editor{*model};
    ir::Graph* graph = nullptr;  // that is filled now
    int fresh_dims = 0;
    ir::Value *x = nullptr, *flag = nullptr;
};

TEST(EmptyModel, KnowsTheOpsets) {
    EXPECT_FALSE(empty_model(0, "g").ok());
    EXPECT_FALSE(empty_model(-1, "g").ok());
    EXPECT_FALSE(empty_model(100'000, "g").ok());
    EXPECT_EQ(empty_model(20, "g").value()->opset_version(""), 20);
}

TEST_F(Build, TypesWhatItMakes) {
    Result<ir::Node*> node = make("Transpose", {x});
    ASSERT_TRUE(node.ok());
    EXPECT_EQ((*node)->output()->type.to_string(), "FLOAT[3, 2]");
    EXPECT_TRUE(ir::verify(*model).empty());
}

TEST_F(Build, MakesNoNodeThatIsWrong) {
    Result<ir::Node*> node = make("MatMul", {x, x});  // [2,3] @ [2,3]
    ASSERT_FALSE(node.ok());
    EXPECT_NE(node.error().message, "");
    EXPECT_FALSE(make("Relu", {flag}).ok());
    EXPECT_FALSE(make("", {x}).ok());
    EXPECT_EQ(ir::node_count(*graph), 0U);
    EXPECT_TRUE(ir::verify(*model).empty());
}

TEST_F(Build, ImportsAnOperatorInOneVersionOnly) {
    EXPECT_TRUE(import_operator(site(), "", "Relu", 0).ok());
    EXPECT_FALSE(import_operator(site(), "", "NoSuchOperator", 0).ok());
    EXPECT_FALSE(import_operator(site(), "mine", "Op", 0).ok());  // of which version?
    Result<const ops::Schema*> unknown = import_operator(site(), "mine", "Op", 2);
    ASSERT_TRUE(unknown.ok());
    EXPECT_EQ(*unknown, nullptr);
    EXPECT_EQ(model->opset_version("mine"), 2);
    EXPECT_TRUE(find_operator(site(), "others", "Op", 1).ok());
    EXPECT_EQ(model->opset_version("others"), 0);  // it is not imported yet
    EXPECT_FALSE(import_operator(site(), "mine", "Op", 3).ok());
    // Relu is the same in opsets 20 and 14, Gelu came with 20.
    EXPECT_TRUE(import_operator(site(), "", "Relu", 14).ok());
    EXPECT_FALSE(import_operator(site(), "", "ReduceMax", 11).ok());
    EXPECT_EQ(model->opset_version(""), 20);
}

// What a program gives: nothing, a value, an int or a float.
using Given = std::variant<std::monostate, ir::Value*, int64_t, double>;

struct Numbers {
    static bool is_given(const Given& one) { return one.index() != 0; }
    static bool is_literal(const Given& one) { return one.index() > 1; }
    static bool is_float(const Given& one) { return std::holds_alternative<double>(one); }
    static bool is_negative_int(const Given& one) {
        const auto* number = std::get_if<int64_t>(&one);
        return number != nullptr && *number < 0;
    }
    static ElementType literal_type(const Given& one) {
        return is_float(one) ? ElementType::kFloat : ElementType::kInt64;
    }
    static ElementType settled_type(const Given& one) {
        ir::Value* const* value = std::get_if<ir::Value*>(&one);
        return value != nullptr ? (*value)->type.element_type() : ElementType::kUndefined;
    }
    static ir::Value* value(GraphEmitter& e, const Given& one, ElementType type) {
        if (ir::Value* const* value = std::get_if<ir::Value*>(&one)) {
            return *value;
        }
        double number =
            is_float(one) ? std::get<double>(one) : static_cast<double>(std::get<int64_t>(one));
        type = type == ElementType::kUndefined ? literal_type(one) : type;
        return e.constant(tensor_from_doubles(type, {}, {&number, 1}).value());
    }
    [[noreturn]] static void refuse_value(const std::string& message) {
        throw std::invalid_argument(message);
    }
};

TEST_F(Build, LiteralsTakeTheTypesOfTheValuesBesideThem) {
    auto types = [this](const char* name, const std::vector<Given>& given) {
        const ops::Schema* schema = ops::find_schema("", name, 20);
        GraphEmitter e(site());
        std::vector<std::string> texts;
        for (ir::Value* value : inputs_of(e, schema, std::span(given), Numbers())) {
            texts.push_back(value != nullptr ? value->type.to_string() : "-");
        }
        return texts;
    };
    using Texts = std::vector<std::string>;
    Given one = int64_t{1}, half = 0.5, nothing;
    EXPECT_EQ(types("Add", {one, x}), (Texts{"FLOAT", "FLOAT[2, 3]"}));
    EXPECT_EQ(types("Add", {one, half}), (Texts{"INT64", "FLOAT"}));  // inference refuses it
    EXPECT_EQ(types("Clip", {x, nothing, one}), (Texts{"FLOAT[2, 3]", "-", "FLOAT"}));
    EXPECT_EQ(types("Where", {flag, one, x}), (Texts{"BOOL", "FLOAT", "FLOAT[2, 3]"}));
    EXPECT_EQ(types("Sin", {one}), (Texts{"FLOAT"}));                    // which takes no ints
    EXPECT_EQ(types("Neg", {x, one}), (Texts{"FLOAT[2, 3]", "INT64"}));  // one too many
    EXPECT_EQ(types("NoSuchOperator", {x, one}), (Texts{"FLOAT[2, 3]", "INT64"}));
}

TEST_F(Build, CountsTheOutputsOfACallThatNamesNone) {
    auto count = [](const char* name, int64_t opset, std::vector<ir::Attribute> attributes,
                    const Values& inputs) {
        NodeRequest request;
        request.op_type = name;
        request.inputs = inputs;
        request.attributes = std::move(attributes);
        return output_count(ops::find_schema("", name, opset), request);
    };
    ir::Value* sizes =
        editor.add_input(*graph, "sizes", Type::tensor(ElementType::kInt64, Shape{3})).value();
    EXPECT_EQ(count("Neg", 20, {}, {x}), 1U);
    EXPECT_EQ(count("TopK", 20, {}, {x, sizes}), 2U);
    EXPECT_EQ(count("NoSuchOperator", 20, {}, {x}), 1U);
    EXPECT_EQ(count("Split", 20, {}, {x}), 1U);
    EXPECT_EQ(count("Split", 20, {}, {x, sizes}), 3U);
    EXPECT_EQ(count("Split", 20, {ir::make_attribute("num_outputs", int64_t{2})}, {x}), 2U);
    EXPECT_EQ(count("Split", 20, {ir::make_attribute("num_outputs", int64_t{-2})}, {x}), 1U);
    EXPECT_EQ(
        count("Split", 11, {ir::make_attribute("split", std::vector<int64_t>{1, 2, 3, 4})}, {x}),
        4U);
}

TEST_F(Build, ChecksACallBeforeThereIsANode) {
    const ops::Schema& schema = *ops::find_schema("", "Gelu", 20);
    NodeRequest request;
    Values one{x}, none{nullptr};
    request.inputs = none;
    request.outputs = {std::nullopt};
    EXPECT_EQ(check_call(schema, request)->input, 0);
    request.inputs = one;
    EXPECT_FALSE(check_call(schema, request).has_value());
    request.attributes = {ir::make_attribute("approximate", std::string("tan"))};
    EXPECT_FALSE(check_call(schema, request).has_value());
    EXPECT_EQ(check_request(schema, request)->near, "tanh");
    request.outputs.resize(2);
    EXPECT_TRUE(check_call(schema, request).has_value());
}

TEST_F(Build, AppliesOperatorsToLiterals) {
    ir::Value* n =
        editor.add_input(*graph, "n", Type::tensor(ElementType::kInt64, Shape{2})).value();
    GraphEmitter e(site());
    auto apply = [&](lowering::Binary op, const Given& a, const Given& b) {
        return lowering::lower_binary_of(e, op, Numbers(), a, b)->type.to_string();
    };
    using lowering::Binary;
    EXPECT_EQ(apply(Binary::kAdd, int64_t{1}, x), "FLOAT[2, 3]");
    EXPECT_EQ(apply(Binary::kPow, x, int64_t{-1}), "FLOAT[2, 3]");
    EXPECT_EQ(apply(Binary::kPow, n, int64_t{2}), "INT64[2]");
    EXPECT_EQ(apply(Binary::kPow, int64_t{2}, n), "INT64[2]");
    EXPECT_THROW(apply(Binary::kPow, n, int64_t{-1}), std::invalid_argument);
}

TEST_F(Build, TakesAnExpressionBackAsAWhole) {
    try {
        GraphEmitter e(site());
        ir::Value* two = e.scalar_like(x, 2);
        ir::Value* sum = lowering::lower_binary(e, lowering::Binary::kAdd, x, two);
        ASSERT_NE(sum, nullptr);
        EXPECT_GT(ir::node_count(*graph), 0U);
        EXPECT_EQ(e.emit("MatMul", {sum, sum}), nullptr);
        ASSERT_TRUE(e.error().has_value());
        EXPECT_EQ(e.emit("Neg", {sum}), nullptr);  // nothing goes on behind an error
        throw std::runtime_error(e.error()->message);
    } catch (const std::runtime_error&) {
        EXPECT_EQ(ir::node_count(*graph), 0U);
    }
}

TEST_F(Build, MakesOutputsOfValuesThatCannotBe) {
    // An input, and a value that is an output already.
    Result<ir::Value*> copy = add_output(site(), x, "first", {});
    ASSERT_TRUE(copy.ok());
    EXPECT_NE(*copy, x);
    ir::Value* y = make("Neg", {x}).value()->output();
    EXPECT_EQ(add_output(site(), y, "second", {}).value(), y);
    EXPECT_NE(add_output(site(), y, std::nullopt, {}).value(), y);
    EXPECT_FALSE(add_output(site(), y, "x", {}).ok());  // the name is taken
    EXPECT_FALSE(
        add_output(site(), y, std::nullopt, Type::tensor(ElementType::kInt64, Shape{2, 3})).ok());
    EXPECT_TRUE(ir::verify(*model).empty());
}

TEST_F(Build, SplicesAWholeModelOrNothing) {
    std::unique_ptr<ir::Model> other = empty_model(20, "h").value();
    ir::Editor there(*other);
    int dims = 0;
    ir::Value* a = there.add_input(*other->graph, "a", Type()).value();
    Site site_there{*other, there, other->graph, &dims};
    NodeRequest request;
    request.op_type = "MatMul";
    Values twice{a, a};
    request.inputs = twice;
    request.outputs = {std::nullopt};
    ir::Node* product = make_node(site_there, std::move(request)).value();
    ASSERT_TRUE(add_output(site_there, product->output(), "b", {}).ok());
    // x @ x of [2,3] is wrong here, and of [3,3] right.
    EXPECT_FALSE(splice(site(), *other, Values{x}).ok());
    EXPECT_EQ(ir::node_count(*graph), 0U);
    ir::Value* square =
        editor.add_input(*graph, "s", Type::tensor(ElementType::kFloat, Shape{3, 3})).value();
    Result<Values> made = splice(site(), *other, Values{square});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->at(0)->type.to_string(), "FLOAT[3, 3]");
    EXPECT_FALSE(splice(site(), *other, Values{}).ok());
}

TEST_F(Build, BranchesGiveTheSameNumberOfValues) {
    ir::Graph* around = graph;
    ir::Node* choice = open_if(site(), flag, "choice").value();
    graph = open_branch({*model, editor, around, &fresh_dims}, *choice, "then_branch").value();
    ir::Value* negated = make("Neg", {x}).value()->output();
    ASSERT_TRUE(close_branch(site(), Values{negated}).ok());
    graph = around;
    graph = open_branch(site(), *choice, "else_branch").value();
    ASSERT_TRUE(close_branch(site(), Values{}).ok());
    graph = around;
    EXPECT_FALSE(close_if(site(), *choice).ok());
}

TEST_F(Build, AbandonsABlockWithWhatWasMadeForIt) {
    GraphEmitter e(site());
    ir::Value* yes = e.constant(Tensor::scalar(true));
    ir::Node* choice = open_if(site(), yes, "").value();
    ir::Graph* branch = open_branch(site(), *choice, "then_branch").value();
    ASSERT_TRUE(
        make_node({*model, editor, branch, &fresh_dims}, {"", "Neg", "", Values{x}, {}, {{}}})
            .ok());
    EXPECT_FALSE(editor.remove(e.made()).ok());  // the block reads it
    EXPECT_TRUE(abandon(site(), *choice, e.made()).ok());
    EXPECT_EQ(ir::node_count(*graph), 0U);
    EXPECT_TRUE(abandon(site(), *choice).ok());  // gone already
    EXPECT_TRUE(ir::verify(*model).empty());
}

TEST_F(Build, LoopsCarryWhatTheyWereGiven) {
    ir::Graph* around = graph;
    LoopRequest request;
    Values carried{x};
    request.carried = carried;
    Loop loop = open_loop(site(), request).value();
    graph = loop.body;
    ir::Value* next = make("Neg", {loop.carried[0]}).value()->output();
    graph = around;
    LoopEnd end;
    EXPECT_FALSE(close_loop(site(), loop, end).ok());  // nothing is carried on
    Values again{next};
    end.carried = again;
    end.stacked = again;
    Result<ir::Node*> node = close_loop(site(), loop, end);
    ASSERT_TRUE(node.ok());
    ASSERT_EQ((*node)->output_count(), 2U);
    EXPECT_EQ((*node)->output(0)->type.to_string(), "FLOAT[2, 3]");
    EXPECT_EQ((*node)->output(1)->type.shape().size(), 3U);
    EXPECT_TRUE(ir::verify(*model).empty());
}

}  // namespace
}  // namespace sardonyx::build
