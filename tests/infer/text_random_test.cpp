// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

TEST(Text, Types) {
    EXPECT_EQ(types_of("StringConcat", 20, {"STRING[2, 1]", "STRING[3]"}), "STRING[2, 3]");
    EXPECT_EQ(types_of("StringSplit", 20, {"STRING[2, N]"}, {}, 2), "STRING[2, N, ?] INT64[2, N]");
    EXPECT_EQ(types_of("RegexFullMatch", 20, {"STRING[2, N]"}), "BOOL[2, N]");
    EXPECT_EQ(types_of("StringNormalizer", 10, {"STRING[3]"}), "STRING[3]");
    EXPECT_EQ(types_of("StringNormalizer", 10, {"STRING[1, 3]"}, {{"stopwords", Strings{"a"}}}),
              "STRING[1, ?]");
    EXPECT_EQ(types_of("TfIdfVectorizer", 9, {"INT64[N, 3]"}, {{"ngram_indexes", Ints{0, 6, 1}}}),
              "FLOAT[N, 7]");
}

TEST(Random, Types) {
    EXPECT_EQ(types_of("RandomNormal", 22, {}, {{"shape", Ints{2, 3}}}), "FLOAT[2, 3]");
    EXPECT_EQ(types_of("RandomUniformLike", 1, {"FLOAT[N, 3]"}, {{"dtype", int64_t{11}}}),
              "DOUBLE[N, 3]");
    EXPECT_EQ(types_of("Bernoulli", 15, {"FLOAT[N]"}), "FLOAT[N]");
    EXPECT_EQ(types_of("Multinomial", 7, {"FLOAT[N, 4]"}, {{"sample_size", int64_t{3}}}),
              "INT32[N, 3]");
    EXPECT_EQ(finding_of("RandomNormal", 22, {}, {{"shape", Ints{2, -3}}}),
              "invalid-value: `shape` of `RandomNormal` is [2,-3], and sizes are not negative");
    EXPECT_EQ(
        finding_of("RandomNormal", 22, {}, {{"shape", Ints{2}}, {"dtype", int64_t{99}}}),
        "unsupported-type: `dtype` of `RandomNormal` is 99, which is not an element type, and "
        "the output cannot be that (write a member of `TensorProto.DataType` that the output "
        "takes)");
}

}  // namespace
}  // namespace sardonyx::infer
