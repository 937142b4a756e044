// needed_ir_version: what each kind of content asks for, by the comments on `enum Version` in
// onnx.proto.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "ops/ops.h"
#include "proto/proto.h"

namespace sardonyx::proto {
namespace {

// x -> Relu -> y, opset 9 (which came with IR version 4).
struct Fixture {
    ir::Model model;
    ir::Value* x = nullptr;
    ir::Node* node = nullptr;

    Fixture() {
        model.opset_imports = {{"", 9}};
        model.graph = model.make_graph(nullptr);
        model.graph->name = "g";
        x = model.add_input(model.graph, "x", Type::tensor(ElementType::kFloat, Shape{}));
        std::array<std::string_view, 1> names = {"y"};
        node = model.make_node("", "Relu", {&x, 1}, names);
        model.graph->insert(node);
        model.graph->outputs = {node->output()};
    }
    int64_t needed() const { return needed_ir_version(model); }
};

TEST(NeededIrVersion, IsFourForAPlainModel) {
    EXPECT_EQ(Fixture().needed(), 4);
}

TEST(NeededIrVersion, IsTheModelsOwnWhenThatIsSet) {
    Fixture f;
    f.model.ir_version = 3;
    f.node->overload = "o";
    EXPECT_EQ(f.needed(), 3);
}

TEST(NeededIrVersion, FollowsTheOpsetImports) {
    for (auto [opset, ir_version] : {std::pair{13, 7}, {17, 8}, {19, 9}, {21, 10}, {24, 12}}) {
        Fixture f;
        f.model.opset_imports = {{"my.domain", 99}, {"ai.onnx", opset}};
        EXPECT_EQ(f.needed(), ir_version) << opset;
    }
    Fixture f;
    f.model.add_function("my.domain", "F")->opset_imports = {{"", 19}};
    EXPECT_EQ(f.needed(), 9);
}

TEST(NeededIrVersion, FollowsTheElementTypes) {
    constexpr std::pair<ElementType, int64_t> kVersions[] = {
        {ElementType::kBfloat16, 4},       {ElementType::kFloat8E4M3FN, 9},
        {ElementType::kFloat8E5M2FNUZ, 9}, {ElementType::kInt4, 10},
        {ElementType::kUint4, 10},         {ElementType::kFloat4E2M1, 11},
        {ElementType::kFloat8E8M0, 12},    {ElementType::kInt2, 13},
        {ElementType::kUint2, 13},         {ElementType::kFloat6E2M3, 14},
        {ElementType::kFloat6E3M2, 14},
    };
    for (auto [element_type, ir_version] : kVersions) {
        Fixture in_input;
        in_input.x->type = Type::optional(Type::sequence(Type::tensor(element_type)));
        EXPECT_EQ(in_input.needed(), std::max<int64_t>(ir_version, 8));
        Fixture in_result;
        in_result.node->output()->type = Type::tensor(element_type);
        EXPECT_EQ(in_result.needed(), ir_version);
        Fixture in_initializer;
        in_initializer.model.add_initializer(in_initializer.model.graph, "w",
                                             Tensor::zeros(element_type, {3}));
        EXPECT_EQ(in_initializer.needed(), ir_version);
        Fixture in_attribute;
        std::vector<Tensor> tensors = {Tensor::zeros(element_type, {3})};
        in_attribute.node->attributes = {ir::make_attribute("a", tensors)};
        EXPECT_EQ(in_attribute.needed(), ir_version);
    }
}

TEST(NeededIrVersion, LooksIntoSubgraphs) {
    Fixture f;
    ir::Graph* body = f.model.make_graph(f.model.graph);
    body->metadata = {{"k", "v"}};
    f.node->attributes = {ir::make_attribute("body", body)};
    EXPECT_EQ(f.needed(), 10);
}

TEST(NeededIrVersion, FollowsTheFieldsThatCameLater) {
    Fixture sparse;
    sparse.model.add_sparse_initializer(
        sparse.model.graph, "s",
        {Tensor::zeros(ElementType::kFloat, {0}), Tensor::zeros(ElementType::kInt64, {0}), {3}});
    EXPECT_EQ(sparse.needed(), 6);
    Fixture function;
    ir::Function* added = function.model.add_function("my.domain", "F");
    EXPECT_EQ(function.needed(), 8);
    added->attribute_defaults = {ir::make_attribute("a", int64_t{1})};
    EXPECT_EQ(function.needed(), 9);
    added->overload = "o";
    EXPECT_EQ(function.needed(), 10);
    Fixture overload;
    overload.node->overload = "o";
    EXPECT_EQ(overload.needed(), 10);
    Fixture metadata;
    metadata.x->metadata = {{"k", "v"}};
    EXPECT_EQ(metadata.needed(), 10);
    Fixture of_the_model;  // ModelProto had metadata_props from the start
    of_the_model.model.metadata = {{"k", "v"}};
    EXPECT_EQ(of_the_model.needed(), 4);
}

// The types of values in a function's body do not raise the version: they are left out below 10.
TEST(NeededIrVersion, FunctionTypesAreWrittenFromVersionTen) {
    Fixture f;
    ir::Function* function = f.model.add_function("my.domain", "F");
    function->opset_imports = {{"", 9}};
    ir::Value* a = f.model.add_input(function->body, "a", Type::tensor(ElementType::kFloat));
    function->body->outputs = {a};
    EXPECT_EQ(f.needed(), 8);
    size_t without = write_function(f.model, *function)->size();
    f.model.ir_version = 10;
    EXPECT_GT(write_function(f.model, *function)->size(), without);
}

TEST(NeededIrVersion, IsNeverPastTheNewest) {
    for (const ops::DomainInfo& domain : ops::domains()) {
        Fixture f;
        f.model.opset_imports = {{domain.domain, domain.newest_version}};
        EXPECT_LE(f.needed(), ops::newest_ir_version());
    }
}

}  // namespace
}  // namespace sardonyx::proto
