// The limits that a caller sets, and what the writer refuses. All else about reading and writing is
// compared with the onnx package in tests/python/models/test_proto.py.
#include <gtest/gtest.h>

#include <array>

#include "proto/proto.h"

namespace sardonyx::proto {
namespace {

std::unique_ptr<ir::Model> small_model() {
    auto model = std::make_unique<ir::Model>();
    model->opset_imports = {{"", 17}};
    model->graph = model->make_graph(nullptr);
    model->graph->name = "g";
    ir::Value* x = model->add_input(model->graph, "x", Type::tensor(ElementType::kFloat, Shape{2}));
    std::array<std::string_view, 1> names = {"y"};
    ir::Node* node = model->make_node("", "Relu", {&x, 1}, names);
    model->graph->insert(node);
    model->graph->outputs = {node->output()};
    return model;
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span<const char>(text));
}

TEST(ReadLimits, Items) {
    std::string bytes = *write_model(*small_model());
    ReadOptions options;
    EXPECT_TRUE(read_model(bytes_of(bytes), nullptr, options).ok());
    options.max_items = 5;
    auto model = read_model(bytes_of(bytes), nullptr, options);
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.error().message.find("more than 5 items"), std::string::npos);
}

// A chain of nodes whose values have these types.
std::string chain(std::span<const Type> types) {
    auto model = std::make_unique<ir::Model>();
    model->opset_imports = {{"", 17}};
    model->graph = model->make_graph(nullptr);
    ir::Value* last = model->add_input(model->graph, "x", Type::tensor(ElementType::kFloat));
    for (size_t i = 0; i < types.size(); ++i) {
        std::string name = "y" + std::to_string(i);
        std::array<std::string_view, 1> names = {name};
        ir::Node* node = model->make_node("", "Relu", {&last, 1}, names);
        model->graph->insert(node);
        last = node->output();
        last->type = types[i];
    }
    model->graph->outputs = {last};
    return *write_model(*model);
}

TEST(ReadLimits, TypesThatAreReadOnceCountEachTime) {
    auto items = [](std::span<const Type> types) {
        std::string bytes = chain(types);
        ReadOptions options;
        for (options.max_items = 1; !read_model(bytes_of(bytes), nullptr, options).ok();) {
            ++options.max_items;
        }
        return options.max_items;
    };
    std::vector<Type> equal, others;
    for (int64_t i = 0; i < 5; ++i) {
        equal.push_back(Type::tensor(ElementType::kFloat, Shape{4, 4}));
        others.push_back(Type::tensor(ElementType::kFloat, Shape{4, i}));
    }
    EXPECT_EQ(items(equal), items(others));
}

TEST(Read, EqualTypesThatAreKeptAsWrittenAreKeptOnEachValue) {
    std::vector<Type> types(3, Type::tensor(ElementType::kFloat, Shape{Dim::symbol("N + 1")}));
    std::string bytes = chain(types);
    auto model = read_model(bytes_of(bytes), nullptr, {});
    ASSERT_TRUE(model.ok());
    for (const ir::Node& node : *(*model)->graph) {
        EXPECT_EQ(node.output()->type.to_string(), "FLOAT[N+1]");
    }
    EXPECT_EQ(*write_model(**model), bytes);
}

TEST(ReadLimits, Depth) {
    std::string bytes = *write_model(*small_model());
    ReadOptions options;
    options.max_depth = 1;
    auto model = read_model(bytes_of(bytes), nullptr, options);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().message, "graph.input[0].type: nested more than 1 deep");
}

TEST(Read, KeepsTheBytesAliveThroughTheirOwner) {
    Tensor tensor = Tensor::zeros(ElementType::kInt8, {1000});
    auto owner = std::make_shared<const std::string>(write_tensor(tensor, "t"));
    Result<Tensor> read = read_tensor(bytes_of(*owner), owner);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->owner(), owner);  // one byte each: a view, never a copy
    EXPECT_GT(owner.use_count(), 1);
}

TEST(Read, NamesThePlaceOfDamage) {
    std::string bytes = *write_model(*small_model());
    size_t name = bytes.find("Relu");
    bytes[name - 1] = 100;  // the length of op_type
    auto model = read_model(bytes_of(bytes), nullptr);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().message,
              "graph.node[0]: the bytes are damaged or cut off: they end too early");
}

TEST(Write, RefusesMoreThanTwoGibibytes) {
    std::unique_ptr<ir::Model> model = small_model();
    // Nothing of this is touched: the writer measures before it writes.
    std::span<const std::byte> nothing(static_cast<const std::byte*>(nullptr), size_t{1} << 31);
    model->add_initializer(model->graph, "w",
                           Tensor::view_of(ElementType::kInt8, {int64_t{1} << 31}, nothing, {}));
    Result<std::string> bytes = write_model(*model);
    ASSERT_FALSE(bytes.ok());
    EXPECT_NE(bytes.error().message.find("--external-data"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::proto
