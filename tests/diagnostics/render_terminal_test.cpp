// What a terminal shows, written out as it must look.
#include <gtest/gtest.h>

#include <algorithm>

#include "samples.h"

namespace sardonyx::diagnostics {
namespace {

class RenderTerminal : public testing::Test {
  protected:
    FileId file(std::string text, std::string path = "f.py") {
        return sources_.add(std::move(path), std::move(text));
    }
    Span at(FileId id, std::string_view words, int occurrence = 0) {
        return span_of(sources_, id, words, occurrence);
    }
    Diagnostic& error(Span span, std::string message) {
        return diagnostics_.report(kBroadcastMismatch, span, std::move(message));
    }
    std::string shown(TerminalOptions options = {}) {
        // A golden text is easier to read when it starts on a line of its own.
        return "\n" + render_terminal(sources_, diagnostics_, options);
    }

    Sources sources_;
    Diagnostics diagnostics_;
};

TEST_F(RenderTerminal, NothingToSay) {
    EXPECT_EQ(render_terminal(sources_, diagnostics_, {}), "");
}

TEST_F(RenderTerminal, OneLabelWithNoteAndHelp) {
    FileId f = file("def g(x, b):\n    return x + b\n", "examples/gelu.py");
    error(at(f, "x + b"), "`FLOAT[2, 3]` and `FLOAT[4]` do not broadcast")
        .note("dimensions are compared from the last to the first")
        .with_help("give `b` the shape `[3]`");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: `FLOAT[2, 3]` and `FLOAT[4]` do not broadcast
 --> examples/gelu.py:2:12
  |
2 |     return x + b
  |            ^^^^^
  |
  = note: dimensions are compared from the last to the first
  = help: give `b` the shape `[3]`

)");
}

TEST_F(RenderTerminal, NeverMoreThanAScreen) {
    FileId f = file(std::string(100'000, 'x') + "\n" + std::string(100, '\n'));
    std::string longest(1 << 16, 'n');
    Diagnostic& added = error({f, 0, 100'000}, longest);
    added.labels[0].message = longest;
    for (uint32_t line = 0; line < 50; ++line) {
        added.label({f, 100'001 + line, 100'001 + line}, longest).note(longest);
    }
    added.with_help(longest);
    std::string text = shown();
    EXPECT_LT(text.size(), 24 * 80 * 3);  // some rows are short
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40);
    EXPECT_NE(text.find("45 more places are not shown"), std::string::npos);
}

TEST_F(RenderTerminal, SeveralLabelsOnOneLine) {
    FileId f = file("y = x + b\n");
    Diagnostic& added = error(at(f, "+"), "no broadcast");
    added.labels[0].message = "4 and 3 differ";
    added.label(at(f, "x"), "`FLOAT[2, 3]`").label(at(f, "b"), "`FLOAT[4]`");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: no broadcast
 --> f.py:1:7
  |
1 | y = x + b
  |     - ^ - `FLOAT[4]`
  |     | |
  |     | 4 and 3 differ
  |     `FLOAT[2, 3]`

)");
}

TEST_F(RenderTerminal, LabelsOverOneAnother) {
    FileId f = file("y = f(x)\n");
    error(at(f, "f(x)"), "too many").labels[0].message = "this call";
    Diagnostics more;
    more.report(kBroadcastMismatch, at(f, "x"), "too many")
        .label(at(f, "f(x)"), "this call")
        .label(at(f, "f(x)"), "and again");
    EXPECT_EQ("\n" + render_terminal(sources_, more, {}), R"(
error[broadcast-mismatch]: too many
 --> f.py:1:7
  |
1 | y = f(x)
  |     --^-
  |     |
  |     this call
  |     and again

)");
}

TEST_F(RenderTerminal, LabelsOnDistantLines) {
    FileId f = file("x = 1\ny = 2\nz = 3\n\n\nx + z\nend\n");
    error(at(f, "x + z"), "differ")
        .label(at(f, "x"), "first here")
        .label(at(f, "z"), "second here");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: differ
 --> f.py:6:1
  |
1 | x = 1
  | - first here
2 | y = 2
3 | z = 3
  | - second here
...
6 | x + z
  | ^^^^^

)");
}

TEST_F(RenderTerminal, LabelsInSeveralFiles) {
    FileId f = file("from lib import g\ng(1)\n");
    FileId lib = file(std::string(99, '\n') + "def g(): pass\n", "lib.py");
    error(at(f, "g(1)"), "too many arguments").label(at(lib, "g()"), "takes none");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: too many arguments
   --> f.py:2:1
    |
  2 | g(1)
    | ^^^^
   ::: lib.py:100:5
    |
100 | def g(): pass
    |     --- takes none

)");
}

TEST_F(RenderTerminal, ASpanOfSeveralLines) {
    FileId f = file("y = f(\n    a,\n    b,\n    c,\n)\n");
    Diagnostic& added = error(from_to(sources_, f, "f(", ")"), "too many");
    added.labels[0].message = "five lines";
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: too many
 --> f.py:1:5
  |
1 |   y = f(
  |  _____^
... |
5 | | )
  | |_^ five lines

)");
}

