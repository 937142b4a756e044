// Eager calls with a surface of their own: numbers and tensors of C++ are the arguments.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <variant>

#include "eager/arguments.h"
#include "eager/control.h"
#include "eager/emitter.h"
#include "eval/eager.h"
#include "lowering/operators.h"

namespace sardonyx::eager {
namespace {

using Values = std::vector<RuntimeValue>;

struct Refused : std::runtime_error {
    Refused(Wrong what, const std::string& message) : std::runtime_error(message), wrong(what) {}
    Wrong wrong;
};

// Null: nothing; a pointer to a tensor, or to a number.
using Held = std::variant<RuntimeValue, int64_t, double>;

struct Numbers {
    using Argument = const Held*;

    static bool is_there(Argument a) { return a != nullptr; }
    static bool is_given(Argument) { return true; }
    static const RuntimeValue* held(Argument a) { return std::get_if<RuntimeValue>(a); }
    static bool is_literal(Argument a) { return held(a) == nullptr; }
    static bool is_list(Argument) { return false; }
    static ElementType literal_type(Argument a) {
        return std::holds_alternative<int64_t>(*a) ? ElementType::kInt64 : ElementType::kFloat;
    }
    static Tensor from_literal(Argument a, ElementType type) {
        double number = std::holds_alternative<int64_t>(*a)
                            ? static_cast<double>(std::get<int64_t>(*a))
                            : std::get<double>(*a);
        type = type == ElementType::kUndefined ? literal_type(a) : type;
        return std::move(*tensor_from_doubles(type, {}, {&number, 1}));
    }
    static bool is_list_of_tensors(Argument) { return false; }
    static Tensor from_list_of_tensors(Argument, ElementType) { return Tensor::scalar(0.0F); }
    static RuntimeValue from_other(Argument) { return {}; }
    static bool is_tensor(Argument) { return false; }
    static ir::Attribute attribute(const ops::AttributeSchema& schema, Argument a) {
        return ir::make_attribute(schema.name, std::get<int64_t>(*a));
    }
    static void evaluate(const eval::OperatorEntry& entry, int64_t version,
                         std::span<const RuntimeValue* const> inputs,
                         std::span<const ir::Attribute> attributes,
                         std::span<RuntimeValue> outputs) {
        auto status = eval::run_operator(entry, version, inputs, attributes, outputs);
        if (!status.ok()) {
            refuse(Wrong::kEvaluation, status.error().message);
        }
    }
    [[noreturn]] static void refuse(Wrong wrong, const std::string& message) {
        throw Refused(wrong, message);
    }
};

Held floats(std::vector<float> elements) {
    return RuntimeValue(Tensor::of<float>({static_cast<int64_t>(elements.size())}, elements));
}

const ops::Schema& schema_of(std::string_view op) {
    return *ops::find_schema("", op, 21);
}

std::string describe(std::string_view op, std::initializer_list<Held> inputs) {
    CallMemory memory;
    Arguments<Numbers> arguments(schema_of(op), inputs.size(), memory);
    for (const Held& input : inputs) {
        arguments.add(&input);
    }
    arguments.finish();
    Inputs converted = convert<Numbers>(schema_of(op), arguments.inputs(), memory);
    std::string text;
    for (const RuntimeValue* value : converted.values) {
        text += (text.empty() ? "" : " ") + value->describe();
    }
    return text;
}

TEST(Arguments, LiteralsTakeTheTypeOfTheTensorsBesideThem) {
    EXPECT_EQ(describe("Add", {floats({1, 2}), int64_t{3}}), "FLOAT[2] FLOAT");
    EXPECT_EQ(describe("Add", {int64_t{3}, floats({1, 2})}), "FLOAT FLOAT[2]");
    EXPECT_EQ(describe("Add", {int64_t{3}, int64_t{4}}), "INT64 INT64");
    EXPECT_EQ(describe("Sin", {int64_t{3}}), "FLOAT");  // which takes no integers
    EXPECT_EQ(describe("Gather", {floats({1, 2}), int64_t{1}}), "FLOAT[2] INT64");
}

TEST(Arguments, MistakesAreRefused) {
    CallMemory memory;
    Held x = floats({1});
    Arguments<Numbers> lacking(schema_of("Add"), 1, memory);
    lacking.add(&x);
    EXPECT_THROW(lacking.finish(), Refused);
    Arguments<Numbers> twice(schema_of("Add"), 1, memory);
    twice.add(&x);
    EXPECT_THROW(twice.add("A", &x), Refused);
    EXPECT_THROW(twice.add("bxis", &x), Refused);
    Arguments<Numbers> cast(schema_of("Cast"), 1, memory);
    cast.add(&x);
    try {
        cast.finish();
        FAIL();
    } catch (const Refused& refused) {
        EXPECT_EQ(refused.wrong, Wrong::kType);
        EXPECT_STREQ(refused.what(), "`Cast` needs the attribute `to`: give `to=...`");
    }
}

TEST(OutputCount, IsSettledOrTheCallers) {
    EXPECT_EQ(settled_output_count(schema_of("Add"), {}, {}), 1);
    EXPECT_EQ(settled_output_count(schema_of("TopK"), {}, {}), std::nullopt);
    ir::Attribute parts = ir::make_attribute("num_outputs", int64_t{3});
    EXPECT_EQ(settled_output_count(schema_of("Split"), {}, {&parts, 1}), 3);
    EXPECT_EQ(output_count(schema_of("TopK"), 0), 2);
    EXPECT_EQ(output_count(schema_of("Dropout"), 0), 1);
    EXPECT_EQ(output_count(schema_of("Dropout"), 9), 2);
}

TEST(Emitter, RunsWhatItEmits) {
    Emitter<Numbers> e;
    RuntimeValue a = std::get<RuntimeValue>(floats({-7, 7}));
    RuntimeValue b = std::get<RuntimeValue>(floats({3, -3}));
    auto result = lowering::lower_binary(e, lowering::Binary::kMod, &a, &b);
    std::span<const float> elements = result->tensor().elements<float>();
    EXPECT_EQ(elements[0], 2);  // the sign of the divisor
    EXPECT_EQ(elements[1], -2);
}

Result<Values> control(std::string_view op, std::vector<RuntimeValue> inputs, Body body,
                       std::vector<ir::Attribute> attributes = {}) {
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& input : inputs) {
        pointers.push_back(&input);
    }
    NamedBody named{op == "If" ? "then_branch" : "body", std::move(body)};
    return run_control(schema_of(op), pointers, attributes, {&named, 1});
}

// The condition, the sum that is carried, and the number of the iteration as a row.
Result<Values> sum(std::span<const RuntimeValue> arguments) {
    int64_t i = arguments[0].tensor().elements<int64_t>()[0];
    int64_t total = arguments[2].tensor().elements<int64_t>()[0] + i;
    return Values{Tensor::scalar<bool>(total < 6), Tensor::scalar(total),
                  Tensor::of<int64_t>({1}, std::array<int64_t, 1>{i})};
}

TEST(Control, LoopCarriesAndStacks) {
    auto results =
        control("Loop", {Tensor::scalar<int64_t>(9), {}, Tensor::scalar<int64_t>(0)}, sum);
    ASSERT_TRUE(results.ok()) << results.error().message;
    EXPECT_EQ((*results)[0].tensor().elements<int64_t>()[0], 6);
    EXPECT_EQ((*results)[1].describe(), "INT64[4, 1]");
}

TEST(Control, RowsOfNoIterationHaveTheShapeOfTheBodys) {
    auto results =
        control("Loop", {Tensor::scalar<int64_t>(0), {}, Tensor::scalar<int64_t>(5)}, sum);
    ASSERT_TRUE(results.ok());
    EXPECT_EQ((*results)[0].tensor().elements<int64_t>()[0], 5);
    EXPECT_EQ((*results)[1].describe(), "INT64[0, 1]");
}

TEST(Control, ScanGoesBackwardsAndAlongOtherAxes) {
    auto body = [](std::span<const RuntimeValue> arguments) -> Result<Values> {
        return Values{arguments[0]};
    };
    RuntimeValue x = Tensor::of<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
    std::vector<ir::Attribute> attributes{
        ir::make_attribute("num_scan_inputs", int64_t{1}),
        ir::make_attribute("scan_input_axes", std::vector<int64_t>{1}),
        ir::make_attribute("scan_input_directions", std::vector<int64_t>{1}),
        ir::make_attribute("scan_output_axes", std::vector<int64_t>{-1})};
    auto results = control("Scan", {x}, body, attributes);
    ASSERT_TRUE(results.ok()) << results.error().message;
    std::span<const float> elements = (*results)[0].tensor().elements<float>();
    EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()),
              (std::vector<float>{3, 2, 1, 6, 5, 4}));
    x = Tensor::zeros(ElementType::kFloat, {2, 0});
    EXPECT_EQ((*control("Scan", {x}, body, attributes))[0].describe(), "FLOAT[2, 0]");
    attributes[0] = ir::make_attribute("num_scan_inputs", int64_t{2});
    EXPECT_FALSE(control("Scan", {x}, body, attributes).ok());
}

