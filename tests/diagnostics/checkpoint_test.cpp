#include <gtest/gtest.h>

#include "diagnostics/diagnostic.h"

namespace sardonyx::diagnostics {
namespace {

constexpr Kind kError{"an-error", Severity::kError};
constexpr Kind kWarning{"a-warning", Severity::kWarning};

TEST(Checkpoint, TellsWhatHasBeenSaidSince) {
    Diagnostics found;
    found.report(kError, {}, "before");
    Checkpoint point(found);
    EXPECT_FALSE(point.has_findings());
    EXPECT_FALSE(point.has_errors());
    found.report(kWarning, {}, "first");
    EXPECT_TRUE(point.has_findings());
    EXPECT_FALSE(point.has_errors());
    found.report(kError, {}, "second");
    EXPECT_TRUE(point.has_errors());
    ASSERT_EQ(point.findings().size(), 2);
    EXPECT_EQ(point.findings()[1].message, "second");
}

TEST(Checkpoint, TakesBackToItsPoint) {
    Diagnostics found;
    found.report(kError, {}, "before");
    Checkpoint outer(found);
    found.report(kError, {}, "outer");
    Checkpoint inner(found);
    found.report(kError, {}, "inner");
    inner.take_back();
    EXPECT_EQ(found.error_count(), 2);
    EXPECT_TRUE(outer.has_errors());
    outer.take_back();
    ASSERT_EQ(found.items().size(), 1);
    EXPECT_EQ(found.items()[0].message, "before");
    EXPECT_EQ(found.error_count(), 1);
}

TEST(Checkpoint, LabelsErrorsOfOtherFilesAlone) {
    Sources sources;
    FileId called = sources.add("called.py", "x"), caller = sources.add("caller.py", "y");
    Diagnostics found;
    found.report(kError, {called, 0, 1}, "before");
    Checkpoint point(found);
    found.report(kError, {called, 0, 1}, "in what is called");
    found.report(kError, {caller, 0, 1}, "in the caller");
    found.report(kWarning, {called, 0, 1}, "a warning");
    point.label_callers({caller, 0, 1}, "called here");
    std::vector<size_t> labels;
    for (const Diagnostic& one : found.items()) {
        labels.push_back(one.labels.size());
    }
    EXPECT_EQ(labels, (std::vector<size_t>{1, 2, 1, 1}));
}

}  // namespace
}  // namespace sardonyx::diagnostics
