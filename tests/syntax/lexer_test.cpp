#include <gtest/gtest.h>

#include "parsed.h"
#include "syntax/lexer.h"

namespace sardonyx::syntax {
namespace {

// The kinds of all tokens, with the text of names, numbers, strings and errors.
std::string kinds(const std::string& text) {
    Lexer lexer(text, skip_byte_order_mark(text), OutermostBlock::kAtMargin, 200);
    std::string result;
    for (;;) {
        lexer.next_line();
        for (const Token& token : lexer.tokens()) {
            bool named = token.kind >= TokenKind::kError && token.kind <= TokenKind::kFStringEnd;
            result += result.empty() ? "" : " ";
            result += token.kind == TokenKind::kError ? "!" : "";
            result += named
                          ? text.substr(token.begin, token.end - token.begin)
                          : std::string(token.kind < TokenKind::kError ? token_kind_name(token.kind)
                                                                       : token_text(token.kind));
        }
        if (lexer.tokens().back().kind == TokenKind::kEndOfFile) {
            return result;
        }
    }
}

TEST(Lexer, IndentsAndDedents) {
    EXPECT_EQ(kinds("if a:\n  b\n\n  # c\n  c\nd\n"),
              "if a : Newline Indent b Newline c Newline Dedent d Newline EndOfFile");
    EXPECT_EQ(kinds("if a:\n  if b:\n    c"),
              "if a : Newline Indent if b : Newline Indent c Newline Dedent Dedent EndOfFile");
}

TEST(Lexer, LineBreaksOfAllSystems) {
    EXPECT_EQ(kinds("a\r\nb\rc\nd"), "a Newline b Newline c Newline d Newline EndOfFile");
    EXPECT_EQ(kinds("f(\r\na,\r\n)\r\n"), "f ( a , ) Newline EndOfFile");
    EXPECT_EQ(kinds("a = \\\r\n  b"), "a = b Newline EndOfFile");
}

TEST(Lexer, ByteOrderMarkFormFeedAndTabs) {
    EXPECT_EQ(kinds("\xEF\xBB\xBF"
                    "a\n\fb"),
              "a Newline b Newline EndOfFile");
    EXPECT_EQ(kinds("if a:\n\tb\n        c\n"),
              "if a : Newline Indent b Newline !         c Newline Dedent EndOfFile");
    EXPECT_EQ(kinds("if a:\n \tb\n \tc\n"),
              "if a : Newline Indent b Newline c Newline Dedent EndOfFile");
}

TEST(Lexer, EmptyAndBlankFiles) {
    for (const char* text : {"", "\n", "   ", "# c", "\t# c\r\n", "\\\n"}) {
        EXPECT_EQ(kinds(text), "EndOfFile") << text;
    }
}

TEST(Lexer, Numbers) {
    EXPECT_EQ(kinds("0 00 1_0 0x_fF 0b1 0O7 1. .5 1e5 1_0.0_1E-1_0 1j 09.5 09j 0_0"),
              "0 00 1_0 0x_fF 0b1 0O7 1. .5 1e5 1_0.0_1E-1_0 1j 09.5 09j 0_0 Newline EndOfFile");
    for (const char* text : {"1_", "1__0", "0x", "0b2", "012", "1e+", "12abc", "1._5", "0xg"}) {
        EXPECT_EQ(kinds(text), std::string("!") + text + " Newline EndOfFile");
    }
    EXPECT_EQ(kinds("1if x else 2"), "1 if x else 2 Newline EndOfFile");
    EXPECT_EQ(kinds("0xfor x"), "0xf or x Newline EndOfFile");
    EXPECT_EQ(kinds("x[1:...]"), "x [ 1 : ... ] Newline EndOfFile");
}

TEST(Lexer, Operators) {
    EXPECT_EQ(kinds("a**=b//=c>>=d<<=e->f:=g!=h...==<=>=@=~"),
              "a **= b //= c >>= d <<= e -> f := g != h ... == <= >= @= ~ Newline EndOfFile");
    EXPECT_EQ(kinds("a ! b $ c"), "a !! b !$ c Newline EndOfFile");
}

TEST(Lexer, Strings) {
    EXPECT_EQ(kinds("'a' \"b\" rb'c' Rb'\\'' u'd' b\"\"\"e\"f\n\"\"\" ''"),
              "'a' \"b\" rb'c' Rb'\\'' u'd' b\"\"\"e\"f\n\"\"\" '' Newline EndOfFile");
    EXPECT_EQ(kinds("'a\\\nb' 'c\\\r\nd'"), "'a\\\nb' 'c\\\r\nd' Newline EndOfFile");
    EXPECT_EQ(kinds("x = 'a\ny"), "x = !'a Newline y Newline EndOfFile");
    EXPECT_EQ(kinds("'''a\\'''b'''"), "'''a\\'''b''' Newline EndOfFile");
    EXPECT_EQ(kinds("ur'a' "), "ur 'a' Newline EndOfFile");
}

TEST(Lexer, FStrings) {
    EXPECT_EQ(kinds("f'a{b}c'"), "f' a { b } c ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'{x!r:>{w}}'"), "f' { x ! r : > { w } } ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'{a['b']}'"), "f' { a [ 'b' ] } ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'{f'{1}'}'"), "f' { f' { 1 } ' } ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'{{}}'"), "f' {{}} ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'{x:=5}{y!=z}'"), "f' { x : =5 } { y != z } ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'{\n x # c\n}'"), "f' { x } ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'\\N{DASH}{x}\\{y}'"), "f' \\N{DASH} { x } \\ { y } ' Newline EndOfFile");
    EXPECT_EQ(kinds("f'''a\n{x:%Y\n}'''"), "f''' a\n { x : %Y\n } ''' Newline EndOfFile");
    EXPECT_EQ(kinds("f'a\nb"), "f' a !f'a Newline b Newline EndOfFile");
}

TEST(Lexer, OtherBytesThanUtf8) {
    EXPECT_EQ(kinds("a \xFF b"), "a !\xFF b Newline EndOfFile");
    EXPECT_EQ(kinds("'\xFF'"), "'\xFF' Newline EndOfFile");
    EXPECT_EQ(kinds(std::string("a\0b", 3)), std::string("a !\0 b Newline EndOfFile", 24));
    EXPECT_EQ(kinds("na\xC3\xAFve = \xE2\x80\x9Cx"),
              "na\xC3\xAFve = !\xE2\x80\x9C x Newline EndOfFile");
}

TEST(Lexer, EncodingOfTheFile) {
    EXPECT_EQ(Parsed("x = '\xFF'\n").findings(), Strings{"1:6 not-utf8 `\xFF`"});
    EXPECT_EQ(Parsed("x = '\xFF'\n").dump(), "Assign (Name x) (String \"\xEF\xBF\xBD\")\n");
    EXPECT_EQ(Parsed("# coding: latin-1\nx = '\xFF'\n").findings(),
              Strings{"1:11 source-encoding `latin-1`"});
    EXPECT_EQ(Parsed("# coding: UTF_8\nx = '\xFF'\n").findings(), Strings{"2:6 not-utf8 `\xFF`"});
    EXPECT_EQ(Parsed("# coding: latin-1\nx = 1\n").findings(), Strings{});
}

}  // namespace
}  // namespace sardonyx::syntax
