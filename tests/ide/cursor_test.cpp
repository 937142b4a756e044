#include "ide/cursor.h"

#include <gtest/gtest.h>

namespace sardonyx::ide {
namespace {

// The cursor stands at the `|`.
Cursor at(std::string text) {
    size_t place = text.find('|');
    text.erase(place, 1);
    return look_at(text, static_cast<uint32_t>(place));
}

TEST(Cursor, Members) {
    Cursor cursor = at("import x\ny = op.Re|lu(x)\n");
    EXPECT_TRUE(cursor.is_member);
    EXPECT_EQ(cursor.base, "op");
    EXPECT_EQ(cursor.word, "Re");
    EXPECT_EQ(cursor.replaced.end - cursor.replaced.begin, 2u);
    EXPECT_TRUE(at("y = op.|\nz = 1\n").is_member);
    EXPECT_TRUE(at("def f():\n    return op.|").is_member);
    EXPECT_FALSE(at("y = op.x\n|").is_member);
    EXPECT_FALSE(at("y = 1.|").is_member);
    EXPECT_EQ(at("y = f().|").base, "");
    EXPECT_EQ(at("y = self.cfg.|").base, "self.cfg");
    EXPECT_EQ(at("y = a[0].b.|").base, "");
    EXPECT_EQ(at("y = super().a.|b").base, "super().a");
}

TEST(Cursor, Imports) {
    EXPECT_EQ(at("from a.b import c, d|").module, "a.b");
    EXPECT_EQ(at("from sardonyx import (\n    FLOAT,\n    |").module, "sardonyx");
    EXPECT_EQ(at("import a|").module, "");
    EXPECT_EQ(at("from a import b\nc|").module, "");
}

TEST(Cursor, Calls) {
    Cursor cursor = at("y = op.Conv(X, W, pads=[1, |");
    ASSERT_TRUE(cursor.call.has_value());
    EXPECT_EQ(cursor.call->base, "op");
    EXPECT_EQ(cursor.call->name, "Conv");
    EXPECT_EQ(cursor.call->argument, 2u);
    EXPECT_EQ(cursor.call->keyword, "pads");
    cursor = at("y = op.Conv(X, group=f(1, 2), strides=g(|");
    EXPECT_EQ(cursor.call->name, "g");
    cursor = at("y = op.Conv(X, group=f(1, 2), (a + |");
    EXPECT_EQ(cursor.call->name, "Conv");
    EXPECT_EQ(cursor.call->argument, 2u);
    EXPECT_EQ(cursor.call->given, std::vector<std::string>{"group"});
    cursor = at("y = self.layer.act(x, |");
    EXPECT_EQ(names_of(*cursor.call), "self.layer.act");
    EXPECT_EQ(names_of(*at("y = f().g(|").call), "().g");
    EXPECT_FALSE(at("def f(x: FLOAT[|").call.has_value());
    EXPECT_FALSE(at("y = op.Relu(X)|").call.has_value());
    EXPECT_FALSE(at("y = [op.Relu(X), (|").call.has_value());
    // A bracket that is still open before does not hold what another statement says.
    EXPECT_FALSE(at("y = op.Relu(X,\nz = |").call.has_value());
}

TEST(Cursor, StringsAndComments) {
    Cursor cursor = at("y = op.Conv(X, auto_pad='SA|");
    EXPECT_TRUE(cursor.is_string);
    EXPECT_EQ(cursor.word, "SA");
    EXPECT_EQ(cursor.call->keyword, "auto_pad");
    EXPECT_TRUE(at("y = 1  # op.|").is_comment);
    EXPECT_FALSE(at("y = '#' + op.|").is_comment);
    EXPECT_TRUE(at("|").word.empty());
}

TEST(Cursor, NamesUnderIt) {
    auto name = [](std::string_view text, uint32_t offset) { return name_at(text, offset); };
    EXPECT_EQ(name("y = op.Relu(x)", 9)->name, "Relu");
    EXPECT_EQ(name("y = op.Relu(x)", 9)->base, "op");
    EXPECT_TRUE(name("y = op.Softmax(x, axis = 1)", 19)->is_keyword);
    EXPECT_FALSE(name("y = op.Softmax(x, axis == 1)", 19)->is_keyword);
    EXPECT_FALSE(name("y = 'op.Relu'", 9).has_value());
    EXPECT_FALSE(name("# op.Relu", 6).has_value());
    EXPECT_FALSE(name("y = +", 5).has_value());
}

TEST(Cursor, AssignedNames) {
    auto begins = [](std::string_view text) {
        std::vector<uint32_t> result;
        for (const AssignedName& one : assigned_names(text)) {
            result.push_back(one.begin);
        }
        return result;
    };
    EXPECT_EQ(begins("a, (b, *c) = d = e; f = 1"), (std::vector<uint32_t>{0, 4, 8, 13, 20}));
    EXPECT_TRUE(begins("a: int = 1\na[0] = 1\na.b = 1\nf(a=1)\na == b\n").empty());
    EXPECT_TRUE(begins("def f(\n    a, b=1,\n): pass\nif a: b = 1\n").empty());
    ASSERT_EQ(assigned_names("a = f(\n  b)\n").size(), 1u);
    EXPECT_EQ(assigned_names("a = f(\n  b)\n")[0].statement_end, 11u);
}

}  // namespace
}  // namespace sardonyx::ide
