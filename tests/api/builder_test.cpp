// Models made call by call. A script that says the same is the second opinion: it must give the
// same numbers.
#include <gtest/gtest.h>
#include <sardonyx/op17.h>
#include <sardonyx/op19.h>
#include <sardonyx/op20.h>
#include <sardonyx/sardonyx.h>

#include <functional>
#include <numeric>
#include <string>

namespace {

using sardonyx::Array;
using sardonyx::Builder;
using sardonyx::Expr;
namespace op = sardonyx::op20;

Array counted(std::vector<int64_t> dims, float first) {
    size_t count = 1;
    for (int64_t dim : dims) {
        count *= static_cast<size_t>(dim);
    }
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), first);
    return Array::of<float>(std::move(dims), std::span<const float>(values));
}

std::vector<Array> run(const sardonyx::Model& model,
                       const std::vector<std::pair<std::string, sardonyx::Value>>& inputs) {
    std::vector<Array> arrays;
    for (sardonyx::Value& value : model.run(inputs)) {
        arrays.push_back(std::get<Array>(value));
    }
    return arrays;
}

void expect_same(const std::vector<Array>& ours, const std::vector<Array>& theirs) {
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
        EXPECT_EQ(ours[i].element_type, theirs[i].element_type) << i;
        EXPECT_EQ(ours[i].dims, theirs[i].dims) << i;
        EXPECT_EQ(ours[i].bytes, theirs[i].bytes) << i;
    }
}

// The words of what is thrown.
std::string failure(const std::function<void()>& wrong) {
    try {
        wrong();
    } catch (const sardonyx::Error& error) {
        return error.what();
    }
    return "nothing is thrown";
}

TEST(Builder, ComputesWhatAScriptDoes) {
    Builder b(20, "block");
    Expr x = b.input("x", "FLOAT[N, 4]");
    Expr w = b.initializer(counted({4, 4}, -3), "w");
    Expr h = op::MatMul(x, w) * 2.0 - 1.0 / (x + 5.0);
    EXPECT_EQ(h.type(), "FLOAT[N, 4]");
    Expr best = op::Softmax(-h, {.axis = -1});
    auto [values, indices] = op::TopK(best, b.constant({2}));
    std::vector<Expr> parts = op::Split(2, h, {}, {.axis = 1, .num_outputs = 2});
    b.output(values, "values");
    b.output(indices, "indices");
    b.output(op::Concat({parts[1], parts[0]}, {.axis = 1}), "swapped");
    b.output(op::Cast(h > 3.0, {.to = 7}), "large");
    b.output(op::Clip(x, {}, b.constant(Array::scalar(3.0f))), "clipped");
    sardonyx::Model script = sardonyx::compile_text(
        "import numpy as np\n"
        "from sardonyx import FLOAT, opset20 as op, script\n"
        "W = np.arange(-3, 13, dtype=np.float32).reshape(4, 4)\n"
        "@script()\n"
        "def block(x: FLOAT['N', 4]):\n"
        "    h = x @ W * 2.0 - 1.0 / (x + 5.0)\n"
        "    values, indices = op.TopK(op.Softmax(-h, axis=-1), [2])\n"
        "    first, second = op.Split(h, axis=1, num_outputs=2)\n"
        "    return (values, indices, op.Concat(second, first, axis=1), op.Cast(h > 3.0, to=7),\n"
        "            op.Clip(x, None, 3.0))\n");
    sardonyx::Value input = counted({3, 4}, -4);
    sardonyx::Model model = b.model();
    expect_same(run(model, {{"x", input}}), run(script, {{"x", input}}));
    sardonyx::Model again = sardonyx::Model::from_bytes(model.serialize());
    expect_same(run(again, {{"x", input}}), run(script, {{"x", input}}));
}

TEST(Builder, BodiesSeeWhatIsAround) {
    Builder b(20);
    Expr x = b.input("x", "FLOAT[N]");
    Expr count = b.input("count", "INT64");
    std::vector<Expr> results = b.loop(count, {x}, [&](const Expr& index, const auto& carried) {
        Expr next = carried[0] * 2.0 + op::Cast(index, {.to = 1}) + x;
        return Builder::Step{{next}, {op::ReduceMax(next, {}, {.keepdims = 0})}, {}};
    });
    EXPECT_EQ(results[0].type(), "FLOAT[N]");
    Expr is_large = op::ReduceSum(results[0], {}, {.keepdims = 0}) > 10.0;
    Expr y = b.if_(
        is_large, [&] { return std::vector{results[0]}; },
        [&] { return std::vector{-results[0]}; })[0];
    b.output(y, "y");
    b.output(results[1], "largest");
    sardonyx::Model model = b.model();
    auto arrays = run(model, {{"x", counted({2}, 1)}, {"count", Array::scalar<int64_t>(2)}});
    expect_same(arrays, {Array::of<float>({2}, {8, 15}), Array::of<float>({2}, {6, 15})});
    arrays = run(model, {{"x", counted({2}, 1)}, {"count", Array::scalar<int64_t>(0)}});
    expect_same(arrays, {Array::of<float>({2}, {-1, -2}), Array::of<float>({0}, {})});
}

