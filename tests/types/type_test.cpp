#include "types/type.h"

#include <gtest/gtest.h>

namespace sardonyx {
namespace {

Type parsed_type(std::string_view text) {
    std::optional<Type> type = parse_type(text);
    EXPECT_TRUE(type.has_value()) << text;
    return type.value_or(Type());
}

TEST(Type, TextRoundTrips) {
    for (std::string_view text :
         {"?", "FLOAT", "FLOAT[...]", "FLOAT[2, N]", "FLOAT[?, 2*N+1]", "INT64[max(N, 3), 4]",
          "?[...]", "?[2]", "?[]", "STRING['batch size', 'a]b']", "FLOAT8E4M3FN[3]",
          "Sequence[FLOAT[N]]", "Sequence[?]", "Optional[Sequence[INT64]]", "Optional[FLOAT[...]]",
          "Map[INT64, FLOAT]", "Map[STRING, Sequence[Map[INT64, FLOAT[2, 3]]]]",
          "SparseTensor[FLOAT[2]]"}) {
        EXPECT_EQ(parsed_type(text).to_string(), text);
    }
}

TEST(Type, ParsesWithSpaces) {
    EXPECT_EQ(parsed_type(" FLOAT [ 2 , N + 1 ] ").to_string(), "FLOAT[2, N+1]");
    EXPECT_EQ(parsed_type("FLOAT[]"), Type::tensor(ElementType::kFloat, Shape()));
}

TEST(Type, RefusesWhatIsNoType) {
    for (std::string_view bad :
         {"", "float", "FLOAT[", "FLOAT]", "FLOAT[2", "FLOAT[2, ]", "FLOAT[-1]", "FLOAT[2][3]",
          "FLOAT[a b]", "Sequence", "Sequence[]", "Sequence[FLOAT", "Map[INT64]", "Map[FOO, FLOAT]",
          "SparseTensor[Sequence[FLOAT]]", "[2]", "FLOAT 2"}) {
        EXPECT_FALSE(parse_type(bad).has_value()) << bad;
    }
    std::string deep;
    for (int i = 0; i < 10'000; ++i) {
        deep += "Sequence[";
    }
    EXPECT_FALSE(parse_type(deep).has_value());
    EXPECT_FALSE(parse_type(deep + "FLOAT" + std::string(10'000, ']')).has_value());
}

TEST(Type, Equality) {
    EXPECT_EQ(parsed_type("FLOAT[?, N]"), parsed_type("FLOAT[?, N]"));
    EXPECT_FALSE(parsed_type("FLOAT[?]") == parsed_type("FLOAT[N]"));
    EXPECT_FALSE(parsed_type("FLOAT[...]") == parsed_type("FLOAT"));
    EXPECT_FALSE(parsed_type("FLOAT[2]") == parsed_type("SparseTensor[FLOAT[2]]"));
    EXPECT_EQ(parsed_type("Sequence[FLOAT[2]]"), parsed_type("Sequence[FLOAT[2]]"));
    EXPECT_FALSE(parsed_type("Sequence[FLOAT[2]]") == parsed_type("Sequence[FLOAT[3]]"));
    EXPECT_FALSE(parsed_type("Map[INT64, FLOAT]") == parsed_type("Map[STRING, FLOAT]"));
}

struct Row {
    std::string_view a, b, expected;
};

TEST(Type, Join) {
    for (const Row& row : {
             Row{"FLOAT[2, N]", "FLOAT[2, N]", "FLOAT[2, N]"},
             Row{"FLOAT[2, N]", "FLOAT[3, N]", "FLOAT[?, N]"},
             Row{"FLOAT[2]", "FLOAT[2, 3]", "FLOAT[...]"},
             Row{"FLOAT[2]", "INT64[2]", "?[2]"},
             Row{"FLOAT[2]", "?", "?"},
             Row{"FLOAT[2]", "Sequence[FLOAT[2]]", "?"},
             Row{"Sequence[FLOAT[2]]", "Sequence[FLOAT[3]]", "Sequence[FLOAT[?]]"},
             Row{"Map[INT64, FLOAT]", "Map[STRING, FLOAT]", "Map[?, FLOAT]"},
             Row{"FLOAT[?]", "FLOAT[?]", "FLOAT[?]"},
         }) {
        EXPECT_EQ(join(parsed_type(row.a), parsed_type(row.b)).to_string(), row.expected);
        EXPECT_EQ(join(parsed_type(row.b), parsed_type(row.a)).to_string(), row.expected);
    }
}

TEST(Type, Merge) {
    for (const Row& row : {
             Row{"FLOAT[2, ?]", "FLOAT[?, 3]", "FLOAT[2, 3]"},
             Row{"FLOAT[N]", "FLOAT[3]", "FLOAT[3]"},
             Row{"FLOAT[3]", "FLOAT[N]", "FLOAT[3]"},
             Row{"FLOAT[N]", "FLOAT[M]", "FLOAT[N]"},
             Row{"FLOAT[...]", "?[2]", "FLOAT[2]"},
             Row{"?", "Sequence[FLOAT]", "Sequence[FLOAT]"},
             Row{"Sequence[?]", "Sequence[FLOAT[N]]", "Sequence[FLOAT[N]]"},
             Row{"Map[INT64, ?]", "Map[?, FLOAT]", "Map[INT64, FLOAT]"},
             Row{"FLOAT[2]", "INT64[2]", ""},
             Row{"FLOAT[2]", "FLOAT[3]", ""},
             Row{"FLOAT[N+1]", "FLOAT[N]", ""},
             Row{"FLOAT[2]", "FLOAT", ""},
             Row{"FLOAT[2]", "Optional[FLOAT[2]]", ""},
             Row{"Sequence[FLOAT[2]]", "Sequence[FLOAT[3]]", ""},
         }) {
        std::optional<Type> merged = merge(parsed_type(row.a), parsed_type(row.b));
        EXPECT_EQ(merged.has_value() ? merged->to_string() : "", row.expected) << row.a << row.b;
    }
}

}  // namespace
}  // namespace sardonyx
