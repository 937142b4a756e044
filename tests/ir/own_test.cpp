#include "ir/own.h"

#include <gtest/gtest.h>

#include <vector>

namespace sardonyx::ir {
namespace {

Tensor borrowed(const std::vector<float>& numbers) {
    return Tensor::view_of(ElementType::kFloat, {static_cast<int64_t>(numbers.size())},
                           std::as_bytes(std::span(numbers)), nullptr);
}

TEST(OwnTensors, CopiesEachStorageOnce) {
    std::vector<float> numbers{1, 2, 3, 4};
    Model model;
    model.graph = model.make_graph(nullptr);
    Value* first = model.add_initializer(model.graph, "a", borrowed(numbers));
    Value* second = model.add_initializer(model.graph, "b", borrowed(numbers).reshaped({2, 2}));
    Graph* inner = model.make_graph(model.graph);
    Node* node = model.make_node("", "If", {}, 1);
    node->attributes.push_back(make_attribute("then_branch", inner));
    Node* constant = model.make_node("", "Constant", {}, 1);
    constant->attributes.push_back(make_attribute("value", borrowed(numbers)));
    inner->insert(constant);
    model.graph->insert(node);

    own_tensors(model);
    numbers.assign(4, 0);
    auto first_of = [](const Tensor& tensor) { return tensor.elements<float>().data(); };
    EXPECT_EQ(first->constant->elements<float>()[3], 4);
    EXPECT_EQ(second->constant->dims(), (Dims{2, 2}));
    EXPECT_EQ(first_of(*first->constant), first_of(*second->constant));
    EXPECT_EQ(first_of(*first->constant), first_of(*constant->attributes[0].get<Tensor>()));
}

}  // namespace
}  // namespace sardonyx::ir
