// Files and programs of PyTorch: hostile bytes, sizes, names, and the text of a script.
#include <gtest/gtest.h>

#include "torch/convert.h"
#include "torch/foreach.h"
#include "torch/guards.h"
#include "torch/names.h"
#include "torch/pt2.h"
#include "torch/script.h"
#include "torch/sizes.h"

namespace sardonyx::torch {
namespace {

Result<Size> size_of(const std::string& json) {
    // The document holds what the value points into.
    Result<JsonDocument> document = JsonDocument::parse(json);
    return document.ok() ? read_size(document->root()) : Result<Size>(document.error());
}

std::string expression(const std::string& text) {
    Result<Size> size = size_of(R"({"as_expr": {"expr_str": ")" + text + R"("}})");
    return size.ok() ? size->annotation({{"s77", "batch"}}) : "error";
}

TEST(Size, IsANumberOrAPolynomial) {
    EXPECT_EQ(size_of("4")->annotation({}), "4");
    EXPECT_EQ(size_of(R"({"as_int": 4})")->annotation({}), "4");
    std::string n = "Symbol('s77', positive=True, integer=True)";
    EXPECT_NE(expression(n).find("batch"), std::string::npos);
    EXPECT_EQ(expression("Add(" + n + ", Mul(Integer(-1), " + n + "))"), "0");
    std::string a = "Symbol('s22')", b = "Symbol('s30')", c = "Symbol('s91')";
    std::string product = "Mul(" + b + ", " + c + ")";
    // In sympy's order.
    EXPECT_EQ(expression("Add(Integer(4), " + product + ", " + a + ")"), "\"s22+s30*s91+4\"");
    EXPECT_EQ(expression("Add(" + c + ", " + product + ", " + b + ")"), "\"s30*s91+s30+s91\"");
}

TEST(SizeWarning, IsOfSizesWithOneValue) {
    std::vector<std::string> guards = {
        "(L['x'].size()[1] // 2) == 10",
        "L['x'].size()[0] == 5",
        "L['x'].size()[1] > 3",
        "(L['x'].size()[1] % 2) == 0",
        "(a.size()[0] // b.size()[0]) == 1",
        "L['x.size() == L['",
        "",
    };
    EXPECT_EQ(size_warning(guards),
              "the model is right for some sizes alone: `(x.shape[1] // 2) == 10`; PyTorch has "
              "computed with the numbers of the example, such as in `range(x.shape[1] // 2)` "
              "or `if x.shape[1] % 2`");
    guards = std::vector<std::string>(7, "(3*L['y'].size()[1]) / 4 == 9.0");
    EXPECT_NE(size_warning(guards).find(", `(3*y.shape[1]) / 4 == 9.0` and 2 more; "),
              std::string::npos);
    EXPECT_EQ(size_warning({}), "");
    EXPECT_NE(size_warning(std::vector<std::string>{"(L['x'].size()[0] % 4) != 0"})
                  .find("alone: `(x.shape[0] % 4) != 0`; "),
              std::string::npos);
    EXPECT_EQ(size_warning(std::vector<std::string>{
                  "(L['x'].size()[0] % L['y'].size()[0]) != 0", "(n % 4) != 0",
                  "(L['x'].size()[0]*L['x'].size()[1] % 4) != 0", "(L['x'].size() % 4) != 0"}),
              "");
}

TEST(SplitLists, RefusesWritesWithoutAForm) {
    for (bool is_write : {true, false}) {
        Program program;
        Node node;
        node.name = "a";
        node.target = is_write ? "aten::_foreach_addcmul_.Tensor" : "aten::_foreach_powsum.Scalar";
        node.args = {Value::list({Value::ref("x"), Value::ref("y")})};
        program.nodes = {node};
        std::vector<Problem> problems = split_lists(program);
        EXPECT_EQ(problems.size(), is_write ? 1U : 0U);
        EXPECT_EQ(program.nodes.size(), is_write ? 0U : 1U);  // the library may have it
    }
}

TEST(Size, RefusesWhatIsNone) {
    for (const char* wrong : {"\"a\"", "[]", "{}", "1.5", "null", R"({"as_int": "4"})",
                              R"({"as_expr": 1})", R"({"as_expr": {}})"}) {
        EXPECT_FALSE(size_of(wrong).ok()) << wrong;
    }
    std::string deep;
    for (int i = 0; i < 100'000; ++i) {
        deep += "Add(";
    }
    (void)expression(deep);  // no crash
    EXPECT_EQ(expression("Symbol("), "error");
}

TEST(Size, KnowsThatItHasOverflown) {
    Size huge(INT64_MAX);
    EXPECT_TRUE(huge.is_exact());
    EXPECT_FALSE((huge + Size(1)).is_exact());
    EXPECT_FALSE((huge * Size(2)).is_exact());
    EXPECT_EQ(Size::symbol("a") * Size::symbol("b"), Size::symbol("b") * Size::symbol("a"));
    EXPECT_EQ(Size(0), Size::symbol("a") * Size(0));
}

TEST(Names, AreThoseOfPython) {
    EXPECT_TRUE(is_free_name("batch"));
    for (const char* wrong : {"", "1a", "a-b", "for", "None", "a b", "a\n"}) {
        EXPECT_FALSE(is_free_name(wrong)) << wrong;
    }
    EXPECT_EQ(python_string("a'b\\\n", '\''), R"('a\'b\\\n')");
}

TEST(State, IsOneOfThreeWords) {
    EXPECT_EQ(*state_of("outputs"), State::kOutputs);
    EXPECT_EQ(*state_of("drop"), State::kDrop);
    EXPECT_EQ(*state_of("error"), State::kError);
    EXPECT_EQ(*state_of(""), State::kOutputs);
    EXPECT_FALSE(state_of("Outputs").ok());
}

TEST(ReadPt2, RefusesBytesThatAreNoFile) {
    for (const std::string& text :
         {std::string(), std::string("PK"), std::string("PK\x03\x04") + std::string(100, '\0'),
          std::string(4096, 'x')}) {
        auto owner = std::make_shared<std::string>(text);
        std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(owner->data()),
                                         owner->size());
        EXPECT_FALSE(read_pt2(bytes, owner, {}).ok());
    }
}

Program relu() {
    Program program;
    program.name = "f";
    program.inputs = {{"x", "FLOAT[2]", 1}};
    Node node;
    node.name = "y";
    node.target = "aten::relu.default";
    node.args = {Value::ref("x")};
    node.type = "FLOAT[2]";
    node.storage = 2;
    program.nodes = {node};
    program.outputs = {Value::ref("y")};
    return program;
}

TEST(WriteScript, SaysWhichNodeALineIs) {
    Program program = relu();
    Result<void> finished = finish(program, {}, State::kOutputs, {});
    ASSERT_TRUE(finished.ok()) << finished.error().message;
    Script script = write_script(program, {20, ""});
    EXPECT_NE(script.text.find("aten.relu(x)"), std::string::npos);
    size_t nodes = 0;
    for (const Node* node : script.lines) {
        nodes += node != nullptr && node->target == "aten::relu.default" ? 1 : 0;
    }
    EXPECT_EQ(nodes, 1U);
}

TEST(Finish, LeavesOutBodiesThatNothingCalls) {
    Program program = relu();
    Program kept = relu(), unused = relu(), without_results = relu();
    kept.name = "kept";
    unused.name = "unused";
    without_results.name = "without_results";
    without_results.outputs.clear();
    program.bodies = {kept, unused, without_results};
    auto call = [](std::string name, const std::string& body) {
        Node node;
        node.name = std::move(name);
        EXPECT_TRUE(set_bodies(
            node, "wrap_with_set_grad_enabled",
            {Value::boolean(false), Value::of(Value::Kind::kBody, body), Value::ref("x")}, 1));
        return node;
    };
    program.nodes = {call("z", "kept"), call("nothing", "without_results")};
    program.outputs = {Value::ref("z")};
    Result<void> finished = finish(program, {}, State::kOutputs, {});
    ASSERT_TRUE(finished.ok()) << finished.error().message;
    ASSERT_EQ(program.bodies.size(), 1U);
    EXPECT_EQ(program.bodies.front().name, "kept");
}

TEST(Finish, TellsAllProblemsAtOnce) {
    Program program = relu();
    Result<void> finished =
        finish(program, {{nullptr, "the first", "help"}, {nullptr, "the second", ""}},
               State::kOutputs, {});
    ASSERT_FALSE(finished.ok());
    EXPECT_NE(finished.error().message.find("the first"), std::string::npos);
    EXPECT_NE(finished.error().message.find("the second"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::torch
