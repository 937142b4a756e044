// Literals of the command line as tensors.
#include "driver/literal.h"

#include <gtest/gtest.h>

#include <string>

namespace sardonyx::driver {
namespace {

// The tensor as text, or what is wrong.
std::string made(const std::string& text, ElementType type = ElementType::kUndefined) {
    Result<elaborate::Object> literal = read_numbers(text);
    if (!literal.ok()) {
        return literal.error().message;
    }
    Result<Tensor> tensor = to_tensor(*literal, type);
    return tensor.ok() ? to_string(*tensor) : tensor.error().message;
}

TEST(Literal, TakesTheTypeOfItsElementsOrTheOneThatIsDeclared) {
    EXPECT_EQ(made("[True, 2]"), "INT64[2] {1, 2}");
    EXPECT_EQ(made("[[1, 0.5]]"), "FLOAT[1, 2] {1, 0.5}");
    EXPECT_EQ(made("[18446744073709551615]", ElementType::kUint64),
              "UINT64[1] {18446744073709551615}");
    EXPECT_EQ(made("[]", ElementType::kFloat), "FLOAT[0] {}");
    EXPECT_EQ(made("['a']"), "STRING[1] {\"a\"}");
}

TEST(Literal, SaysWhyItIsNoTensor) {
    EXPECT_EQ(made("[[1], [2, 3]]"),
              "a nested list whose rows differ in length: make every row the same length");
    EXPECT_EQ(made("[1, 'a']"),
              "`[1, 'a']` mixes numbers and text: give numbers alone, or strings alone");
    EXPECT_EQ(made("['a']", ElementType::kFloat),
              "`['a']` where a tensor of FLOAT is needed: give a number");
    EXPECT_EQ(made("1.5", ElementType::kInt64).rfind("`1.5` would lose its fraction as INT64", 0),
              0U);
    EXPECT_EQ(made("[None]"), "`None` is not an element of a tensor");
}

}  // namespace
}  // namespace sardonyx::driver
