// Operators that run at once, kernels of one's own and observers, and what is said where they are
// misused.
#include <gtest/gtest.h>
#include <sardonyx/sardonyx.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "complaint.h"

namespace {

using sardonyx::ElementType;
using sardonyx::KernelCall;
using sardonyx::Kernels;
using sardonyx::RunValue;
using sardonyx::Session;
using sardonyx::Tensor;
using sardonyx::eager::Argument;
using sardonyx::eager::Keyword;
using sardonyx::eager::Opset;

template <typename T>
std::vector<T> elements_of(const RunValue& value) {
    Tensor tensor = value.tensor();
    std::span<const T> elements = tensor.elements<T>();
    return {elements.begin(), elements.end()};
}

const Tensor kX = Tensor::of<float>({3}, {3, 1, 2});

TEST(Eager, NumbersTakeTheTypeOfTheTensorsBesideThem) {
    Opset op(21);
    EXPECT_EQ(elements_of<float>(op.call("Add", {kX, 1})), (std::vector<float>{4, 2, 3}));
    EXPECT_EQ(elements_of<float>(op.call("Mul", {0.5, kX})), (std::vector<float>{1.5, 0.5, 1}));
    EXPECT_EQ(elements_of<int64_t>(op.call("Add", {1, 2})), (std::vector<int64_t>{3}));
    EXPECT_EQ(elements_of<float>(op.call("Clip", {kX, {}, 2.0})), (std::vector<float>{2, 1, 2}));
    EXPECT_EQ(elements_of<float>(op.call("Clip", {kX}, {{"max", 2}})),
              (std::vector<float>{2, 1, 2}));
    EXPECT_EQ(elements_of<float>(op.call("Gather", {kX, std::vector<int64_t>{2, 0}})),
              (std::vector<float>{2, 3}));
    Tensor equal = op.call("Equal", {std::vector<std::string>{"a", "b"}, "b"}).tensor();
    EXPECT_TRUE(equal.elements<bool>()[1]);
}

TEST(Eager, AttributesAndSeveralResults) {
    Opset op(21);
    EXPECT_EQ(op.call("Cast", {kX}, {{"to", ElementType::kDouble}}).tensor().element_type(),
              ElementType::kDouble);
    EXPECT_EQ(
        elements_of<float>(op.call("LeakyRelu", {Tensor::of<float>({1}, {-8})}, {{"alpha", 0.25}})),
        (std::vector<float>{-2}));
    std::array<Argument, 2> inputs{kX, std::vector<int64_t>{2}};
    std::vector<RunValue> top = op.call("TopK", inputs, {}, 2);
    EXPECT_EQ(elements_of<float>(top[0]), (std::vector<float>{3, 2}));
    EXPECT_EQ(elements_of<int64_t>(top[1]), (std::vector<int64_t>{0, 2}));
    EXPECT_EQ(
        elements_of<float>(Opset(3, "ai.onnx.ml").call("Binarizer", {kX}, {{"threshold", 1.5}})),
        (std::vector<float>{1, 0, 1}));
    RunValue filled = op.call("ConstantOfShape", {std::vector<int64_t>{2}},
                              {{"value", Tensor::of<int64_t>({1}, {7})}});
    EXPECT_EQ(elements_of<int64_t>(filled), (std::vector<int64_t>{7, 7}));
}

TEST(Eager, MistakesSayWhatIsWrong) {
    Opset op(21);
    auto complaint = [&](const std::string& name, std::initializer_list<Argument> inputs,
                         std::initializer_list<Keyword> keywords = {}) {
        return complaint_of([&] { op.call(name, inputs, keywords); });
    };
    EXPECT_EQ(complaint("Ad", {kX}),
              "opset 21 of `ai.onnx` has no operator `Ad`: did you mean `Add`?");
    EXPECT_EQ(complaint_of([] { Opset(999).call("Abs", {kX}); }).find("the newest version"), 0U);
    EXPECT_EQ(complaint("Add", {kX}), "`Add` takes 2 inputs, and `B` is missing: give `B`");
    EXPECT_NE(complaint("Softmax", {kX}, {{"axsi", 1}}).find("did you mean `axis`"),
              std::string::npos);
    EXPECT_NE(complaint("Softmax", {kX}, {{"axis", 1.5}}).find("takes INT"), std::string::npos);
    EXPECT_NE(complaint("Pad", {kX, std::vector<int64_t>{1, 1}}, {{"mode", "mirror"}})
                  .find("one of `constant`"),
              std::string::npos);
    EXPECT_NE(complaint("Add", {kX, "a"}).find("a text where a tensor of FLOAT is expected"),
              std::string::npos);
    EXPECT_NE(complaint("Add", {kX, Tensor::zeros(ElementType::kInt64, {})}).find("INT64"),
              std::string::npos);
    EXPECT_NE(complaint("If", {true}, {{"then_branch", 1}, {"else_branch", 1}}).find("graphs"),
              std::string::npos);
    EXPECT_NE(complaint_of([&] {
                  std::array<Argument, 1> inputs{kX};
                  op.call("Relu", inputs, {}, 2);
              }).find("Relu"),
              std::string::npos);
    // What the interface of C cannot hold is not changed silently.
    EXPECT_EQ(complaint_of([&] {
                  op.call("Add", {kX, UINT64_MAX});
              }),
              "the number 18446744073709551615 is past int64: give it as a Tensor");
    EXPECT_EQ(complaint("StringConcat", {std::string("a\0b", 3), "c"}),
              "a text has a zero byte: give it as a Tensor of strings");
    sardonyx::RunOptions late;
    late.timeout = 0;
    EXPECT_THROW(op.call("Relu", {kX}, {}, late), sardonyx::TimeoutError);
}

// --- Kernels

constexpr const char* kScript =
    "from sardonyx import FLOAT, Opset, opset21 as op, script\n"
    "mine = Opset('my.domain', 1)\n"
    "@script()\n"
    "def f(x: FLOAT['N']):\n"
    "    y, total = mine.Shifted(x, by=2.5)\n"
    "    return op.Relu(y), total\n";

// y = x + by, and the sum of y.
void shifted(KernelCall& call) {
    double by = call.float_attribute("by").value_or(0);
    std::span<const float> x = call.elements<float>(0);
    Tensor y = Tensor::zeros(ElementType::kFloat, call.view(0).dims);
    auto* out = static_cast<float*>(y.mutable_data());
    float total = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        out[i] = x[i] + static_cast<float>(by);
        total += out[i];
    }
    call.set_output(0, y);
    if (call.output_count() > 1) {
        call.set_output(1, Tensor::of<float>({}, {total}));
    }
}