TEST(Control, BodiesThatDoNotFitAreErrors) {
    std::vector<RuntimeValue> inputs{Tensor::scalar<int64_t>(2), {}, Tensor::scalar<int64_t>(0)};
    auto error_of = [&](Body body) { return control("Loop", inputs, std::move(body)).error(); };
    EXPECT_EQ(error_of([](std::span<const RuntimeValue>) -> Result<Values> {
                  return Values{Tensor::scalar(true)};
              }).message,
              "`body` of `Loop` returns 1 values, and must return at least 2");
    EXPECT_EQ(error_of([](std::span<const RuntimeValue> given) -> Result<Values> {
                  return Values{Tensor::scalar(1.0F), given[2]};
              }).message,
              "the condition is FLOAT, but must be one BOOL");
    EXPECT_EQ(error_of([](std::span<const RuntimeValue>) -> Result<Values> {
                  return Error{"of the body"};
              }).message,
              "of the body");
    EXPECT_EQ(
        error_of([calls = 0](std::span<const RuntimeValue> given) mutable -> Result<Values> {
            return ++calls == 1 ? Values{given[1], given[2], given[2]} : Values{given[1], given[2]};
        }).message,
        "the body returns 2 values, and returned 3 in the first iteration");
}

TEST(Control, SequencesAreMapped) {
    auto sequence = std::make_shared<eval::Sequence>();
    sequence->element_type = ElementType::kInt64;
    sequence->items = {Tensor::scalar<int64_t>(1), Tensor::scalar<int64_t>(2)};
    auto twice = [](std::span<const RuntimeValue> arguments) -> Result<Values> {
        return Values{arguments[0], arguments[1]};
    };
    RuntimeValue items{std::shared_ptr<const eval::Sequence>(sequence)};
    auto results = control("SequenceMap", {items, Tensor::scalar(0.5F)}, twice);
    ASSERT_TRUE(results.ok());
    EXPECT_EQ((*results)[0].describe(), "Sequence[INT64] of 2");
    EXPECT_EQ((*results)[1].describe(), "Sequence[FLOAT] of 2");
    EXPECT_FALSE(control("SequenceMap", {Tensor::scalar(0.5F)}, twice).ok());
}

}  // namespace
}  // namespace sardonyx::eager
