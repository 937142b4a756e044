// The program of docs/cpp.md: tensors that are not copied, by position.
#include <sardonyx/sardonyx.h>

#include <array>
#include <iostream>
#include <vector>

int main() {
    sardonyx::Model model = sardonyx::compile_text(
        "from sardonyx import FLOAT, opset18 as op, script\n"
        "@script()\n"
        "def both(x: FLOAT['N'], y: FLOAT['N']):\n"
        "    return op.Identity(x), x * y\n");
    sardonyx::Session session(model);

    // Our memory, which is not copied.
    std::array<int64_t, 1> dims{3};
    std::vector<float> numbers{1, 2, 3};
    auto x = sardonyx::Tensor::borrow(sardonyx::TensorView::of<float>(dims, numbers));
    auto y = sardonyx::Tensor::of<float>({3}, {10, 20, 30});
    std::vector<sardonyx::RunValue> results = session.run({x, y});
    sardonyx::Tensor same = results[0].tensor();
    std::cout << (same.elements<float>().data() == numbers.data()) << '\n';

    // Results in our memory.
    std::array<float, 3> first{};
    std::array<float, 3> second{};
    std::array<sardonyx::RunValue, 2> inputs{x, y};
    std::array<sardonyx::MutableTensorView, 2> outputs{
        sardonyx::MutableTensorView::of<float>(dims, first),
        sardonyx::MutableTensorView::of<float>(dims, second)};
    session.run(inputs, outputs);
    std::cout << second[2] << '\n';

    // What is wrong is an exception that says what.
    try {
        session.run({x});
    } catch (const sardonyx::Error& error) {
        std::cout << error.what() << '\n';
    }
}
