// A call against its schema. That all surfaces say the same is
// tests/python/diagnostics/test_calls.py's matter.
#include "calls/check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sardonyx::calls {
namespace {

const ops::Schema& schema(std::string_view name, int64_t version = 21) {
    return *ops::find_schema("", name, version);
}

// Which inputs are given, as "x" and "-".
std::optional<Problem> inputs(const ops::Schema& schema, std::string_view given) {
    return check_inputs(schema, given.size(), [&](size_t i) { return given[i] == 'x'; });
}

TEST(Calls, KeywordsAreInputsOrAttributes) {
    EXPECT_EQ(place_of(schema("Clip"), "max").input, 2);
    EXPECT_EQ(place_of(schema("Softmax"), "axis").attribute->name, "axis");
    Place nothing = place_of(schema("Softmax"), "axes");
    EXPECT_EQ(nothing.attribute, nullptr);
    EXPECT_FALSE(nothing.input);
    EXPECT_FALSE(place_of(schema("Concat"), "inputs").input) << "variadic inputs have no keyword";
    EXPECT_EQ(unknown_keyword(schema("Softmax"), "axes").near, "axis");
}

TEST(Calls, RequiredInputsAreGiven) {
    EXPECT_FALSE(inputs(schema("Add"), "xx"));
    EXPECT_EQ(inputs(schema("Add"), "x")->input, 1);
    EXPECT_EQ(inputs(schema("Add"), "-x")->input, 0);
    EXPECT_TRUE(inputs(schema("Add"), "xxx"));
    EXPECT_FALSE(inputs(schema("Clip"), "x-x")) << "an optional input is left out";
    EXPECT_TRUE(inputs(schema("Concat"), "")) << "one at least";
    EXPECT_FALSE(inputs(schema("Concat"), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
}

TEST(Calls, OutputsAreNoMoreThanThereAre) {
    EXPECT_FALSE(check_outputs(schema("Dropout"), 2));
    EXPECT_TRUE(check_outputs(schema("Dropout"), 3));
}

TEST(Calls, RequiredAttributesAreGiven) {
    std::vector<std::string> missing;
    check_required(
        schema("Cast"), [](std::string_view) { return false; },
        [&](const Problem& problem) { missing.push_back(problem.message()); });
    ASSERT_EQ(missing.size(), 1);
    EXPECT_NE(missing[0].find("`to`"), std::string::npos) << missing[0];
}

TEST(Calls, StringsAreThoseThatTheStandardLists) {
    const ops::AttributeSchema& mode = *place_of(schema("Pad"), "mode").attribute;
    EXPECT_FALSE(check_enumeration(mode, "reflect"));
    std::optional<Problem> problem = check_enumeration(mode, "reflekt");
    ASSERT_TRUE(problem);
    EXPECT_EQ(problem->near, "reflect");
}

}  // namespace
}  // namespace sardonyx::calls
