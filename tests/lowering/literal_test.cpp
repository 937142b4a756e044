// Python's literals as tensors, over values of this test's own.
#include "lowering/literal.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace sardonyx::lowering {
namespace {

// A value of Python: a list, a bool, an int, a float, a text, or None.
struct Value {
    std::variant<std::monostate, std::vector<Value>, bool, int64_t, double, std::string> data;
};

Value list(std::vector<Value> items) {
    return {std::move(items)};
}
Value number(int64_t value) {
    return {value};
}
Value real(double value) {
    return {value};
}

struct Reader {
    bool is_list(const Value& value) const { return value.data.index() == 1; }
    int64_t size(const Value& value) const {
        return static_cast<int64_t>(std::get<1>(value.data).size());
    }
    template <typename Visit>
    void each(const Value& value, const Visit& visit) const {
        for (const Value& item : std::get<1>(value.data)) {
            if (!visit(item)) {
                return;
            }
        }
    }
    LiteralKind kind(const Value& value) const {
        constexpr LiteralKind kKinds[] = {LiteralKind::kNone,  LiteralKind::kNone,
                                          LiteralKind::kBool,  LiteralKind::kInt,
                                          LiteralKind::kFloat, LiteralKind::kText};
        return kKinds[value.data.index()];
    }
    bool add(const Value& value, Literal& literal) const {
        if (const bool* truth = std::get_if<bool>(&value.data)) {
            literal.add_bool(*truth);
        } else if (const int64_t* integer = std::get_if<int64_t>(&value.data)) {
            literal.add_int(*integer);
        } else if (const double* one = std::get_if<double>(&value.data)) {
            literal.add_float(*one);
        } else if (const std::string* text = std::get_if<std::string>(&value.data)) {
            literal.add_text(*text);
        } else {
            return false;
        }
        return true;
    }
};

// The tensor as text, or what is wrong.
std::string made(const Value& value, ElementType type = ElementType::kUndefined) {
    Reader reader;
    LiteralProblem problem;
    std::optional<Literal> literal = read_literal(value, reader, problem);
    std::optional<Tensor> tensor = literal ? literal->tensor(
                                                 type, [] { return std::string("it"); }, problem)
                                           : std::nullopt;
    return tensor ? to_string(*tensor) : problem.text();
}

TEST(Literal, HasTheTypeThatPythonsValuesImply) {
    EXPECT_EQ(made(number(3)), "INT64 {3}");
    EXPECT_EQ(made(real(0.5)), "FLOAT {0.5}");
    EXPECT_EQ(made({true}), "BOOL {True}");
    EXPECT_EQ(made(list({{true}, number(2)})), "INT64[2] {1, 2}");
    EXPECT_EQ(made(list({number(1), real(0.5)})), "FLOAT[2] {1, 0.5}");
    EXPECT_EQ(made(list({})), "INT64[0] {}");
    EXPECT_EQ(made(list({list({}), list({})})), "INT64[2, 0] {}");
}

TEST(Literal, TakesTheTypeThatIsAskedFor) {
    EXPECT_EQ(made(list({number(1), number(0)}), ElementType::kBool), "BOOL[2] {True, False}");
    EXPECT_EQ(made(list({number(2), number(0)}), ElementType::kBool),
              "BOOL cannot hold 2: write True or False, or cast the tensor first, as in "
              "`op.Cast(x, to=INT64.dtype)`");
    EXPECT_EQ(made(real(2.0), ElementType::kInt32), "INT32 {2}");
    EXPECT_EQ(made(list({}), ElementType::kFloat), "FLOAT[0] {}");
    EXPECT_NE(made(real(1.5), ElementType::kInt32).find("`1.5` would lose its fraction as INT32"),
              std::string::npos);
    EXPECT_NE(made(real(0.5), ElementType::kBool).find("would lose its fraction as BOOL"),
              std::string::npos);
    EXPECT_NE(made(number(300), ElementType::kUint8).find("300"), std::string::npos);
    EXPECT_EQ(made({std::string("a")}, ElementType::kFloat),
              "`it` where a tensor of FLOAT is needed: give a number");
    EXPECT_EQ(made(number(1), ElementType::kString),
              "`it` where a tensor of STRING is needed: give a string");
}

TEST(Literal, RefusesWhatIsNoTensor) {
    EXPECT_EQ(made(list({list({number(1)}), list({number(1), number(2)})})),
              "a nested list whose rows differ in length: make every row the same length");
    std::string depth =
        "a nested list whose rows differ in depth: make every item a number, or every item a list";
    EXPECT_EQ(made(list({number(1), list({number(2)})})), depth);
    EXPECT_EQ(made(list({list({number(1)}), number(2)})), depth);
    EXPECT_EQ(made(list({list({}), number(2)})), depth);
    EXPECT_EQ(made(list({number(1), {std::string("a")}})),
              "`it` mixes numbers and text: give numbers alone, or strings alone");
    Value deep = number(1);
    for (size_t i = 0; i < kDeepestList; ++i) {
        deep = list({deep});
    }
    EXPECT_EQ(made(deep).rfind("INT64[1, 1, ", 0), 0U);
    EXPECT_NE(made(list({deep})).find("nested more than 32 deep"), std::string::npos);
}

// An emitter whose values are texts of expressions and ranks.
struct TextEmitter {
    struct Node {
        std::string text;
        int rank = 0;
        int64_t first = 1;
    };
    using Value = std::shared_ptr<Node>;

