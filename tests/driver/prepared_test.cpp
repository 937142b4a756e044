// Which requests get a model that was compiled before them.
#include "driver/prepared.h"

#include <gtest/gtest.h>

#include "models/runtimes.h"

namespace sardonyx::driver {
namespace {

// Whether the model of one request is given to another one.
bool is_given(const ScriptRequest& kept, const ScriptRequest& wanted) {
    PreparedModel prepared;
    prepared.keep(kept, {std::make_unique<ir::Model>(), {}});
    return prepared.take(wanted).has_value();
}

TEST(PreparedModel, IsOfPlainRequestsOnly) {
    ScriptRequest plain;
    EXPECT_TRUE(is_given(plain, plain));
    ScriptRequest typed;
    typed.options.input_types = {{"x", Type::tensor(ElementType::kFloat, Shape{Dim(2)})}};
    EXPECT_FALSE(is_given(typed, typed));
    ScriptRequest other;
    other.options.opset = 20;
    EXPECT_FALSE(is_given(plain, other));
    other = {};
    other.finish.producer_name = "caller";
    EXPECT_FALSE(is_given(plain, other));
    other = {};
    other.finish.runtime = models::Runtime{1, 20};
    EXPECT_FALSE(is_given(plain, other));
    other = {};
    other.form = Form::kFunction;
    EXPECT_FALSE(is_given(plain, other));
}

TEST(PreparedModel, IsGivenOnceAndForgotten) {
    PreparedModel prepared;
    EXPECT_FALSE(prepared.take({}).has_value());
    prepared.keep({}, {std::make_unique<ir::Model>(), {"warning", "[]"}});
    std::optional<ReportedModel> taken = prepared.take({});
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->report.text, "warning");
    EXPECT_FALSE(prepared.take({}).has_value());
    prepared.keep({}, {nullptr, {"error", "[]"}});
    EXPECT_FALSE(prepared.take({}).has_value());
    prepared.keep({}, {std::make_unique<ir::Model>(), {}});
    prepared.forget();
    EXPECT_FALSE(prepared.take({}).has_value());
}

}  // namespace
}  // namespace sardonyx::driver
