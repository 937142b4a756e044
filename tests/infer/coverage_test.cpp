// Every operator that the tables know has an inference function, deprecated and experimental ones
// included; and every row names an operator.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "infer/operators.h"
#include "ops/ops.h"

namespace sardonyx::infer {
namespace {

struct Row {
    std::string_view domain;
    std::string_view name;
};

constexpr Row kRows[] = {
#define SDX_INFER(domain, name, function) {domain, name},
#include "infer/operators.def"
#undef SDX_INFER
};

TEST(Coverage, EveryOperatorHasARow) {
    for (const ops::Schema& schema : ops::schemas()) {
        EXPECT_NE(find_operator(schema.domain, schema.name), nullptr)
            << schema.domain << "." << schema.name << " version " << schema.since_version;
    }
}

TEST(Coverage, EveryRowNamesAnOperatorOnce) {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const Row& row : kRows) {
        EXPECT_FALSE(ops::schema_versions(row.domain, row.name).empty())
            << row.domain << "." << row.name;
        EXPECT_TRUE(seen.insert({row.domain, row.name}).second)
            << row.domain << "." << row.name << " has two rows";
    }
}

}  // namespace
}  // namespace sardonyx::infer
