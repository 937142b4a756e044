// What the comparison with CPython's `ast` (tests/python/language/test_syntax.py) does not reach:
// syntax newer than the Python that runs it, values of literals, and the entries for one statement
// and one annotation.
#include <gtest/gtest.h>

#include "parsed.h"

namespace sardonyx::syntax {
namespace {

std::string expression(const std::string& text) {
    Parsed parsed(text);
    EXPECT_EQ(parsed.findings(), Strings{}) << text;
    std::string dump = parsed.dump();
    return dump.substr(5, dump.size() - 6);  // of "Expr ...\n"
}

TEST(Parse, FStringsOfPython312) {
    EXPECT_EQ(expression("f'{a['b']}'"),
              "(FString (Field (Subscript (Name a) (String \"b\")) - -))");
    EXPECT_EQ(expression("f'{'\\n'.join(x)}'"),
              "(FString (Field (Call (Attribute (String \"\\n\") join) (Name x)) - -))");
    EXPECT_EQ(expression("f'{f'{f'{1}'}'}'"),
              "(FString (Field (FString (Field (FString (Field (Int 1) - -)) - -)) - -))");
    EXPECT_EQ(expression("f'{\n  x,  # two\n  y\n}'"),
              "(FString (Field (Tuple (Name x) (Name y)) - -))");
    EXPECT_EQ(expression("f'{x = !s}' 'b'"), "(FString \"x = \" (Field (Name x) s -) \"b\")");
    EXPECT_EQ(expression("f'{{{x:{{y}}}}}'"),
              "(FString \"{\" (Field (Name x) - (FString (Field (Set (Name y)) - -))) \"}\")");
}

TEST(Parse, TypeParametersAreSkipped) {
    EXPECT_EQ(Parsed("def f[T: (int, str), *Ts, **P](x: T) -> T:\n  pass\n").dump(),
              "FunctionDef f [(arg x (Name T) -)] (Name T) []\n  Pass\n");
    EXPECT_EQ(Parsed("class A[T](B):\n  pass\n").dump(), "Opaque class\n  Pass\n");
    EXPECT_EQ(Parsed("type X[T] = list[T]\ntype Y = X\ntype = 1\ntype.x\n").dump(),
              "TypeAlias (Name X) (Subscript (Name list) (Name T))\nTypeAlias (Name Y) (Name X)\n"
              "Assign (Name type) (Int 1)\nExpr (Attribute (Name type) x)\n");
}

TEST(Parse, OpaqueStatementsKeepWhatIsInside) {
    Parsed parsed(
        "@d\nclass A(B, k=lambda: 0):\n  def f(self): pass\n"
        "try:\n  a\nexcept* E as e:\n  b\nelse:\n  c\nfinally:\n  d\n"
        "with (open(f'{x:>3}') as g, h): e\n"
        "match x, {'a': 1}:\n  case {'k': [1, *_]} if (lambda: y)():\n    f\n  case _: g\n"
        "async def h():\n  async with a as b:\n    c\n  async for x in y: await z\n"
        "match = 1\nmatch[0] = 2\nmatch(3)\n");
    EXPECT_EQ(parsed.findings(), Strings{});
    EXPECT_EQ(parsed.dump(),
              "Opaque class\n  FunctionDef f [(arg self - -)] - []\n    Pass\n"
              "Opaque try\n  Expr (Name a)\n  Expr (Name b)\n  Expr (Name c)\n  Expr (Name d)\n"
              "Opaque with\n  Expr (Name e)\n"
              "Opaque match\n  Expr (Name f)\n  Expr (Name g)\n"
              "AsyncFunctionDef h [] - []\n  Opaque with\n    Expr (Name c)\n"
              "  AsyncFor (Name x) (Name y)\n    Expr (Await (Name z))\n"
              "Assign (Name match) (Int 1)\nAssign (Subscript (Name match) (Int 0)) (Int 2)\n"
              "Expr (Call (Name match) (Int 3))\n");
    const OpaqueStmt* with = as<OpaqueStmt>(as<FunctionDefStmt>(parsed.tree.body[4])->body[0]);
    EXPECT_EQ(parsed.marked(parsed.tree.span(with->keyword_range)), "async with");
}

TEST(Parse, NumberValues) {
    EXPECT_EQ(expression("9223372036854775807"), "(Int 9223372036854775807)");
    EXPECT_EQ(expression("9223372036854775808"), "(Int overflows)");
    EXPECT_EQ(expression("0x7fff_ffff_ffff_ffff"), "(Int 9223372036854775807)");
    EXPECT_EQ(expression("0.1"), "(Float 0.1)");
    EXPECT_EQ(expression("1e23"), "(Float 1e+23)");
    EXPECT_EQ(expression("2.2250738585072011e-308"), "(Float 2.225073858507201e-308)");
    EXPECT_EQ(expression("1e999"), "(Float inf)");
    EXPECT_EQ(expression("0e99999999999999999999"), "(Float 0.0)");
    EXPECT_EQ(expression("1e-99999999999999999999"), "(Float 0.0)");
    EXPECT_EQ(expression("3_0.5_0j"), "(Imaginary 30.5)");
}

TEST(Parse, StringValues) {
    EXPECT_EQ(expression(R"('\x41\101\u00e9\U0001F600\
b\q\0')"),
              "(String \"AA\xC3\xA9\xF0\x9F\x98\x80"
              "b\\\\q\\x00\")");
    EXPECT_EQ(expression(R"('\ud800')"), "(String \"\\xed\\xa0\\x80\")");
    EXPECT_EQ(expression(R"(b'\xff\u0041' rb'\x41')"), "(Bytes \"\\xff\\\\u0041\\\\x41\")");
    EXPECT_EQ(expression("'''a\r\nb\rc'''"), "(String \"a\\nb\\nc\")");
    EXPECT_EQ(Parsed(R"(x = '\x4')").findings(), Strings{R"(1:6 invalid-string `\x4`)"});
    EXPECT_EQ(Parsed(R"(x = '\U00110000')").findings(),
              Strings{R"(1:6 invalid-string `\U00110000`)"});
    EXPECT_EQ(Parsed("x = b'\xC3\xA9'").findings(), Strings{"1:7 invalid-string `\xC3\xA9`"});
    EXPECT_EQ(Parsed("x = b'a' 'b'").findings(), Strings{"1:10 invalid-string `'b'`"});
    EXPECT_EQ(Parsed(R"(x = '\N{BULLET}')").findings(),
              Strings{R"(1:6 unicode-name `\N{BULLET}`)"});
}

// The statement at the given line of `text`, and nothing else.
std::string statement_at(const std::string& text, const std::string& line, size_t findings = 0) {
    diagnostics::Sources sources;
    diagnostics::FileId file = sources.add("test.py", text);
    diagnostics::Diagnostics found;
    Tree tree = parse_statement(sources, file, static_cast<uint32_t>(text.find(line)), found);
    EXPECT_EQ(found.items().size(), findings);
    return dump_tree(tree);
}

TEST(ParseStatement, LooksAtOneStatementOnly) {
    std::string text =
        "x = (\n"
        "if a:\n"
        "    @script(default_opset=op)\n"
        "    def f(x):\n"
        "        y = x\n"
        "\n"
        "        return y\n"
        "    z = ''' never closed (\n";
    EXPECT_EQ(statement_at(text, "    @script"),
              "FunctionDef f [(arg x - -)] - [(Call (Name script) default_opset=(Name op))]\n"
              "  Assign (Name y) (Name x)\n  Return (Name y)\n");
    EXPECT_EQ(statement_at(text, "        y ="), "Assign (Name y) (Name x)\n");
    EXPECT_EQ(statement_at(text, "    z =", 1), "Assign (Name z) (Error)\n");
}

TEST(ParseStatement, EndsAtTheBlockAround) {
    std::string text = "if a:\n    if b:\n        c\n    else:\n        d\nelse:\n    e\n";
    EXPECT_EQ(statement_at(text, "    if b"),
              "If (Name b)\n  Expr (Name c)\nElse\n  Expr (Name d)\n");
    EXPECT_EQ(statement_at("a\n\n", "\n\n"), "");
    EXPECT_EQ(statement_at("a\nb", "b"), "Expr (Name b)\n");
}

TEST(ParseAnnotation, HasThePositionOfTheString) {
    Parsed parsed("def f(x: \"FLOAT['N']\"): pass\n");
    const Expr* annotation =
        as<FunctionDefStmt>(parsed.tree.body[0])->parameters->items[0].annotation;
    std::string_view text = as<StringExpr>(annotation)->value;
    const Expr* parsed_text =
        parse_annotation(parsed.tree, text, annotation->range, parsed.diagnostics);
    EXPECT_EQ(dump_expression(parsed.tree, parsed_text, {true}),
              "(Subscript@9-21 (Name@9-21 FLOAT) (String@9-21 \"N\"))");
    EXPECT_EQ(parsed.findings(), Strings{});
}

TEST(ParseAnnotation, ReportsAtTheString) {
    for (const char* text : {"", "FLOAT[", "a b", "x = 1", "'", "a\nb", "FLOAT[1]]", "def"}) {
        Parsed parsed("x: 'annotation'");
        const Expr* made = parse_annotation(parsed.tree, text, {3, 15}, parsed.diagnostics);
        EXPECT_EQ(made->kind, ExprKind::kError) << text;
        ASSERT_EQ(parsed.findings().size(), 1u) << text;
        EXPECT_EQ(parsed.findings()[0].substr(0, 4), "1:4 ") << text;
    }
    Parsed parsed("x: 'annotation'");
    const Expr* made = parse_annotation(parsed.tree, "\n a\n", {3, 15}, parsed.diagnostics);
    EXPECT_EQ(dump_expression(parsed.tree, made, {}), "(Name a)");
}

}  // namespace
}  // namespace sardonyx::syntax
