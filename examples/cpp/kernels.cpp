// Operators at once, an operator of one's own, and an observer (docs/cpp.md).
#include <sardonyx/sardonyx.h>

#include <iostream>
#include <span>

int main() {
    // An operator at once. A number takes the element type of the tensor beside it.
    sardonyx::eager::Opset op(21);
    auto x = sardonyx::Tensor::of<float>({3}, {1, 2, 3});
    sardonyx::Tensor y = op.call("Add", {x, 1}).tensor();
    std::cout << y.elements<float>()[2] << '\n';

    // An operator of a domain of one's own.
    sardonyx::Kernels kernels;
    kernels.add("my.domain", "Scaled", [](sardonyx::KernelCall& call) {
        double by = call.float_attribute("by").value_or(1);
        std::span<const float> numbers = call.elements<float>(0);
        sardonyx::Tensor result =
            sardonyx::Tensor::zeros(sardonyx::ElementType::kFloat, call.view(0).dims);
        auto* out = static_cast<float*>(result.mutable_data());
        for (size_t i = 0; i < numbers.size(); ++i) {
            out[i] = static_cast<float>(numbers[i] * by);
        }
        call.set_output(0, result);
    });
    sardonyx::Model model = sardonyx::compile_text(
        "from sardonyx import FLOAT, Opset, opset21 as op, script\n"
        "mine = Opset('my.domain', 1)\n"
        "@script()\n"
        "def f(x: FLOAT['N']):\n"
        "    y = mine.Scaled(x, by=-2.0)\n"
        "    return op.Abs(y)\n");
    sardonyx::Session session(model, kernels);

    // What each node gives, as it is done.
    session.run({x}, {}, [](const sardonyx::NodeDone& node) {
        std::cout << node.op_type << ' ' << node.elements<float>(0)[1] << '\n';
    });

    // What a kernel throws is the error of its node.
    try {
        session.run({sardonyx::Tensor::of<double>({1}, {1})});
    } catch (const sardonyx::Error& error) {
        std::cout << "error\n";
    }
}