TEST_F(RenderTerminal, SpansOfSeveralLinesThatBeginALineAndNest) {
    FileId f = file("  if c:\n    a = f(\n      1)\n  x\n");
    Diagnostic& added = error(from_to(sources_, f, "if c", "1)"), "never both");
    added.labels[0].message = "this block";
    added.label(from_to(sources_, f, "f(", "1)"), "this call");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: never both
 --> f.py:1:3
  |
1 | /     if c:
2 | |       a = f(
  | |  _________-
3 | | |       1)
  | |_|________^ this block
  |   |________- this call

)");
}

TEST_F(RenderTerminal, EmptySpansAndTheEndOfTheFile) {
    FileId f = file("x = (");
    error({f, 5, 5}, "unfinished").labels[0].message = "expected `)`";
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: unfinished
 --> f.py:1:6
  |
1 | x = (
  |      ^ expected `)`

)");
}

TEST_F(RenderTerminal, ASpanPastTheEndIsCut) {
    FileId f = file("ab");
    error({f, 1, 4000}, "wrong").label({f, 3000, 4000}, "also");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: wrong
 --> f.py:1:2
  |
1 | ab
  |  ^- also

)");
}

TEST_F(RenderTerminal, AnEmptyFileAndNoFileAtAll) {
    FileId f = file("");
    error({f, 0, 0}, "no functions");
    error({}, "nowhere").with_help("look elsewhere");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: nowhere
  = help: look elsewhere

error[broadcast-mismatch]: no functions
 --> f.py:1:1
  |
1 |
  | ^

)");
}

TEST_F(RenderTerminal, TabsWideAndCombiningCharacters) {
    FileId f = file("\tx = '\u6f22\u5b57' + e\u0301 + y\n");
    error(at(f, "y"), "unknown").label(at(f, "'\u6f22\u5b57'"), "text");
    EXPECT_EQ(shown(),
              "\n"
              "error[broadcast-mismatch]: unknown\n"
              " --> f.py:1:18\n"
              "  |\n"
              "1 |     x = '\u6f22\u5b57' + e\u0301 + y\n"
              "  |         ------       ^\n"
              "  |         |\n"
              "  |         text\n"
              "\n");
}

TEST_F(RenderTerminal, NothingReachesTheTerminalThatMovesTheCursor) {
    FileId f = file("a\x1b[2J\x07 = '\u202e' \xff\xfe b\r\n", "evil\x1b[31m.py");
    error(at(f, "b"), "saw \x1b[1m and\rthis \xc3");
    EXPECT_EQ(shown(),
              "\n"
              "error[broadcast-mismatch]: saw \u241b[1m and\u240dthis \uFFFD\n"
              " --> evil\u241b[31m.py:1:17\n"
              "  |\n"
              "1 | a\u241b[2J\u2407 = '<U+202E>' \uFFFD\uFFFD b\n"
              "  |                        ^\n"
              "\n");
}

TEST_F(RenderTerminal, LongLinesAreCutAroundTheCaret) {
    FileId f = file("x = [" + std::string(100, '1') + "HERE" + std::string(100, '2') + "]\n");
    error(at(f, "HERE"), "wrong");
    EXPECT_EQ(shown({false, 44}), R"(
error[broadcast-mismatch]: wrong
 --> f.py:1:106
  |
1 | ...111111111111111HERE222222222222222...
  |                   ^^^^

)");
}

