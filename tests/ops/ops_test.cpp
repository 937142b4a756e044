// The lookups of ops.h. That the tables equal the onnx package is tests/python/ops/test_ops.py's
// matter.
#include "ops/ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace sardonyx::ops {
namespace {

TEST(Ops, SchemasAreSortedByDomainNameAndVersion) {
    std::span<const Schema> all = schemas();
    ASSERT_FALSE(all.empty());
    auto key = [](const Schema& s) { return std::tuple(s.domain, s.name, s.since_version); };
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                               [&](const Schema& a, const Schema& b) { return key(a) < key(b); }));
}

TEST(Ops, FindSchemaAnswersTheVersionInForce) {
    EXPECT_EQ(find_schema("", "Add", 1)->since_version, 1);
    EXPECT_EQ(find_schema("", "Add", 5)->since_version, 1);
    EXPECT_EQ(find_schema("", "Add", 6)->since_version, 6);
    EXPECT_EQ(find_schema("", "Add", 13)->since_version, 13);
    EXPECT_EQ(find_schema("ai.onnx", "Add", 13), find_schema("", "Add", 13));
    EXPECT_EQ(find_schema("", "Gelu", 19), nullptr);
    EXPECT_EQ(find_schema("", "Gelu", 20)->since_version, 20);
    EXPECT_EQ(find_schema("", "Add", 0), nullptr);
    EXPECT_EQ(find_schema("", "Add", INT64_MIN), nullptr);
    EXPECT_NE(find_schema("", "Add", INT64_MAX), nullptr);
    EXPECT_EQ(find_schema("", "", 18), nullptr);
    EXPECT_EQ(find_schema("", "Ad", 18), nullptr);
    EXPECT_EQ(find_schema("", "ZZZ", 18), nullptr);
    EXPECT_EQ(find_schema("ai.onnx.ml", "Add", 18), nullptr);
    EXPECT_EQ(find_schema("no.such.domain", "Add", 18), nullptr);
}

TEST(Ops, ADeprecatedOperatorIsFound) {
    const Schema* upsample = find_schema("", "Upsample", 18);
    ASSERT_NE(upsample, nullptr);
    EXPECT_TRUE(upsample->is_deprecated);
}

TEST(Ops, SchemaVersionsAreOldestFirst) {
    std::span<const Schema> versions = schema_versions("", "Softmax");
    ASSERT_GE(versions.size(), 3U);
    EXPECT_EQ(versions[0].since_version, 1);
    EXPECT_EQ(versions[1].since_version, 11);
    EXPECT_EQ(versions[2].since_version, 13);
    EXPECT_TRUE(schema_versions("", "NoSuchOperator").empty());
    EXPECT_TRUE(schema_versions("no.such.domain", "Add").empty());
}

TEST(Ops, ParametersPastTheEndAreTheVariadicOne) {
    const Schema& concat = *find_schema("", "Concat", 13);
    EXPECT_EQ(concat.input(0), &concat.inputs[0]);
    EXPECT_EQ(concat.input(100), &concat.inputs[0]);
    EXPECT_EQ(concat.output(1), nullptr);
    const Schema& clip = *find_schema("", "Clip", 13);
    EXPECT_EQ(clip.input(2)->name, "max");
    EXPECT_EQ(clip.input(2)->option, ParameterOption::kOptional);
    EXPECT_EQ(clip.input(3), nullptr);
    EXPECT_EQ(find_schema("", "Constant", 13)->input(0), nullptr);
}

TEST(Ops, AttributesAreFoundByName) {
    const Schema& conv = *find_schema("", "Conv", 22);
    const AttributeSchema* auto_pad = conv.find_attribute("auto_pad");
    ASSERT_NE(auto_pad, nullptr);
    EXPECT_EQ(auto_pad->type, AttributeType::kString);
    EXPECT_EQ(auto_pad->default_string, "NOTSET");
    EXPECT_EQ(auto_pad->enumeration.size(), 4U);
    EXPECT_EQ(conv.find_attribute("group")->default_int, 1);
    EXPECT_EQ(conv.find_attribute("autopad"), nullptr);
    EXPECT_EQ(conv.find_attribute(""), nullptr);
    EXPECT_TRUE(find_schema("", "Einsum", 12)->find_attribute("equation")->enumeration.empty());
    EXPECT_TRUE(find_schema("", "Cast", 19)->find_attribute("to")->is_required);
}