sardonyx::Model model_of(const char* text) {
    return sardonyx::compile_text(text);
}

TEST(Kernels, RunInModelsAndAtOnce) {
    Kernels kernels;
    kernels.add("my.domain", "Shifted", shifted);
    Session session(model_of(kScript), kernels);
    std::vector<RunValue> results = session.run({Tensor::of<float>({2}, {-4, 1})});
    EXPECT_EQ(elements_of<float>(results[0]), (std::vector<float>{0, 3.5}));
    EXPECT_EQ(elements_of<float>(results[1]), (std::vector<float>{2}));
    Opset mine(1, "my.domain");
    mine.use(kernels);
    EXPECT_EQ(elements_of<float>(mine.call("Shifted", {kX}, {{"by", 1.0}})),
              (std::vector<float>{4, 2, 3}));
    EXPECT_NE(complaint_of([] { Session plain(model_of(kScript)); }).find("Shifted"),
              std::string::npos);
}

TEST(Kernels, WhatTheyThrowAndLeaveOutIsTheNodesError) {
    auto complaint = [](Kernels::Function function) {
        Kernels kernels;
        kernels.add("my.domain", "Shifted", std::move(function));
        Session session(model_of(kScript), kernels);
        return complaint_of([&] { session.run({kX}); });
    };
    std::string thrown = complaint([](KernelCall&) { throw std::runtime_error("not today"); });
    EXPECT_NE(thrown.find("Shifted"), std::string::npos);
    EXPECT_NE(thrown.find("not today"), std::string::npos);
    EXPECT_NE(complaint([](KernelCall&) { throw 3; }).find("other than a std::exception"),
              std::string::npos);
    EXPECT_NE(complaint([](KernelCall&) {}).find("has not given output 0 of 2"), std::string::npos);
    EXPECT_NE(complaint([](KernelCall& call) { call.set_output(5, kX); }).find("output 5 of 2"),
              std::string::npos);
    EXPECT_NE(complaint([](KernelCall& call) {
                  call.set_output(0, RunValue());
              }).find("output 0 is not a value"),
              std::string::npos);
    EXPECT_NE(complaint([](KernelCall& call) { call.elements<double>(0); }).find("not 11"),
              std::string::npos);
    EXPECT_NE(complaint([](KernelCall& call) { call.view(7); }).find("input 7 of 1"),
              std::string::npos);
    EXPECT_NE(complaint([](KernelCall& call) { call.int_attribute("by"); }).find("another kind"),
              std::string::npos);
    // Of a type that the node after it does not take.
    EXPECT_NE(complaint([](KernelCall& call) {
                  call.set_output(0, Tensor::of<bool>({1}, {true}));
                  call.set_output(1, kX);
              }).find("Relu"),
              std::string::npos);
}

