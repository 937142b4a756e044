// A transformer block, made call by call, saved as a model and run.
#include <sardonyx/op20.h>
#include <sardonyx/sardonyx.h>

#include <cmath>
#include <iostream>
#include <random>

using sardonyx::Array, sardonyx::Builder, sardonyx::Expr;
namespace op = sardonyx::op20;

constexpr int64_t kWidth = 64;
constexpr int64_t kHeads = 4;

struct Block {
    Builder b{20, "block"};
    std::mt19937 random{7};

    Expr weight(const std::string& name, std::vector<int64_t> dims) {
        size_t count = 1;
        for (int64_t dim : dims) {
            count *= static_cast<size_t>(dim);
        }
        std::vector<float> numbers(count);
        for (float& number : numbers) {
            number = static_cast<float>(random() % 2001) / 10000.0f - 0.1f;
        }
        return b.initializer(Array::of<float>(dims, std::span<const float>(numbers)), name);
    }

    Expr linear(const std::string& name, const Expr& x, int64_t from, int64_t to) {
        return op::MatMul(x, weight(name + ".weight", {from, to})) + weight(name + ".bias", {to});
    }

    Expr normalized(const std::string& name, const Expr& x) {
        return op::LayerNormalization(x, weight(name + ".weight", {kWidth}) + 1.0,
                                      weight(name + ".bias", {kWidth}));
    }

    Expr heads(const Expr& x) {  // [batch, head, token, feature]
        return op::Transpose(op::Reshape(x, b.constant({0, 0, kHeads, -1})),
                             {.perm = {{0, 2, 1, 3}}});
    }

    Expr attention(const Expr& x) {
        Expr q = heads(linear("q", x, kWidth, kWidth));
        Expr k = heads(linear("k", x, kWidth, kWidth));
        Expr v = heads(linear("v", x, kWidth, kWidth));
        Expr scores = op::MatMul(q, op::Transpose(k, {.perm = {{0, 1, 3, 2}}}));
        Expr mixed = op::MatMul(op::Softmax(scores / std::sqrt(kWidth / kHeads), {.axis = -1}), v);
        Expr merged =
            op::Reshape(op::Transpose(mixed, {.perm = {{0, 2, 1, 3}}}), b.constant({0, 0, -1}));
        return linear("out", merged, kWidth, kWidth);
    }

    sardonyx::Model model() {
        Expr x = b.input("x", "FLOAT[batch,tokens,64]");
        Expr y = x + attention(normalized("norm1", x));
        Expr hidden = op::Gelu(linear("up", normalized("norm2", y), kWidth, 4 * kWidth));
        b.output(y + linear("down", hidden, 4 * kWidth, kWidth), "y");
        return b.model();
    }
};

int main() {
    sardonyx::Model model = Block().model();
    model.save("block.onnx");
    std::cout << model.outputs()[0].type << '\n';
    std::vector<float> x(2 * 3 * kWidth, 0.5f);
    Array input = Array::of<float>({2, 3, kWidth}, std::span<const float>(x));
    sardonyx::Value y = model.run({{"x", input}}).at(0);
    std::cout << std::get<Array>(y).elements<float>().size() << '\n';
}
