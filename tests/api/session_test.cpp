// Tensors that are not copied, sessions, and the C interface under them.
#include <gtest/gtest.h>
#include <sardonyx/sardonyx.h>

#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "complaint.h"

namespace {

using sardonyx::ElementType;
using sardonyx::Model;
using sardonyx::MutableTensorView;
using sardonyx::RunValue;
using sardonyx::Session;
using sardonyx::Tensor;
using sardonyx::TensorView;

Session session_of(const std::string& signature, const std::string& body) {
    return Session(sardonyx::compile_text(
        "from sardonyx import BOOL, FLOAT, FLOAT16, INT64, STRING, opset18 as op, script\n"
        "@script()\ndef f(" +
        signature + "):\n    return " + body + "\n"));
}

float number_of(const Tensor& tensor, size_t i) {
    return tensor.elements<float>()[i];
}

TEST(Session, CopiesNeitherInputsNorOutputs) {
    Session session = session_of("x: FLOAT['N']", "op.Identity(x)");
    std::vector<float> numbers(1 << 20, 2.5F);
    std::array<int64_t, 1> dims{1 << 20};
    auto owner = std::make_shared<int>(0);
    std::weak_ptr<int> alive = owner;
    Tensor x = Tensor::borrow(TensorView::of<float>(dims, numbers), std::move(owner));
    EXPECT_EQ(x.view().data, numbers.data());
    {
        std::vector<RunValue> results = session.run({x});
        x = Tensor::zeros(ElementType::kFloat, {});
        EXPECT_FALSE(alive.expired());  // the result still has the memory
        EXPECT_EQ(results.at(0).tensor().view().data, numbers.data());
    }
    EXPECT_TRUE(alive.expired());
}

TEST(Session, NeverWritesToAnInput) {
    Session session = session_of("x: FLOAT[2]", "op.Neg(op.Neg(op.Neg(x)))");
    std::array<float, 2> numbers{1, 2};
    std::array<int64_t, 1> dims{2};
    Tensor borrowed = Tensor::borrow(TensorView::of<float>(dims, numbers));
    Tensor owned = Tensor::of<float>({2}, {1, 2});
    EXPECT_EQ(number_of(session.run({borrowed}).at(0).tensor(), 1), -2);
    EXPECT_EQ(number_of(session.run({owned}).at(0).tensor(), 1), -2);
    EXPECT_EQ(numbers[1], 2);
    EXPECT_EQ(owned.elements<float>()[1], 2);
}

TEST(Session, AModelThatWasMovedFromSaysSo) {
    Model model = Model::from_text(
        "<ir_version: 8, opset_import: [\"\": 18]>\n"
        "agraph (float[2] x) => (float[2] y) { y = Abs(x) }");
    Model other = std::move(model);
    // NOLINTBEGIN(bugprone-use-after-move)
    EXPECT_EQ(complaint_of([&] { Session session(model); }),
              "the model has been moved to another one");
    EXPECT_EQ(complaint_of([&] { (void)model.inputs(); }),
              "the model has been moved to another one");
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_EQ(other.inputs().size(), 1U);
}

TEST(Session, WritesToGivenMemory) {
    Session session = session_of("x: FLOAT['N'], y: FLOAT['N']", "x + y, op.Shape(x)");
    std::array<int64_t, 1> dims{2};
    std::array<float, 2> sum{};
    std::array<int64_t, 1> one{1};
    std::array<int64_t, 1> shape{};
    std::array<RunValue, 2> inputs{Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({2}, {3, 4})};
    std::array<MutableTensorView, 2> outputs{MutableTensorView::of<float>(dims, sum),
                                             MutableTensorView::of<int64_t>(one, shape)};
    session.run(inputs, outputs);
    EXPECT_EQ(sum[1], 6);
    EXPECT_EQ(shape[0], 2);
    // Too small, another type, other bytes than the dims say, nowhere.
    EXPECT_NE(complaint_of([&] {
                  outputs[0] = MutableTensorView::of<float>(one, std::span(sum).first(1));
                  session.run(inputs, outputs);
              }).find("is not the type and shape"),
              std::string::npos);
    outputs[0] = {ElementType::kInt32, dims, sum.data(), 8};
    EXPECT_NE(complaint_of([&] { session.run(inputs, outputs); }).find("is not the type and shape"),
              std::string::npos);
    outputs[0] = {ElementType::kFloat, dims, sum.data(), 4};
    EXPECT_NE(complaint_of([&] { session.run(inputs, outputs); }).find("4 bytes"),
              std::string::npos);
    outputs[0] = {ElementType::kFloat, dims, nullptr, 8};
    EXPECT_NE(complaint_of([&] { session.run(inputs, outputs); }).find("at NULL"),
              std::string::npos);
}

// A result that shares the memory of an input is right also where that memory is given for another.
TEST(Session, WritesToTheMemoryOfItsInputs) {
    Session session = session_of("x: FLOAT['N']", "x + 1.0, op.Identity(x)");
    std::array<int64_t, 1> dims{2};
    std::array<float, 4> memory{1, 2, 0, 0};
    std::array<RunValue, 1> inputs{
        Tensor::borrow(TensorView::of<float>(dims, std::span<const float>(memory).first(2)))};
    std::array<MutableTensorView, 2> outputs{
        MutableTensorView::of<float>(dims, std::span(memory).first(2)),
        MutableTensorView::of<float>(dims, std::span(memory).last(2))};
    session.run(inputs, outputs);
    EXPECT_EQ(memory, (std::array<float, 4>{2, 3, 1, 2}));
    outputs[0] = MutableTensorView::of<float>(dims, std::span(memory).subspan(1, 2));
    EXPECT_EQ(complaint_of([&] { session.run(inputs, outputs); }), "outputs 0 and 1 share memory");
}

TEST(Session, NamesWhatIsMissingOrTooMuch) {
    Session session = session_of("x: FLOAT[1], y: FLOAT[1]", "x + y");
    Tensor x = Tensor::of<float>({1}, {1});
    EXPECT_NE(complaint_of([&] { session.run({x}); }).find("`y`"), std::string::npos);
    EXPECT_NE(complaint_of([&] { session.run({x, x, x}); }).find("3 inputs"), std::string::npos);
    EXPECT_NE(complaint_of([&] {
                  session.run({x, Tensor::of<int64_t>({1}, {1})});
              }).find("INT64"),
              std::string::npos);
}

TEST(Session, OutlivesTheModelAndKeepsLimits) {
    Session session = [] { return session_of("x: FLOAT[1]", "op.Neg(op.Exp(x))"); }();
    sardonyx::RunOptions options;
    options.max_steps = 1;
    Tensor x = Tensor::of<float>({1}, {0});
    EXPECT_NE(complaint_of([&] { session.run({x}, options); }), "no error");
    EXPECT_EQ(number_of(session.run({x}).at(0).tensor(), 0), -1);
}

TEST(Tensor, HasAllElementTypes) {
    Tensor half = Tensor::of<sardonyx::Float16>(
        {6}, {{0x3c00}, {0xc000}, {0x0001}, {0x7c00}, {0x7bff}, {0x8000}});
    EXPECT_EQ(half.element_type(), ElementType::kFloat16);
    std::span<const sardonyx::Float16> codes = half.elements<sardonyx::Float16>();
    EXPECT_EQ(codes[0].to_float(), 1.0F);
    EXPECT_EQ(codes[1].to_float(), -2.0F);
    EXPECT_EQ(codes[2].to_float(), 5.9604644775390625e-8F);
    EXPECT_EQ(codes[3].to_float(), std::numeric_limits<float>::infinity());
    EXPECT_EQ(codes[4].to_float(), 65504.0F);
    EXPECT_TRUE(std::signbit(codes[5].to_float()));
    EXPECT_EQ((sardonyx::BFloat16{0x3fc0}.to_float()), 1.5F);
    Tensor numbers = Tensor::of<std::complex<float>>({1}, {{1, 2}});
    EXPECT_EQ(numbers.elements<std::complex<float>>()[0].imag(), 2);
    std::array<int64_t, 1> three{3};
    EXPECT_EQ(Tensor::zeros(ElementType::kInt4, three).view().size, 2U);
    EXPECT_EQ(Tensor::zeros(ElementType::kFloat6E2M3, three).view().size, 3U);
    EXPECT_NE(complaint_of([&] { half.elements<float>(); }).find("not 1"), std::string::npos);
}

TEST(Tensor, RefusesWhatContradictsItself) {
    std::array<int64_t, 2> negative{2, -1};
    std::array<int64_t, 2> huge{INT64_MAX, 4};
    std::array<float, 2> numbers{};
    for (const auto& dims : {negative, huge}) {
        EXPECT_NE(complaint_of([&] { Tensor::zeros(ElementType::kFloat, dims); }).find("shape"),
                  std::string::npos);
        EXPECT_NE(complaint_of([&] {
                      Tensor::borrow(TensorView::of<float>(dims, numbers));
                  }).find("shape"),
                  std::string::npos);
    }
    EXPECT_NE(complaint_of([&] {
                  Tensor::zeros(static_cast<ElementType>(99), {});
              }).find("element type 99"),
              std::string::npos);
    EXPECT_NE(complaint_of([] { Tensor{RunValue()}; }).find("not a tensor"), std::string::npos);
}

TEST(Tensor, CopiesBoolAsZeroAndOne) {
    std::array<int64_t, 1> three{3};
    std::array<unsigned char, 3> bytes{0, 2, 255};
    Tensor copied = Tensor::copy({ElementType::kBool, three, bytes.data(), bytes.size()});
    std::span<const bool> seen = copied.elements<bool>();
    std::array<unsigned char, 3> stored{};
    std::memcpy(stored.data(), seen.data(), seen.size());
    EXPECT_EQ(stored, (std::array<unsigned char, 3>{0, 1, 1}));
}

TEST(Tensor, OneThatWasMovedFromHasNothing) {
    Tensor tensor = Tensor::of<float>({2}, {1, 2});
    Tensor other = std::move(tensor);
    // NOLINTBEGIN(bugprone-use-after-move)
    EXPECT_EQ(complaint_of([&] { tensor.elements<float>(); }),
              "the tensor has been moved to another one");
    EXPECT_TRUE(tensor.dims().empty());
    EXPECT_EQ(tensor.view().data, nullptr);
    EXPECT_TRUE(RunValue(tensor).is_nothing());
    // NOLINTEND(bugprone-use-after-move)
    tensor = std::move(other);
    EXPECT_EQ(tensor.elements<float>()[1], 2);
}

TEST(RunValue, HoldsTextsSequencesAndMaps) {
    std::array<int64_t, 1> two{2};
    std::array<std::string, 2> words{"a", std::string("b\0c", 3)};
    Tensor texts = Tensor::strings(two, words);
    EXPECT_EQ(texts.texts()[1], words[1]);
    std::array<RunValue, 2> items{texts, texts};
    RunValue inner = RunValue::sequence(items);
    RunValue outer = RunValue::sequence(std::array{inner, inner});
    EXPECT_EQ(outer.items().at(1).items().at(0).tensor().view().size, 0U);
    EXPECT_EQ(outer.items()[1].items()[1].tensor().texts()[0], "a");
    EXPECT_TRUE(RunValue::sequence({}, ElementType::kFloat).items().empty());
    RunValue map = RunValue::map(texts, Tensor::of<float>({2}, {1, 2}));
    EXPECT_EQ(number_of(map.map().values, 1), 2);
    EXPECT_EQ(map.map().keys.texts()[0], "a");
    EXPECT_NE(complaint_of([&] { map.items(); }).find("not a sequence"), std::string::npos);
    EXPECT_NE(complaint_of([&] { inner.map(); }).find("not a map"), std::string::npos);
    EXPECT_NE(complaint_of([&] {
                  RunValue::map(Tensor::of<int64_t>({2}, {1, 1}), Tensor::of<float>({2}, {1, 2}));
              }).find("twice"),
              std::string::npos);
    EXPECT_NE(complaint_of([&] {
                  RunValue::sequence(std::array<RunValue, 2>{texts, Tensor::of<float>({1}, {1})});
              }).find("item 1"),
              std::string::npos);
    EXPECT_TRUE(RunValue().is_nothing());
}

// A model of so many steps that nobody waits for their end.
Session endless() {
    return Session(
        sardonyx::compile_text("from sardonyx import FLOAT, INT64, opset18 as op, script\n"
                               "@script()\n"
                               "def count(x: FLOAT[4], n: INT64):\n"
                               "    for i in range(n):\n"
                               "        x = x + 1.0\n"
                               "    return x\n"));
}

TEST(Session, EndsRunsByTheirLimits) {
    Session session = endless();
    std::array<int64_t, 1> dims{4}, many{int64_t{1} << 50}, few{3};
    Tensor x = Tensor::zeros(ElementType::kFloat, dims);
    Tensor forever = Tensor::copy(TensorView::of<int64_t>({}, many));
    std::vector<float> memory(4);
    MutableTensorView out = MutableTensorView::of<float>(dims, memory);

    sardonyx::RunOptions options;
    options.timeout = 0.03;
    EXPECT_THROW(session.run({x, forever}, options), sardonyx::TimeoutError);
    std::vector<RunValue> inputs{x, forever};
    EXPECT_THROW(session.run(inputs, {&out, 1}, options), sardonyx::TimeoutError);
    options.timeout = 0;
    EXPECT_THROW(session.run({x, forever}, options), sardonyx::TimeoutError);
    options.timeout = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(complaint_of([&] {
                  session.run({x, forever}, options);
              }),
              "the timeout is not a number");

    options.timeout = 1000;
    options.cancel.emplace();
    std::thread other([token = *options.cancel]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        token.cancel();
    });
    EXPECT_EQ(complaint_of([&] { session.run({x, forever}, options); }), "the run was cancelled");
    other.join();
    EXPECT_THROW(session.run(inputs, {&out, 1}, options), sardonyx::CancelledError);

    inputs[1] = Tensor::copy(TensorView::of<int64_t>({}, few));
    session.run(inputs, {&out, 1}, {});
    EXPECT_EQ(memory, std::vector<float>(4, 3));
}

}  // namespace