TEST_F(RenderTerminal, LongLinesAtTheirEnds) {
    FileId f = file("BEGIN" + std::string(100, '1') + "END\n");
    error(at(f, "BEGIN"), "first");
    error(at(f, "END"), "last").label(at(f, "BEGIN"), "and here");
    error(from_to(sources_, f, "BEGIN", "END"), "whole");
    EXPECT_EQ(shown({false, 34}), R"(
error[broadcast-mismatch]: first
 --> f.py:1:1
  |
1 | BEGIN1111111111111111111111...
  | ^^^^^

error[broadcast-mismatch]: whole
 --> f.py:1:1
  |
1 | BEGIN1111111111111111111111...
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^

error[broadcast-mismatch]: last
 --> f.py:1:106
  |
1 | ...111111111111111111111111END
  | -                          ^^^
  | |
  | and here

)");
}

TEST_F(RenderTerminal, AFileOfOneEnormousLineIsQuick) {
    FileId f = file(std::string(5'000'000, '(') + "x" + std::string(5'000'000, ')'));
    error(at(f, "x"), "deep");
    EXPECT_EQ(shown({false, 34}), R"(
error[broadcast-mismatch]: deep
 --> f.py:1:5000001
  |
1 | ...(((((((((((x))))))))))))...
  |               ^

)");
}

TEST_F(RenderTerminal, SortedByPlaceAndPrintedOnce) {
    FileId f = file("a\nb\n");
    diagnostics_.report(kUnusedName, at(f, "b"), "`b` is never used");
    diagnostics_.report(kRemark, at(f, "a"), "about `a`");
    diagnostics_.report(kUnusedName, at(f, "b"), "`b` is never used");
    EXPECT_EQ(shown(), R"(
note[remark]: about `a`
 --> f.py:1:1
  |
1 | a
  | ^

warning[unused-name]: `b` is never used
 --> f.py:2:1
  |
2 | b
  | ^

)");
}

TEST_F(RenderTerminal, TextOfSeveralLines) {
    FileId f = file("a\n");
    error(at(f, "a"), "first line\nsecond line").note("one\ntwo");
    EXPECT_EQ(shown(), R"(
error[broadcast-mismatch]: first line
                           second line
 --> f.py:1:1
  |
1 | a
  | ^
  |
  = note: one
          two

)");
}

TEST_F(RenderTerminal, MoreBarsThanThereIsRoomFor) {
    FileId f = file("a\nb\n");
    Diagnostic& added = error({f, 0, 3}, "many");
    for (int i = 0; i < 100; ++i) {
        added.label({f, 0, 3}, "again");
    }
    std::string text = shown();
    EXPECT_NE(text.find("again"), std::string::npos);
    EXPECT_LT(text.size(), 10'000U);
}

TEST_F(RenderTerminal, Colors) {
    FileId f = file("y = x + b\n");
    error(at(f, "+"), "no").label(at(f, "b"), "b").with_help("do");
    // Escape sequences by their number of the foreground, so that the text can be read.
    std::string text = shown({true, 100});
    for (auto [escape, word] :
         {std::pair("\x1b[0m", "{}"), std::pair("\x1b[0;1m", "{bold}"),
          std::pair("\x1b[0;1;34m", "{blue}"), std::pair("\x1b[0;1;31m", "{red}")}) {
        for (size_t i = text.find(escape); i != std::string::npos; i = text.find(escape)) {
            text.replace(i, std::string(escape).size(), word);
        }
    }
    EXPECT_EQ(text, R"(
{red}error[broadcast-mismatch]{bold}: no{}
 {blue}--> {}f.py:1:7
  {blue}|{}
{blue}1 | {}y = x + b
  {blue}|       {red}^ {blue}- b{}
  {blue}|{}
  {blue}= {bold}help{}: do

)");
}

TEST(TerminalStress, AnySpansOfAnyBytesAreDrawn) {
    // Every pair of spans over a text of awkward bytes, at an awkward width.
    Sources sources;
    std::string text = "\ta\u6f22\n\r\n\xff\xe6\xbc\ne\u0301\u202e  x\r\r\n";
    FileId f = sources.add("f", text);
    uint32_t size = static_cast<uint32_t>(text.size());
    for (uint32_t begin = 0; begin <= size; ++begin) {
        for (uint32_t end = begin; end <= size; ++end) {
            Diagnostics diagnostics;
            diagnostics.report(kRemark, {f, begin, end}, "m")
                .label({f, size - end, size - begin}, "words")
                .label({f, end, size}, "more");
            std::string out = render_terminal(sources, diagnostics, {false, 1});
            ASSERT_FALSE(out.empty());
            ASSERT_EQ(out.find('\r'), std::string::npos);
            ASSERT_EQ(out.find('\xff'), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace sardonyx::diagnostics