TEST(Kernels, ResultsAreOfTheTypesThatTheGraphDeclares) {
    Kernels kernels;
    kernels.add("my.domain", "Made", [](KernelCall& call) { call.set_output(0, kX); });
    auto session_of = [&](const std::string& type) {
        return Session(sardonyx::compile_text("from sardonyx import FLOAT, INT64, Opset, script\n"
                                              "mine = Opset('my.domain', 1)\n"
                                              "@script(default_opset=mine)\n"
                                              "def f(x: FLOAT['N']) -> " +
                                              type + ":\n    return mine.Made(x)\n"),
                       kernels);
    };
    EXPECT_EQ(session_of("FLOAT['N']").run({kX}).size(), 1U);
    EXPECT_NE(complaint_of([&] {
                  session_of("INT64['N']").run({kX});
              }).find("but the graph declares INT64[N]"),
              std::string::npos);
}

TEST(Kernels, TheTableRefusesWhatItCannotRun) {
    Kernels kernels;
    kernels.add("my.domain", "Shifted", shifted);
    EXPECT_EQ(complaint_of([&] { kernels.add("my.domain", "Shifted", shifted); }),
              "`Shifted` of the domain `my.domain` has a kernel already");
    EXPECT_EQ(complaint_of([&] { kernels.add("", "Relu", shifted); }),
              "the domain `ai.onnx` is the standard's: give operators of your own a domain of "
              "your own");
    EXPECT_EQ(complaint_of([&] { kernels.add("my.domain", "Empty", nullptr); }),
              "the kernel of `Empty` is an empty function");
    EXPECT_EQ(complaint_of([&] { kernels.add("my.domain", "", shifted); }),
              "the operator has no name");
}

TEST(Kernels, LiveAsLongAsWhatRunsThem) {
    auto alive = std::make_shared<int>(0);
    std::weak_ptr<int> watched = alive;
    {
        Session session = [&] {
            Kernels kernels;
            kernels.add("my.domain", "Shifted",
                        [kept = std::move(alive)](KernelCall& call) { shifted(call); });
            return Session(model_of(kScript), kernels);
        }();
        EXPECT_FALSE(watched.expired());
        session.run({kX});
    }
    EXPECT_TRUE(watched.expired());
}

