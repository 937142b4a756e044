// Types of values, taken apart and put together.
#include <gtest/gtest.h>
#include <sardonyx/sardonyx.h>

#include "complaint.h"

namespace {

using sardonyx::TypeInfo;
using Kind = sardonyx::TypeInfo::Kind;

TEST(TypeInfo, SaysWhatTheTextSays) {
    TypeInfo type = TypeInfo::parse("FLOAT[2, N, 2*N + 1, ?]");
    EXPECT_EQ(type.kind, Kind::kTensor);
    EXPECT_EQ(type.element_type, "FLOAT");
    ASSERT_EQ(type.dims->size(), 4u);
    EXPECT_EQ(type.dims->at(0).value, 2);
    EXPECT_EQ(type.dims->at(1), (sardonyx::DimInfo{"N", std::nullopt}));
    EXPECT_FALSE(type.dims->at(2).value.has_value());
    EXPECT_EQ(type.dims->at(3), sardonyx::DimInfo());

    EXPECT_TRUE(TypeInfo::parse("INT64").dims->empty());
    EXPECT_FALSE(TypeInfo::parse("INT64[...]").dims.has_value());
    EXPECT_EQ(TypeInfo::parse("?").kind, Kind::kUnknown);
    TypeInfo map = TypeInfo::parse("Map[INT64, FLOAT]");
    EXPECT_EQ(map.kind, Kind::kMap);
    EXPECT_EQ(map.element_type, "INT64");
    EXPECT_EQ(map.element.at(0).element_type, "FLOAT");
}

TEST(TypeInfo, ComesBackFromItsText) {
    for (const char* text :
         {"FLOAT", "FLOAT[2, N]", "FLOAT[...]", "?", "FLOAT16[?, 2*N + 1]", "Sequence[FLOAT[N]]",
          "Optional[Sequence[INT64[...]]]", "Map[STRING, FLOAT]", "SparseTensor[FLOAT[2, 3]]"}) {
        TypeInfo type = TypeInfo::parse(text);
        EXPECT_EQ(TypeInfo::parse(type.to_text()), type) << text << " " << type.to_text();
    }
}

TEST(TypeInfo, TextsAndPartsThatAreNoType) {
    EXPECT_NE(complaint_of([] { TypeInfo::parse("FLOAT["); }).find("`FLOAT[` is not a type"),
              std::string::npos);
    TypeInfo type;
    type.kind = Kind::kSequence;
    EXPECT_NE(complaint_of([&] { (void)type.to_text(); }).find("one element"), std::string::npos);
    type.kind = Kind::kTensor;
    type.element_type = "FLOOT";
    EXPECT_NE(complaint_of([&] { (void)type.to_text(); }).find("not a type"), std::string::npos);
    type.element_type = "FLOAT";
    for (const char* dim : {"N, M", "N]", "...", "2 2"}) {
        type.dims = {{sardonyx::DimInfo{dim, std::nullopt}}};
        EXPECT_NE(complaint_of([&] { (void)type.to_text(); }).find("is not a dimension"),
                  std::string::npos)
            << dim;
    }
}

TEST(TypeInfo, IsWhatAModelHas) {
    sardonyx::Model model = sardonyx::compile_text(
        "from sardonyx import FLOAT, opset20 as op, script\n"
        "@script()\n"
        "def f(x: FLOAT['N', 4]):\n"
        "    return op.Concat(x, x, axis=0)\n");
    TypeInfo type = TypeInfo::parse(model.outputs().at(0).type);
    EXPECT_EQ(type.dims->at(0).text, "2*N");
    EXPECT_EQ(type.dims->at(1).value, 4);
}

}  // namespace
