// Schema files: the operators of other domains, and mistakes in their descriptions.
#include "schemas/schemas.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sardonyx::schemas {
namespace {

struct Read {
    explicit Read(const std::string& text) {
        diagnostics::FileId file = sources.add("ops.toml", text);
        read_schemas(sources, file, findings, set);
    }
    diagnostics::Sources sources;
    diagnostics::Diagnostics findings;
    ops::SchemaSet set;
};

constexpr const char* kPool =
    "domain = \"my.ops\"\n"
    "[[operator]]\n"
    "name = \"Pool\"\n"
    "since = 2\n"
    "inputs = [{ name = \"X\", type = \"T\" }, { name = \"s\", type = \"FLOAT\", optional = true "
    "}]\n"
    "outputs = [{ name = \"Y\", type = \"T\", like = \"X\" }]\n"
    "[operator.types]\n"
    "T = [\"FLOAT\", \"DOUBLE\"]\n"
    "[operator.attributes]\n"
    "axis = { type = \"int\", default = -1 }\n"
    "mode = { type = \"string\", required = true, values = [\"max\", \"mean\"] }\n";

TEST(Schemas, AnOperatorAsItIsDescribed) {
    Read read(kPool);
    EXPECT_TRUE(read.findings.items().empty());
    const ops::SchemaSet::Entry* entry = read.set.find("my.ops", "Pool", 3);
    ASSERT_NE(entry, nullptr);
    const ops::Schema& schema = entry->schema;
    EXPECT_EQ(schema.since_version, 2);
    EXPECT_EQ(schema.minimum_inputs, 1);
    EXPECT_EQ(schema.maximum_inputs, 2);
    EXPECT_EQ(entry->shape_of, (std::vector<int>{0}));
    const ops::AttributeSchema* mode = schema.find_attribute("mode");
    ASSERT_NE(mode, nullptr);
    EXPECT_TRUE(mode->is_required);
    EXPECT_EQ(mode->enumeration.size(), 2U);
    const ops::AttributeSchema* axis = schema.find_attribute("axis");
    ASSERT_NE(axis, nullptr);
    EXPECT_EQ(axis->default_int, -1);
    EXPECT_EQ(read.set.find("my.ops", "Pool", 1), nullptr);
}

TEST(Schemas, AMistakeLeavesOutItsOperatorAlone) {
    Read read(std::string(kPool) +
              "[[operator]]\n"
              "name = \"Odd\"\n"
              "inputs = [{ name = \"X\", type = \"FLAOT\" }]\n"
              "outputs = [{ name = \"Y\", type = \"FLOAT\" }]\n");
    ASSERT_EQ(read.findings.items().size(), 1U);
    EXPECT_EQ(read.findings.items()[0].kind->code, "invalid-schema");
    EXPECT_NE(read.set.find("my.ops", "Pool", 2), nullptr);
    EXPECT_EQ(read.set.find("my.ops", "Odd", 1), nullptr);
}

TEST(Schemas, WhatIsNoTomlIsAFindingWithAPlace) {
    Read read("domain = \n");
    ASSERT_EQ(read.findings.items().size(), 1U);
    EXPECT_EQ(read.findings.items()[0].kind->code, "invalid-schema");
    EXPECT_TRUE(read.set.entries().empty());
}

TEST(Schemas, OneVersionIsDescribedOnce) {
    Read read(std::string(kPool) + std::string(kPool).substr(std::string(kPool).find("[[")));
    EXPECT_EQ(read.findings.items().size(), 1U);
    EXPECT_EQ(read.set.entries().size(), 1U);
}

}  // namespace
}  // namespace sardonyx::schemas
