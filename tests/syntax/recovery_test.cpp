// One error is one finding, in its place, and what stands around it is read as if it were not
// there.
#include <gtest/gtest.h>

#include "parsed.h"

namespace sardonyx::syntax {
namespace {

constexpr const char* kAfter = "\ndef after(x):\n    return x\n";

void expect(const std::string& text, const Strings& findings, const Strings& functions) {
    Parsed parsed(text + kAfter);
    EXPECT_EQ(parsed.findings(), findings) << text;
    Strings all = functions;
    all.push_back("after/1");
    EXPECT_EQ(parsed.functions(), all) << text;
    for (const diagnostics::Diagnostic& item : parsed.diagnostics.items()) {
        EXPECT_FALSE(item.help.empty()) << item.message;
    }
}

TEST(Recovery, MissingBracketBeforeAnAssignment) {
    std::string text = "def f(x):\n    y = op.Add(x, 1\n    z = op.Mul(y, 2)\n    return z\n";
    expect(text, {"2:20 unclosed-bracket ``"}, {"f/3"});
    Parsed parsed(text);
    EXPECT_EQ(parsed.second(0), "2:15 `(`");
    EXPECT_EQ(parsed.diagnostics.items()[0].edits[0].replacement, ")");
    EXPECT_EQ(parsed.dump(),
              "FunctionDef f [(arg x - -)] - []\n"
              "  Assign (Name y) (Call (Attribute (Name op) Add) (Name x) (Int 1) (Error))\n"
              "  Assign (Name z) (Call (Attribute (Name op) Mul) (Name y) (Int 2))\n"
              "  Return (Name z)\n");
}

TEST(Recovery, MissingBracketBeforeOtherStatements) {
    for (const char* next :
         {"return y", "if y:\n        pass", "for i in y:\n        pass", "while y:\n        pass",
          "pass", "@d\n    def g(): pass", "a, b = y", "a[0] = y", "a: int = 3", "op.Foo(y)",
          "x += 1", "from a import b", "async def g(): pass"}) {
        expect("def f(x):\n    y = op.Add(x, [1\n    " + std::string(next) + "\n",
               {"2:21 unclosed-bracket ``"}, {"f/2"});
    }
    expect("def f(x):\n    y = op.Add(x,\n    z = y\n", {"2:18 unclosed-bracket ``"}, {"f/2"});
    expect("x = {'a': 1,\ny = 2\n", {"1:13 unclosed-bracket ``"}, {});
    expect("x = (a\n", {"1:7 unclosed-bracket ``"}, {});
    expect("@script(\ndef f(x):\n    return x\n", {"1:9 unclosed-bracket ``"}, {"f/1"});
}

TEST(Recovery, MissingBracketWhoseLinesWouldFit) {
    // Up to `z` all would be arguments.
    expect("x = foo(a,\ny = bar(b)\nz = 3)\n",
           {"1:11 unclosed-bracket ``", "3:6 unmatched-bracket `)`"}, {});
    expect("x = foo(a\ny = bar(b)\n", {"1:10 unclosed-bracket ``"}, {});
}

TEST(Recovery, MissingBracketInAHead) {
    expect("def f(x, y:\n    z = x + y\n    return z\n", {"1:12 unclosed-bracket ``"}, {"f/2"});
    expect("def f(x:\n    return x\n", {"1:9 unclosed-bracket ``"}, {"f/1"});
    expect("def f(x):\n    for i in range(x:\n        y = i\n    return y\n",
           {"2:21 expected-token `:`"}, {"f/2"});
    expect("with open(x as f:\n    y = 1\n", {"1:18 unclosed-bracket ``"}, {});
}

TEST(Recovery, UnfinishedAttribute) {
    std::string text = "def f(x):\n    y = op.\n    z = op.Relu(x)\n    return z\n";
    expect(text, {"2:11 unfinished-attribute `.`"}, {"f/3"});
    EXPECT_EQ(Parsed(text).dump(),
              "FunctionDef f [(arg x - -)] - []\n"
              "  Assign (Name y) (Attribute (Name op) -)\n"
              "  Assign (Name z) (Call (Attribute (Name op) Relu) (Name x))\n"
              "  Return (Name z)\n");
    expect("def f(x):\n    y = op.Add(x, op.)\n    return y\n", {"2:21 unfinished-attribute `.`"},
           {"f/2"});
    expect("def f(x):\n    y = op.Add(x, op.\n    return y\n", {"2:21 unfinished-attribute `.`"},
           {"f/2"});
    expect("x.if\n", {"1:3 unexpected-token `if`"}, {});
}

TEST(Recovery, SeveralErrorsAreAllReported) {
    expect(
        "def f(x):\n    y = op.Add(x\n    z = = 3\n    return z +\n\ndef g(x)\n    return x $ 1\n",
        {"2:17 unclosed-bracket ``", "3:9 assignment-in-expression `=`",
         "4:15 expected-expression ``", "6:9 expected-token ``", "7:14 invalid-character `$`"},
        {"f/3", "g/1"});
}

TEST(Recovery, Brackets) {
    expect("x = [a, b)\n", {"1:10 unmatched-bracket `)`"}, {});
    expect("x = [(a, [b], {c)]\n", {"1:17 unclosed-bracket ``"}, {});
    expect("x = [(a, {b}, {c]]\n", {"1:17 unmatched-bracket `]`"}, {});
    expect("x = a)\n", {"1:6 unmatched-bracket `)`"}, {});
    expect("f(a b)\n", {"1:5 expected-token `b`"}, {});
    expect("f(a,, b)\n", {"1:5 expected-expression `,`"}, {});
    expect("x[]\n", {"1:3 expected-expression `]`"}, {});
    expect("x = {1: 2, 3 4}\n", {"1:14 expected-token `4`"}, {});
}

TEST(Recovery, Strings) {
    expect("x = 'abc\ny = foo('abc)\n",
           {"1:5 unterminated-string `'`", "2:9 unterminated-string `'`"}, {});
    expect("def f(x):\n    y = op.Add(x, 'a)\n    return y\n", {"2:19 unterminated-string `'`"},
           {"f/2"});
    expect("x = f'{a b}'\n", {"1:10 invalid-f-string `b`"}, {});
    expect("x = f'{}'\n", {"1:8 invalid-f-string `}`"}, {});
    expect("x = f'{a!z}'\n", {"1:10 invalid-f-string `z`"}, {});
    expect("x = f'a } b'\n", {"1:9 invalid-f-string `}`"}, {});
    expect("x = f'{a'\ny = 1\n", {"1:9 invalid-f-string `'`"}, {});
    expect("x = f'{a:{b}'\ny = 1\n", {"1:13 invalid-f-string `'`"}, {});
}

TEST(Recovery, Indentation) {
    expect("def f():\n        a = 1\n    b = 2\n    return b\n",
           {"3:1 inconsistent-indentation `    `"}, {"f/3"});
    expect("def f():\nreturn 1\n", {"1:1 expected-block `def`"}, {"f/0"});
    expect("def f():\n    a = 1\n      b = 2\n    return b\n", {"3:7 unexpected-indentation `b`"},
           {"f/3"});
    expect("  x = 1\n", {"1:3 unexpected-indentation `x`"}, {});
    expect("if x:\n        y\n\tz\n", {"3:1 inconsistent-indentation `\t`"}, {});
}

TEST(Recovery, Statements) {
    expect("if x = 3:\n    y = 1\n", {"1:6 assignment-in-expression `=`"}, {});
    expect("if x\n    y = 1\nelse\n    y = 2\n", {"1:5 expected-token ``", "3:5 expected-token ``"},
           {});
    expect("else:\n    y = 1\n", {"1:1 unexpected-token `else`"}, {});
    expect("foo() = 1\n", {"1:1 invalid-target `foo()`"}, {});
    expect("a == b = c\n", {"1:8 assignment-in-expression `=`"}, {});
    expect("(a, b) += 1\n", {"1:1 invalid-target `(a, b)`"}, {});
    expect("del f()\n", {"1:5 invalid-target `f()`"}, {});
    expect("for f() in x: pass\n", {"1:5 invalid-target `f()`"}, {});
    expect("[q for q in (z := [1])]\n", {"1:14 invalid-target `z := [1]`"}, {});
    expect("{p: 1 for p in {(z := [1])}}\n", {"1:18 invalid-target `z := [1]`"}, {});
    expect("[p for q in x for p in (lambda: (z := q))()]\n", {"1:34 invalid-target `z := q`"}, {});
    expect("[(q := 1) for q in x]\n", {"1:3 invalid-target `q`"}, {});
    expect("[p for p in x if [(p := r) for r in x]]\n", {"1:20 invalid-target `p`"}, {});
    expect("[(lambda: (q := 1)) for q in x if (z := q)]\n", {}, {});
    expect("match [q for q in (z := [1])]:\n    case _:\n        pass\n",
           {"1:20 invalid-target `z := [1]`"}, {});
    expect("import\n", {"1:7 expected-token ``"}, {});
    expect("from x import (a, b\n", {"1:20 unclosed-bracket ``"}, {});
    expect("retrun x\n", {"1:8 unexpected-token `x`"}, {});
    EXPECT_EQ(Parsed("retrun x\n").diagnostics.items()[0].help,
              "write `return` instead of `retrun`");
    expect("@d\nx = 1\n", {"1:1 expected-token `@d`"}, {});
    expect("try:\n    x\n", {"1:1 expected-token `try`"}, {});
    expect("match x:\n    foo\n    case 1: y\n", {"2:5 expected-token `foo`"}, {});
    expect("x = 1; if y: z\n", {"1:8 unexpected-token `if`"}, {});
}

TEST(Recovery, ArgumentsAndParameters) {
    expect("f(a=1, b)\n", {"1:8 invalid-argument `b`"}, {});
    expect("f(a=1, a=2)\n", {"1:8 invalid-argument `a`"}, {});
    expect("f(a.b=1)\n", {"1:3 invalid-argument `a.b`"}, {});
    expect("def f(a, a): pass\n", {"1:10 invalid-parameter `a`"}, {"f/1"});
    expect("def f(a=1, b): pass\n", {"1:12 invalid-parameter `b`"}, {"f/1"});
    expect("def f(**k, a): pass\n", {"1:12 invalid-parameter `a`"}, {"f/0"});
    expect("def f(*): pass\n", {"1:8 invalid-parameter `)`"}, {"f/0"});
    expect("def f(a, /, /): pass\n", {"1:13 invalid-parameter `/`"}, {"f/0"});
    EXPECT_EQ(Parsed("f(a=1, b)\n").second(0), "1:3 `a`");
}

}  // namespace
}  // namespace sardonyx::syntax