    Value emit(std::string_view op, std::initializer_list<Value> inputs,
               std::initializer_list<ir::Attribute> = {}) {
        return emit_variadic(op, std::vector<Value>(inputs));
    }
    Value emit_variadic(std::string_view op, const std::vector<Value>& inputs,
                        std::initializer_list<ir::Attribute> = {}) {
        std::string text(op);
        for (size_t i = 0; i < inputs.size(); ++i) {
            text += (i == 0 ? "(" : ", ") + inputs[i]->text;
        }
        return std::make_shared<Node>(Node{text + ")"});
    }
    int rank(const Value& value) const { return value->rank; }
    int64_t dim(const Value& value, int64_t) const { return value->first; }
    Value int64s(std::vector<int64_t> values) {
        std::string text;
        for (int64_t one : values) {
            text += (text.empty() ? "" : " ") + std::to_string(one);
        }
        return std::make_shared<Node>(Node{"[" + text + "]"});
    }
    Value fail(const std::string& message, const std::string&) {
        failed = message;
        return nullptr;
    }
    std::string failed;
};

MixedPart<TextEmitter::Value> part(std::string text, int rank, int64_t first = 1,
                                   size_t count = 0) {
    return {std::make_shared<TextEmitter::Node>(TextEmitter::Node{std::move(text), rank, first}),
            count};
}

TEST(MixedList, PutsScalarsSideBySideAndRowsOnTop) {
    TextEmitter e;
    EXPECT_EQ(lower_mixed_list(e, {3}, {part("x", 0), part("[1 2]", 1, 2, 2)})->text,
              "Concat(Reshape(x, [1]), [1 2])");
    EXPECT_EQ(lower_mixed_list(e, {1}, {part("x", 1)})->text, "Reshape(x, [1])");
    EXPECT_EQ(lower_mixed_list(e, {2, 1}, {part("x", 0), part("y", 1)})->text,
              "Reshape(Concat(Reshape(x, [1]), Reshape(y, [1])), [2 1])");
    EXPECT_EQ(lower_mixed_list(e, {2}, {part("x", 1, 3), part("y", 1, 3)})->text,
              "Concat(Unsqueeze(x, [0]), Unsqueeze(y, [0]))");
}

TEST(MixedList, RefusesRowsAndScalarsTogether) {
    TextEmitter e;
    EXPECT_EQ(lower_mixed_list(e, {2}, {part("x", 2), part("y", 0)}), nullptr);
    EXPECT_EQ(e.failed, "a list of tensors with axes and of scalars where a tensor is needed");
    EXPECT_EQ(lower_mixed_list(e, {1, 2}, {part("x", 2), part("y", 2)}), nullptr);
    EXPECT_EQ(e.failed, "nested lists of tensors with axes");
}

TEST(CommonKind, CanHoldAllElements) {
    Reader reader;
    auto kind = [&reader](const Value& value) { return common_kind(value, reader); };
    EXPECT_EQ(kind(number(1)), LiteralKind::kInt);
    EXPECT_EQ(kind(list({number(1), real(2)})), LiteralKind::kFloat);
    EXPECT_EQ(kind(list({Value{true}, number(1)})), LiteralKind::kInt);
    EXPECT_EQ(kind(list({list({}), number(1)})), LiteralKind::kInt);
    EXPECT_EQ(kind(list({})), LiteralKind::kNone);
    EXPECT_EQ(kind(list({number(1), Value{std::string("a")}})), LiteralKind::kNone);
    EXPECT_EQ(kind(list({number(1), Value{}})), LiteralKind::kNone);
    Value deep = number(1);
    for (size_t i = 0; i < 2 * kDeepestList; ++i) {
        deep = list({std::move(deep)});
    }
    EXPECT_EQ(kind(deep), LiteralKind::kNone);
    EXPECT_FALSE(is_empty_list(deep, reader));
    EXPECT_TRUE(is_empty_list(list({list({}), list({list({})})}), reader));
    EXPECT_FALSE(is_empty_list(list({list({}), number(1)}), reader));
    EXPECT_FALSE(is_empty_list(number(1), reader));
}

}  // namespace
}  // namespace sardonyx::lowering