TEST(Ops, TypeSetsAdmitWhatIsNotCertainlyWrong) {
    const Schema& add = *find_schema("", "Add", 14);
    const TypeSet& numbers = add.type_variables[add.inputs[0].type_variable].types;
    EXPECT_TRUE(numbers.admits(Type::tensor(ElementType::kFloat)));
    EXPECT_TRUE(numbers.admits(Type::tensor(ElementType::kUndefined)));
    EXPECT_TRUE(numbers.admits(Type()));
    EXPECT_FALSE(numbers.admits(Type::tensor(ElementType::kString)));
    EXPECT_FALSE(numbers.admits(Type::sparse_tensor(ElementType::kFloat)));
    EXPECT_FALSE(numbers.admits(Type::sequence(Type::tensor(ElementType::kFloat))));
    EXPECT_FALSE(numbers.admits(Type::optional(Type())));
    EXPECT_FALSE(numbers.admits(Type::map(ElementType::kInt64, Type())));

    const Schema& identity = *find_schema("", "Identity", 16);
    const TypeSet& anything = identity.type_variables[identity.inputs[0].type_variable].types;
    Type sequence = Type::sequence(Type::tensor(ElementType::kInt64));
    EXPECT_TRUE(anything.admits(Type::tensor(ElementType::kString)));
    EXPECT_TRUE(anything.admits(sequence));
    EXPECT_TRUE(anything.admits(Type::sequence(Type())));
    EXPECT_TRUE(anything.admits(Type::optional(sequence)));
    EXPECT_TRUE(anything.admits(Type::optional(Type::tensor(ElementType::kInt64))));
    EXPECT_FALSE(anything.admits(Type::map(ElementType::kInt64, Type())));
    EXPECT_FALSE(anything.admits(Type::sequence(sequence)));

    const Schema& zip_map = *find_schema("ai.onnx.ml", "ZipMap", 1);
    const TypeSet& maps = zip_map.type_variables[zip_map.outputs[0].type_variable].types;
    Type map = Type::map(ElementType::kInt64, Type::tensor(ElementType::kFloat));
    EXPECT_TRUE(maps.admits(Type::sequence(map)));
    EXPECT_FALSE(maps.admits(Type::tensor(ElementType::kFloat)));
}

TEST(Ops, AFixedTypeIsATypeVariableOfItsOwn) {
    const Schema& reshape = *find_schema("", "Reshape", 14);
    const TypeVariable& shape = reshape.type_variables[reshape.inputs[1].type_variable];
    EXPECT_EQ(shape.name, "tensor(int64)");
    EXPECT_EQ(shape.types.tensor, 1U << 7);
}

TEST(Ops, NearestOperatorIsOneInForce) {
    EXPECT_EQ(nearest_operator("", "Relue", 18), "Relu");
    EXPECT_EQ(nearest_operator("", "softmax", 18), "Softmax");
    EXPECT_EQ(nearest_operator("", "Gelo", 20), "Gelu");
    EXPECT_NE(nearest_operator("", "Gelo", 19), "Gelu");
    EXPECT_EQ(nearest_operator("", "Upsampl", 18), "");  // deprecated since opset 10
    EXPECT_EQ(nearest_operator("", "Upsampl", 9), "Upsample");
    EXPECT_EQ(nearest_operator("", "Qwertyuiop", 18), "");
    EXPECT_EQ(nearest_operator("no.such.domain", "Add", 18), "");
}

TEST(Ops, VersionsOfDomainsAndOfTheFormat) {
    EXPECT_EQ(find_domain("ai.onnx"), find_domain(""));
    EXPECT_EQ(find_domain("my.domain"), nullptr);
    EXPECT_EQ(ir_version_for_opset("", 18), 8);
    EXPECT_EQ(ir_version_for_opset("ai.onnx", 18), 8);
    EXPECT_EQ(ir_version_for_opset("ai.onnx.ml", 3), 8);
    EXPECT_EQ(ir_version_for_opset("", 9999), 0);
    EXPECT_EQ(ir_version_for_opset("my.domain", 1), 0);
    EXPECT_GE(newest_ir_version(), 13);
    EXPECT_FALSE(onnx_version().empty());
}

}  // namespace
}  // namespace sardonyx::ops
