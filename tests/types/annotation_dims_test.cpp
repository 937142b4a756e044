#include "types/annotation_dims.h"

#include <gtest/gtest.h>

#include "types/dim_expression.h"

namespace sardonyx {
namespace {

std::string shown(std::string_view text) {
    Result<Shape> shape = annotation_dims(text);
    if (!shape.ok()) {
        return "error";
    }
    std::string all;
    for (const Dim& dim : *shape) {
        all += (all.empty() ? "" : " ") + annotation_of_dim(dim);
    }
    return all;
}

TEST(AnnotationDims, Bounds) {
    EXPECT_EQ(shown("2 <= N <= 512"), "2 <= N <= 512");
    EXPECT_EQ(shown("512>N>1"), "2 <= N <= 511");
    EXPECT_EQ(shown("N >= 3"), "3 <= N");
    EXPECT_EQ(shown("3 < N"), "4 <= N");
    EXPECT_EQ(shown("N < 9223372036854775807"), "N <= 9223372036854775806");
    EXPECT_EQ(shown("B 1 < N 4 M<=2 ?"), "B 2 <= N 4 M <= 2 ?");
    EXPECT_EQ(shown("0 <= N"), "N");
    for (std::string_view text : {"N == 2", "N <= M", "<=", "N <=", "<= 2 <=", "2 <= 3", "N < 0",
                                  "2 <= N > 1", "N <= 2 <= M", "1 <= N <= 2 <= 3", "2*N <= 4"}) {
        EXPECT_EQ(shown(text), "error") << text;
    }
}

TEST(AnnotationDims, BoundsAreKnownOfTheDim) {
    Dim n = bounded_symbol("N", {2, 512});
    EXPECT_TRUE(n.equals(Dim::symbol("N")));
    EXPECT_EQ(n.to_string(), "N");
    EXPECT_EQ(min(n, 600).to_string(), "N");
    EXPECT_EQ(max(n, 1).to_string(), "N");
    EXPECT_EQ(min(n, 1).to_string(), "1");
    EXPECT_TRUE(n.differs(1));
    EXPECT_TRUE(n.differs(513));
    EXPECT_FALSE(n.differs(2));
    EXPECT_TRUE((Dim(2) * n).differs(3));
    EXPECT_EQ(floor_div(n, 1024).to_string(), "0");
    // A symbol in its own place keeps its bounds, and gets those that its place has.
    auto same = [](std::string_view name) { return Dim::symbol(name); };
    EXPECT_TRUE((n + Dim(1)).substitute(same).is_at_least(3));
    auto smaller = [](std::string_view name) { return bounded_symbol(name, {0, 5}); };
    EXPECT_EQ(annotation_of_dim(n.substitute(smaller)), "2 <= N <= 5");
    auto other = [](std::string_view) { return Dim::symbol("M"); };
    EXPECT_EQ(annotation_of_dim(n.substitute(other)), "M");
}

}  // namespace
}  // namespace sardonyx
