// Hostile input: one finding, and no deep recursion.
#include <gtest/gtest.h>

#include "parsed.h"

namespace sardonyx::syntax {
namespace {

std::string repeat(std::string_view text, size_t times) {
    std::string result;
    for (size_t i = 0; i < times; ++i) {
        result += text;
    }
    return result;
}

constexpr size_t kMany = 10000;

// `text`, then a function that must survive.
Strings codes(const std::string& text) {
    Parsed parsed(text + "\ndef after(): pass\n");
    EXPECT_EQ(parsed.functions(), Strings{"after/1"}) << text.substr(0, 40);
    Strings result;
    for (const diagnostics::Diagnostic& item : parsed.diagnostics.items()) {
        result.emplace_back(item.kind->code);
    }
    dump_tree(parsed.tree);  // recurses over the tree
    return result;
}

TEST(Limits, NestedBrackets) {
    Strings too_deep{"nested-too-deeply"};
    for (const char* bracket : {"(", "[", "{", "f(", "x[", "f'{"}) {
        EXPECT_EQ(codes(repeat(bracket, kMany)), too_deep) << bracket;
    }
    EXPECT_EQ(codes(repeat("(", kMany) + repeat(")", kMany)), too_deep);
    EXPECT_EQ(codes(repeat("(", 100) + "x" + repeat(")", 100)), Strings{});
}

TEST(Limits, NestedOperators) {
    Strings too_deep{"nested-too-deeply"};
    for (const char* prefix :
         {"not ", "-", "~", "2**", "lambda: ", "a if b else ", "lambda x=1: "}) {
        EXPECT_EQ(codes("x = " + repeat(prefix, kMany) + "y"), too_deep) << prefix;
    }
    EXPECT_EQ(codes("x = " + repeat("-", 100) + "y"), Strings{});
    EXPECT_EQ(codes("[x" + repeat(" for a in b", kMany) + "]"), too_deep);
}

TEST(Limits, LongChainsAreDeepTrees) {
    Strings too_deep{"nested-too-deeply"};
    for (const char* link : {".y", "()", "[0]"}) {
        EXPECT_EQ(codes("x" + repeat(link, kMany)), too_deep) << link;
        EXPECT_EQ(codes("x" + repeat(link, 900)), Strings{}) << link;
    }
    for (const char* link : {" + y", " @ y"}) {
        EXPECT_EQ(codes("x" + repeat(link, kMany)), too_deep) << link;
        EXPECT_EQ(codes("x" + repeat(link, kMany - 1)), Strings{}) << link;
    }
    // Many short chains are no deep tree, nor are long lists.
    EXPECT_EQ(codes("x = [" + repeat("a.b().c + d * e, ", kMany) + "]"), Strings{});
    EXPECT_EQ(codes("x = a" + repeat(" and b.c", kMany)), Strings{});
    EXPECT_EQ(codes("x = a" + repeat(" < b", kMany)), Strings{});
    EXPECT_EQ(codes("x = a" + repeat(" + b.c.d * e", 900)), Strings{});
}

TEST(Limits, NestedBlocks) {
    std::string blocks;
    for (size_t i = 0; i < 1000; ++i) {
        blocks += repeat(" ", i) + "if x:\n";
    }
    EXPECT_EQ(codes(blocks + repeat(" ", 1000) + "y"), Strings{"nested-too-deeply"});
    EXPECT_EQ(codes("if x: y\n" + repeat("elif x: y\n", kMany)), Strings{"nested-too-deeply"});
    EXPECT_EQ(codes("if x: y\n" + repeat("elif x: y\n", 900)), Strings{});
}

TEST(Limits, LongLines) {
    EXPECT_EQ(codes("x = " + std::string(1 << 20, 'a')), Strings{});
    EXPECT_EQ(codes("x = '" + std::string(1 << 20, 'a') + "'"), Strings{});
    EXPECT_EQ(codes("x = '" + std::string(1 << 20, '\\')), Strings{"unterminated-string"});
    EXPECT_EQ(codes("x = " + std::string(1 << 20, '9')), Strings{});
    EXPECT_EQ(codes("x = [" + repeat("1, ", 1 << 18) + "]"), Strings{});
    EXPECT_EQ(codes("x = " + std::string(1 << 20, '$')), Strings{"invalid-character"});
}

TEST(Limits, ManyErrorsTakeLinearTime) {
    EXPECT_EQ(codes(repeat("x = (\n", kMany)).size(), kMany);
    EXPECT_EQ(codes(repeat("x = f(a,\n", kMany)).size(), kMany);
    EXPECT_EQ(codes(repeat(")\n", kMany)).size(), kMany);
    EXPECT_LT(codes(repeat("f'{\n", kMany)).size(), kMany);
}

TEST(Limits, SizeOfTheFile) {
    Limits limits;
    limits.bytes = 10;
    EXPECT_EQ(Parsed("x = 1 + 2 + 3", limits).findings(), Strings{"1:1 source-too-large ``"});
    EXPECT_EQ(Parsed("x = 1 + 2", limits).findings(), Strings{});
}

}  // namespace
}  // namespace sardonyx::syntax
