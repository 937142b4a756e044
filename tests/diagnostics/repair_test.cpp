#include "diagnostics/repair.h"

#include <gtest/gtest.h>

#include "diagnostics/ignore.h"
#include "diagnostics/order.h"

namespace sardonyx::diagnostics {
namespace {

constexpr Kind kMistake{"an-error", Severity::kError};
constexpr Kind kRemark{"a-warning", Severity::kWarning};

struct Case {
    Sources sources;
    Diagnostics found;
    FileId file;

    explicit Case(std::string text) : file(sources.add("a.py", std::move(text))) {}
    Span span(uint32_t begin, uint32_t end) const { return {file, begin, end}; }
    Diagnostic& report(uint32_t begin, uint32_t end, const Kind& kind = kMistake) {
        return found.report(kind, span(begin, end), "wrong");
    }
    std::string repaired(size_t count) {
        Repairs repairs = apply_edits(sources, in_order(found), {file});
        EXPECT_EQ(repairs.findings.size(), count);
        return repairs.texts.empty() ? std::string(sources.text(file))
                                     : repairs.texts.begin()->second;
    }
};

TEST(Repair, EditsOfOneFindingGoTogether) {
    Case c("f(a, b)");
    c.report(2, 3).edit(c.span(2, 2), "(").edit(c.span(3, 3), ")");
    c.report(5, 6).edit(c.span(5, 6), "ccc");
    EXPECT_EQ(c.repaired(2), "f((a), ccc)");
}

TEST(Repair, OfOverlappingEditsTheFirstIsMade) {
    Case c("abcdef");
    c.report(0, 3).edit(c.span(0, 3), "X");
    c.report(2, 4).edit(c.span(5, 6), "Y").edit(c.span(2, 4), "Z");
    EXPECT_EQ(c.repaired(1), "Xdef");
}

TEST(Repair, TwoInsertionsAtOnePlaceAreInNoOrder) {
    Case c("ab");
    c.report(0, 1).edit(c.span(1, 1), "X");
    c.report(1, 2).edit(c.span(1, 1), "Y");
    EXPECT_EQ(c.repaired(1), "aXb");
}

TEST(Repair, AnInsertionBesideAReplacementIsNoOverlap) {
    Case c("abc");
    c.report(0, 1).edit(c.span(1, 1), "X");
    c.report(1, 2).edit(c.span(1, 2), "Y");
    c.report(2, 3).edit(c.span(2, 2), "Z");
    EXPECT_EQ(c.repaired(3), "aXYZc");
}

TEST(Repair, EqualEditsAreMadeOnce) {
    Case c("abc");
    c.report(0, 1).edit(c.span(1, 2), "X");
    c.report(1, 2).edit(c.span(1, 2), "X");
    EXPECT_EQ(c.repaired(2), "aXc");
}

TEST(Repair, TheSameBracketOfTwoFindingsIsTwoBrackets) {
    Case c("ab");
    c.report(0, 1).edit(c.span(0, 0), "(").edit(c.span(2, 2), ")");
    c.report(1, 2).edit(c.span(1, 1), "(").edit(c.span(2, 2), ")");
    EXPECT_EQ(c.repaired(1), "(ab)");
}

TEST(Repair, LineBreaksAreThoseOfTheFile) {
    Case c("a\r\nb\r\n");
    c.report(0, 1).edit(c.span(3, 3), "x\ny\n");
    EXPECT_EQ(c.repaired(1), "a\r\nx\r\ny\r\nb\r\n");
}

TEST(Repair, OtherFilesAndWrongPlacesAreLeftAlone) {
    Case c("abc");
    FileId other = c.sources.add("b.py", "xyz");
    c.report(0, 1).edit({other, 0, 1}, "X");
    c.report(0, 1).edit(c.span(0, 99), "Y");
    EXPECT_EQ(c.repaired(0), "abc");
}

TEST(Ignore, CommentsAreRead) {
    Case c(
        "# sardonyx: ignore[a-warning, b]\n# sardonyx: ignore\n# sardonyx: ignored\n"
        "# sardonyx: ignore[\n# sardonyx: ignore[]\n# sardonyx: ignore because\n");
    std::vector<size_t> codes;
    for (uint32_t line = 1; line <= 6; ++line) {
        std::string_view text = c.sources.line(c.file, line);
        auto begin = static_cast<uint32_t>(text.data() - c.sources.text(c.file).data());
        std::optional<Ignore> found =
            find_ignore(c.sources, c.span(begin, begin + static_cast<uint32_t>(text.size())));
        codes.push_back(found ? found->codes.size() : 99);
    }
    EXPECT_EQ(codes, (std::vector<size_t>{2, 0, 99, 99, 99, 0}));
}

TEST(Ignore, WarningsOfTheLineAreSilencedAndErrorsAreNot) {
    Case c("abc  # sardonyx: ignore[a-warning]\nabc\nabc(\n)  # sardonyx: ignore\n");
    c.report(0, 1);
    c.report(1, 2, kRemark);
    c.report(36, 37, kRemark);
    c.report(39, 45, kRemark);
    silence(c.sources, c.found);
    ASSERT_EQ(c.found.items().size(), 2U);
    EXPECT_EQ(c.found.items()[0].labels[0].span.begin, 0U);
    EXPECT_EQ(c.found.items()[1].labels[0].span.begin, 36U);
    EXPECT_EQ(c.found.error_count(), 1U);
}

}  // namespace
}  // namespace sardonyx::diagnostics