// One answer in C++ and in Python (tests/python/models/test_builder.py).
TEST(Builder, TakesOperatorsOfAnotherOpsetThatAreTheSame) {
    Builder b(18);
    Expr x = b.input("x", "FLOAT[2]");
    EXPECT_EQ(sardonyx::op19::Neg(x).type(), "FLOAT[2]");
    EXPECT_NE(failure([&] { op::Gelu(x); }).find("imports version 18 of `ai.onnx`"),
              std::string::npos);
    b.call({"mine", "Thing", 2, {x}, {}, 1, {}});
    EXPECT_NE(failure([&] {
                  b.call({"mine", "Thing", 3, {x}, {}, 1, {}});
              }).find("version 3 in a model that imports version 2 of `mine`"),
              std::string::npos);
}

// One answer in C++ and in Python (tests/python/models/test_builder.py).
TEST(Builder, OutputsHaveTheTypesThatAreStated) {
    Builder b(20);
    Expr x = b.input("x", "FLOAT[N]");
    Expr unknown = b.call({"mine", "Thing", 1, {x}, {}, 1, {}})[0];
    EXPECT_EQ(b.output(unknown, "y", "FLOAT[N, 4]").type(), "FLOAT[N, 4]");
    EXPECT_EQ(b.output(-x, "z", "FLOAT[3]").type(), "FLOAT[3]");
    EXPECT_NE(failure([&] {
                  b.output(op::Abs(x), "w", "INT64[N]");
              }).find("the output is of type FLOAT[N], not INT64[N]"),
              std::string::npos);
    EXPECT_NE(failure([&] { b.output(op::Abs(x), "w", "FLOTA"); }).find("is not a type"),
              std::string::npos);
    EXPECT_EQ(b.model().outputs().size(), 2u);
}

TEST(Builder, AWrongCallImportsNothing) {
    Builder b(20);
    Expr x = b.input("x", "STRING[N]");
    EXPECT_NE(failure([&] {
                  b.call({"ai.onnx.ml", "LabelEncoder", 2, {}, {}, 1, {}});
              }).find("`X` is missing"),
              std::string::npos);
    // Version 1 defines it otherwise, and would be refused beside version 2.
    b.call({"ai.onnx.ml", "LabelEncoder", 1, {x}, {}, 1, {}});
}

TEST(Builder, MistakesAreThrownWhereTheyStand) {
    Builder b(20);
    Builder other(20);
    Expr x = b.input("x", "FLOAT[N, 4]");
    Expr w = b.initializer(counted({3, 3}, 0));
    Expr foreign = other.input("x", "FLOAT[4]");
    struct Row {
        std::function<void()> wrong;
        std::string words;
    };
    std::vector<Row> rows = {
        {[&] { op::MatMul(x, w); }, "`MatMul`"},
        {[&] { x + foreign; }, "another Builder"},
        {[&] { x + Expr(); }, "left out"},
        {[&] { op::Softmax(x, {.axis = 5}); }, "axis"},
        {[&] { op::Gelu(x, {.approximate = "tan"}); }, "did you mean `tanh`"},
        {[&] { op::MatMul(x, {}); }, "`B` is missing"},
        {[&] { sardonyx::op17::ReduceMax(x); }, "of version 17 in a model that imports version 20"},
        {[&] {
             b.call({"", "Softmaks", 0, {x}, {}, 1, {}});
         },
         "no operator `Softmaks`"},
        {[&] {
             b.call({"", "Relu", 0, {x}, {}, 2, {}});
         },
         "gives 1 output, not 2"},
        {[&] {
             b.call({"mine", "Op", 0, {x}, {}, 1, {}});
         },
         "no version of `mine`"},
        {[&] { b.input("x", "FLOAT"); }, "`x`"},
        {[&] { b.input("z", "FLOTA"); }, "is not a type"},
        {[&] { x + ((int64_t{1} << 53) + 1); }, "9007199254740993 has more than 53 bits"},
        {[&] { INT64_MIN + 1 < x; }, "more than 53 bits"},
        {[&] {
             b.call({"", "Elu", 0, {x}, {{"alpha", 0.5F}, {"alpha", 1.5F}}, 1, {}});
         },
         "attribute `alpha` is given twice"},
        {[&] {
             auto same = [](const Expr&, const std::vector<Expr>& carried) {
                 return Builder::Step{carried};
             };
             b.loop({}, {x}, same, {"FLOAT[N, 4]", "FLOAT"});
         },
         "2 types of 1 carried values"},
        {[&] { b.if_(x, nullptr, nullptr); }, "a body is an empty function"},
        {[&] { b.loop({}, {x}, nullptr); }, "a body is an empty function"},
        {[&] { b.model(); }, "no outputs"},
        {[&] { Builder(99); }, "no opset 99"},
        {[&] {
             b.if_(
                 x, [] { return std::vector<Expr>(); }, [&] { return std::vector{x}; });
         },
         "one branch gives 0 values, and the other 1"},
        {[&] {
             b.loop({}, {x}, [&](const Expr&, const auto&) { return Builder::Step{{}, {}, {}}; });
         },
         "carries 1 values, and the body gives 0"},
        {[&] {
             b.loop({}, {x}, [&](const Expr&, const auto&) -> Builder::Step {
                 op::MatMul(x, w);
                 return {};
             });
         },
         "`MatMul`"},
    };
    for (size_t i = 0; i < rows.size(); ++i) {
        std::string words = failure(rows[i].wrong);
        EXPECT_NE(words.find(rows[i].words), std::string::npos) << i << ": " << words;
    }
    b.output(op::Abs(x), "y");
    EXPECT_EQ(b.model().nodes().size(), 1U);  // nothing else has stayed
}

}  // namespace
