// Compiles a script, writes it as a model, and runs it.
#include <sardonyx/sardonyx.h>

#include <iostream>

int main() {
    constexpr const char* kScript =
        "from sardonyx import FLOAT, opset18 as op, script\n"
        "@script()\n"
        "def swish(x: FLOAT['N']) -> FLOAT['N']:\n"
        "    return x * op.Sigmoid(x)\n";
    sardonyx::Model model = sardonyx::compile_text(kScript);
    model.save("swish.onnx");
    auto x = sardonyx::Array::of<float>({3}, {-1, 0, 1});
    sardonyx::Value y = model.run({{"x", x}}).at(0);
    for (float number : std::get<sardonyx::Array>(y).elements<float>()) {
        std::cout << number << '\n';
    }
}