TEST(Kernels, MisusedHandlesOfCAreErrors) {
    auto text_of = [](sdx_error* error) {
        std::string text = sdx_error_message(error);
        sdx_error_free(error);
        return text;
    };
    EXPECT_NE(text_of(sdx_kernels_new(nullptr)), "");
    EXPECT_NE(text_of(sdx_kernels_add(nullptr, "a", "b", nullptr, nullptr, nullptr)), "");
    sdx_kernels* kernels = nullptr;
    ASSERT_EQ(sdx_kernels_new(&kernels), nullptr);
    EXPECT_NE(text_of(sdx_kernels_add(kernels, nullptr, "b", nullptr, nullptr, nullptr)), "");
    auto* not_a_call = reinterpret_cast<sdx_call*>(kernels);
    const sdx_value* value = nullptr;
    sdx_argument argument{};
    EXPECT_EQ(sdx_call_input_count(nullptr), 0);
    EXPECT_EQ(sdx_call_output_count(not_a_call), 0);
    EXPECT_NE(text_of(sdx_call_input(not_a_call, 0, &value)), "");
    EXPECT_NE(text_of(sdx_call_attribute(nullptr, "a", &argument)), "");
    EXPECT_NE(text_of(sdx_call_set_output(nullptr, 0, nullptr)), "");
    sdx_model* model = nullptr;
    EXPECT_NE(text_of(sdx_model_with_kernels(nullptr, kernels, &model)), "");
    auto garbage = [](sdx_call*, void* context) { return static_cast<sdx_error*>(context); };
    ASSERT_EQ(sdx_kernels_add(kernels, "mine", "Bad", garbage, kernels, nullptr), nullptr);
    sdx_value* output = nullptr;
    EXPECT_NE(
        text_of(sdx_evaluate("mine", 1, "Bad", nullptr, 0, kernels, nullptr, nullptr, &output, 1))
            .find("something other than an sdx_error"),
        std::string::npos);
    auto evaluate = [&](sdx_argument one, const char* name = "Relu") {
        return text_of(sdx_evaluate("", 21, name, &one, 1, nullptr, nullptr, nullptr, &output, 1));
    };
    EXPECT_EQ(evaluate({nullptr, 77}), "argument 0 has the unknown kind 77");
    EXPECT_EQ(evaluate({nullptr, SDX_ARGUMENT_VALUE}), "argument 0 is not a value");
    EXPECT_EQ(evaluate({nullptr, SDX_ARGUMENT_INT}), "argument 0 has 1 elements at NULL");
    EXPECT_EQ(evaluate({nullptr, SDX_ARGUMENT_FLOATS, nullptr, nullptr, nullptr, nullptr, 3}),
              "argument 0 has 3 elements at NULL");
    const char* none = nullptr;
    EXPECT_EQ(evaluate({nullptr, SDX_ARGUMENT_TEXT, nullptr, nullptr, nullptr, &none, 1}),
              "text 0 of argument 0 is NULL");
    EXPECT_EQ(evaluate({}, nullptr), "the domain or the name of the operator is NULL");
    EXPECT_EQ(
        text_of(sdx_evaluate("", 21, "Relu", nullptr, 3, nullptr, nullptr, nullptr, &output, 1)),
        "`arguments` is NULL");
    EXPECT_EQ(output, nullptr);
    sdx_kernels_free(kernels);
    sdx_kernels_free(nullptr);
}

// --- Observers

constexpr const char* kTwo =
    "from sardonyx import FLOAT, opset21 as op, script\n"
    "@script()\n"
    "def f(x: FLOAT['N']):\n"
    "    y = op.Neg(x)\n"
    "    return op.Softmax(y)\n";

TEST(Observer, SeesEachNodeAndItsResults) {
    Session session(model_of(kTwo));
    std::vector<std::string> seen;
    float first = 0;
    session.run({kX}, {}, [&](const sardonyx::NodeDone& node) {
        seen.emplace_back(node.op_type);
        EXPECT_EQ(node.depth, 1);
        ASSERT_EQ(node.outputs.size(), 1);
        if (node.op_type == "Neg") {
            EXPECT_EQ(node.output_names[0], "y");
            first = node.elements<float>(0)[0];
        }
    });
    EXPECT_EQ(seen, (std::vector<std::string>{"Neg", "Softmax"}));
    EXPECT_EQ(first, -3);
}

TEST(Observer, WhatItThrowsIsThrownAgain) {
    Session session(model_of(kTwo));
    int calls = 0;
    auto watch = [&](const sardonyx::NodeDone&) {
        ++calls;
        throw std::out_of_range("enough");
    };
    EXPECT_THROW(session.run({kX}, {}, watch), std::out_of_range);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(session.run({kX}).size(), 1);  // the session is as before
    EXPECT_EQ(complaint_of([&] {
                  session.run({kX}, {}, [](const sardonyx::NodeDone& node) { node.view(1); });
              }),
              "output 1 of 1");
    sdx_model* model = model_of(kTwo).share();
    sdx_observer none{nullptr, nullptr};
    sdx_error* error =
        sdx_model_run_observed(model, nullptr, 0, nullptr, nullptr, &none, nullptr, 0);
    EXPECT_STREQ(sdx_error_message(error), "the observer has no `node_done`");
    sdx_error_free(error);
    sdx_model_free(model);
}

}  // namespace
