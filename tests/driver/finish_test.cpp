// What callers say of a model beside its script: the same on every way to a compilation.
#include "driver/finish.h"

#include <gtest/gtest.h>

#include "driver/driver.h"
#include "elaborate/elaborate.h"
#include "weights/weights.h"

namespace sardonyx::driver {
namespace {

constexpr const char* kScript =
    "from sardonyx import FLOAT, opset23 as op, script\n"
    "\n"
    "\n"
    "@script(producer_name='own')\n"
    "def f(x: FLOAT[2]):\n"
    "    y = op.Relu(x)\n"
    "    return op.Neg(y)\n";

// As of a file, and as of a script that somebody else holds.
std::vector<Result<std::unique_ptr<ir::Model>>> made_both_ways(const Finish& finish) {
    std::vector<Result<std::unique_ptr<ir::Model>>> made;
    Request request;
    request.path = "file.py";
    request.text = kScript;
    request.finish = finish;
    Compilation compiled = compile(request);
    made.emplace_back(compiled.complaint.empty()
                          ? Result<std::unique_ptr<ir::Model>>(std::move(compiled.model))
                          : Result<std::unique_ptr<ir::Model>>(Error{compiled.complaint}));
    elaborate::Program program(weights::read_weights);
    elaborate::FileModule* module = elaborate::load_text(program, "file.py", kScript);
    made.push_back(
        compile_script(program, *elaborate::scripts(*module).front(), {Form::kModel, {}, finish}));
    return made;
}

TEST(Finish, NamesTheProducer) {
    Finish finish;
    finish.producer_version = "2";
    for (const auto& model : made_both_ways(finish)) {
        ASSERT_TRUE(model.ok());
        EXPECT_EQ((*model)->producer_name, "own");
        EXPECT_EQ((*model)->producer_version, "2");
    }
    finish.producer_name = "caller";
    for (const auto& model : made_both_ways(finish)) {
        ASSERT_TRUE(model.ok());
        EXPECT_EQ((*model)->producer_name, "caller");
    }
}

TEST(Finish, GivesNodesTheMetadataOfTheirLines) {
    LineMetadata lines;
    lines[6] = {{"place", "six"}};
    Finish finish;
    finish.metadata = std::make_shared<const LineMetadata>(lines);
    for (const auto& model : made_both_ways(finish)) {
        ASSERT_TRUE(model.ok());
        const ir::Node& relu = *(*model)->graph->first_node();
        ASSERT_EQ(relu.metadata.size(), 1U);
        EXPECT_EQ(relu.metadata[0].second, "six");
        EXPECT_TRUE(relu.next()->metadata.empty());
    }
}

TEST(Finish, SaysWhatAReleaseCannotRun) {
    Finish finish;
    finish.runtime = models::read_runtime("onnxruntime-1.17").value();  // before opset 23
    for (const auto& model : made_both_ways(finish)) {
        ASSERT_FALSE(model.ok());
        EXPECT_NE(model.error().message.find("1.17"), std::string::npos) << model.error().message;
    }
}

TEST(Finish, IsThatOfTheRequestWhenTypesAreToldLater) {
    Request request;
    request.path = "file.py";
    request.text = kScript;
    request.finish.producer_name = "caller";
    Compilation compiled = compile(request);
    ASSERT_FALSE(compiled.has_failed());
    (void)compile_again(compiled, {});
    ASSERT_FALSE(compiled.has_failed());
    EXPECT_EQ(compiled.model->producer_name, "caller");
}

TEST(MakeLasting, TakesNoArrayOfTheCaller) {
    std::vector<float> array{1, 2};
    ir::Model model;
    model.opset_imports = {{"", 20}};
    model.graph = model.make_graph(nullptr);
    ir::Value* weight = model.add_initializer(
        model.graph, "w",
        Tensor::view_of(ElementType::kFloat, {2}, std::as_bytes(std::span(array)), nullptr));
    make_lasting(model);
    array[0] = 7;
    EXPECT_EQ(weight->constant->elements<float>()[0], 1);
    EXPECT_GT(model.ir_version, 0);
}

}  // namespace
}  // namespace sardonyx::driver
