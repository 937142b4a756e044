// The annotations of a function against the tensors of a call.
#include "eager/signature.h"

#include <gtest/gtest.h>

namespace sardonyx::eager {
namespace {

std::string problem(const Signature& signature, const std::vector<const Tensor*>& given) {
    auto tensors_of = [&](size_t i, auto visit) {
        if (i < given.size() && given[i] != nullptr) {
            visit(*given[i], false);
        }
    };
    return signature.problem(tensors_of).value_or("");
}

TEST(Signature, OneNameIsOneSize) {
    Signature signature(
        "f", {{"x", *parse_type("FLOAT[N,2]")}, {"y", Type()}, {"z", *parse_type("FLOAT[2*N]")}});
    Tensor x = Tensor::zeros(ElementType::kFloat, {3, 2});
    Tensor fits = Tensor::zeros(ElementType::kFloat, {6});
    Tensor wrong = Tensor::zeros(ElementType::kFloat, {5});
    Tensor whole = Tensor::zeros(ElementType::kInt64, {5});
    EXPECT_EQ(problem(signature, {&x, &whole, &fits}), "");
    EXPECT_EQ(problem(signature, {&x, nullptr, &wrong}),
              "`z` of `f` is `FLOAT[2*N]`, and `FLOAT[5]` is given: `2*N` is 6");
    EXPECT_EQ(problem(signature, {nullptr, nullptr, &wrong}), "");  // N may be anything
    EXPECT_EQ(problem(signature, {&fits}), "`x` of `f` is `FLOAT[N, 2]`, and `FLOAT[6]` is given");
    EXPECT_EQ(problem(signature, {nullptr, nullptr, &whole}),
              "`z` of `f` is `FLOAT[2*N]`, and `INT64[5]` is given: convert it, as NumPy's "
              "`z.astype(\"float32\")` does");
}

TEST(Signature, TakesTensorsForOptionalAndSparseInputs) {
    Tensor vector = Tensor::zeros(ElementType::kFloat, {3});
    Tensor whole = Tensor::zeros(ElementType::kInt64, {3});
    for (const char* text :
         {"Optional[FLOAT[3]]", "SparseTensor[FLOAT[3]]", "Optional[FLOAT[...]]"}) {
        Signature signature("f", {{"x", *parse_type(text)}});
        EXPECT_TRUE(signature.has_types());
        EXPECT_EQ(problem(signature, {&vector}), "") << text;
        EXPECT_NE(problem(signature, {&whole}), "") << text;
    }
    EXPECT_NE(problem(Signature("f", {{"x", *parse_type("Optional[FLOAT]")}}), {&vector}), "");
    EXPECT_FALSE(Signature("f", {{"x", Type()}}).has_types());
}

TEST(Signature, ItemsOfListsHaveTheTypeOfTheSequence) {
    Tensor vector = Tensor::zeros(ElementType::kFloat, {3});
    Tensor whole = Tensor::zeros(ElementType::kInt64, {3});
    Signature signature("f", {{"x", *parse_type("Sequence[FLOAT[...]]")}});
    auto items = [&](const Tensor& second) {
        return signature
            .problem([&](size_t, auto visit) { visit(vector, true) && visit(second, true); })
            .value_or("");
    };
    EXPECT_EQ(items(vector), "");
    EXPECT_NE(items(whole), "");
    EXPECT_NE(problem(signature, {&vector}), "");
}

TEST(Signature, ItemsOfListsHaveTheShapeOfTheSequence) {
    Tensor vector = Tensor::zeros(ElementType::kFloat, {3});
    Tensor longer = Tensor::zeros(ElementType::kFloat, {4});
    Tensor matrix = Tensor::zeros(ElementType::kFloat, {3, 4});
    auto items = [&](std::string_view type, const Tensor& second) {
        return Signature("f", {{"x", *parse_type(type)}})
            .problem([&](size_t, auto visit) { visit(vector, true) && visit(second, true); })
            .value_or("");
    };
    for (const Tensor* second : {&vector, &longer, &matrix}) {
        EXPECT_EQ(items("Sequence[FLOAT[...]]", *second), "");
    }
    EXPECT_EQ(items("Sequence[FLOAT[?]]", longer), "");
    EXPECT_NE(items("Sequence[FLOAT[?]]", matrix), "");
    EXPECT_NE(items("Sequence[FLOAT[3]]", longer), "");
    EXPECT_EQ(items("Sequence[FLOAT[N]]", vector), "");
    EXPECT_NE(items("Optional[Sequence[FLOAT[N]]]", longer), "");  // a name is one size
    EXPECT_NE(items("Sequence[FLOAT]", vector), "");
}

}  // namespace
}  // namespace sardonyx::eager
