// Symbolic shapes and contents: what onnx.shape_inference, the oracle of
// tests/python/infer/test_oracle.py, cannot express.
#include "builder.h"
#include "infer/diagnostics.h"
#include "ops/ops.h"

namespace sardonyx::infer {
namespace {

using ir::make_attribute;
using Ints = std::vector<int64_t>;

TEST(Shapes, Broadcast) {
    Builder b;
    ir::Value* x = b.input("FLOAT[N, 1, 4]");
    EXPECT_EQ(type_of(b.op("Add", {x, b.input("FLOAT[3, 1]")})), "FLOAT[N, 3, 4]");
    EXPECT_EQ(type_of(b.op("Add", {x, x})), "FLOAT[N, 1, 4]");
    // N may be 1, M may be 1: neither is certain.
    EXPECT_EQ(type_of(b.op("Mul", {x, b.input("FLOAT[M, 1, 4]")})), "FLOAT[unk__0, 1, 4]");
    EXPECT_EQ(type_of(b.op("Mul", {x, b.input("FLOAT[7, 1, 4]")})), "FLOAT[7, 1, 4]");
    EXPECT_EQ(type_of(b.op("Less", {x, b.input("FLOAT")})), "BOOL[N, 1, 4]");
    EXPECT_EQ(type_of(b.op("Add", {x, b.input("FLOAT[...]")})), "FLOAT[...]");
    EXPECT_EQ(b.found(), "");
}

TEST(Shapes, ShapeArithmeticReachesReshape) {
    Builder b;
    ir::Value* x = b.input("FLOAT[N, M, 8]");
    ir::Value* shape = b.op("Shape", {x});
    EXPECT_EQ(Builder::contents(shape), "[N,M,8]");
    ir::Value* n = b.op("Gather", {shape, b.scalar(0)}, {make_attribute("axis", int64_t{0})});
    EXPECT_EQ(Builder::contents(n), "N");
    ir::Value* m = b.op("Gather", {shape, b.ints({-2})});
    ir::Value* doubled = b.op("Mul", {m, b.scalar(2)});
    EXPECT_EQ(Builder::contents(doubled), "[2*M]");
    ir::Value* n1 = b.op("Unsqueeze", {n, b.ints({0})});
    ir::Value* target =
        b.op("Concat", {n1, doubled, b.ints({-1})}, {make_attribute("axis", int64_t{0})});
    EXPECT_EQ(Builder::contents(target), "[N,2*M,-1]");
    EXPECT_EQ(type_of(b.op("Reshape", {x, target})), "FLOAT[N, 2*M, 4]");
    EXPECT_EQ(type_of(b.op("Expand", {b.input("FLOAT[1]"), shape})), "FLOAT[N, M, 8]");
    EXPECT_EQ(type_of(b.op("ConstantOfShape", {b.op("Slice", {shape, b.ints({1}), b.ints({3})})})),
              "FLOAT[M, 8]");
    EXPECT_EQ(type_of(b.op("Range", {b.scalar(0), b.op("Add", {n, b.scalar(1)}), b.scalar(1)})),
              "INT64[N+1]");
    EXPECT_EQ(type_of(b.op("Tile", {x, b.ints({1, 2, 3})})), "FLOAT[N, 2*M, 24]");
    EXPECT_EQ(Builder::contents(b.op("Size", {x})), "8*M*N");
    EXPECT_EQ(
        Builder::contents(b.op("ReduceProd", {shape}, {make_attribute("keepdims", int64_t{0})})),
        "8*M*N");
    EXPECT_EQ(b.found(), "");
}

TEST(Shapes, IntegerFolding) {
    Builder b;
    auto binary = [&b](const char* op, int64_t left, int64_t right) {
        return Builder::contents(b.op(op, {b.scalar(left), b.scalar(right)}));
    };
    EXPECT_EQ(binary("Div", -7, 2), "-3");
    EXPECT_EQ(binary("Mod", -7, 2), "1");
    EXPECT_EQ(binary("Div", 7, 0), "");
    EXPECT_EQ(binary("Div", INT64_MIN, -1), "");
    EXPECT_EQ(binary("Add", INT64_MAX, 1), "");
    EXPECT_EQ(binary("Equal", 3, 3), "1");
    EXPECT_EQ(binary("Less", 3, 3), "0");
    EXPECT_EQ(binary("Min", 3, -3), "-3");
    EXPECT_EQ(binary("Pow", 3, 4), "81");
    ir::Value* n = b.op("Size", {b.input("FLOAT[N]")});
    EXPECT_EQ(Builder::contents(b.op("Greater", {b.op("Add", {n, b.scalar(1)}), b.scalar(0)})),
              "1");
    EXPECT_EQ(Builder::contents(b.op("Greater", {n, b.scalar(0)})), "");
    EXPECT_EQ(Builder::contents(b.op("Where", {b.op("Equal", {n, n}), n, b.scalar(7)})), "N");
    // A narrow type wraps around: 200 is not an INT8.
    ir::Value* narrow = b.op("Cast", {b.scalar(200)}, {make_attribute("to", int64_t{3})});
    EXPECT_EQ(type_of(narrow), "INT8");
    EXPECT_EQ(Builder::contents(narrow), "");
}

TEST(Shapes, SliceOfSymbolicAxis) {
    Builder b;
    ir::Value* x = b.input("FLOAT[N+4]");
    auto slice = [&](Ints start, Ints end, Ints step) {
        return type_of(b.op("Slice", {x, b.ints(start), b.ints(end), b.ints({0}), b.ints(step)}));
    };
    EXPECT_EQ(slice({1}, {INT64_MAX}, {1}), "FLOAT[N+3]");
    EXPECT_EQ(slice({0}, {-1}, {1}), "FLOAT[N+3]");
    EXPECT_EQ(slice({0}, {3}, {1}), "FLOAT[3]");
    EXPECT_EQ(slice({-2}, {INT64_MAX}, {1}), "FLOAT[2]");
    EXPECT_EQ(slice({-1}, {INT64_MIN}, {-1}), "FLOAT[N+4]");
    EXPECT_EQ(slice({3}, {1}, {1}), "FLOAT[0]");
    EXPECT_EQ(slice({0}, {4}, {2}), "FLOAT[2]");
    EXPECT_EQ(slice({0}, {1}, {INT64_MAX}), "FLOAT[1]");
    EXPECT_EQ(b.found(), "");
}

TEST(Shapes, ReshapeKeepsTheCount) {
    Builder b;
    ir::Value* x = b.input("FLOAT[N, 6]");
    EXPECT_EQ(type_of(b.op("Reshape", {x, b.ints({-1, 3})})), "FLOAT[2*N, 3]");
    EXPECT_EQ(type_of(b.op("Reshape", {x, b.ints({0, 2, -1})})), "FLOAT[N, 2, 3]");
    ir::Value* y = b.input("FLOAT[N, M]");
    ir::Value* n = b.op("Shape", {y}, {make_attribute("end", int64_t{1})});
    ir::Value* thirds = b.op("Concat", {n, b.ints({3, -1})}, {make_attribute("axis", int64_t{0})});
    EXPECT_EQ(type_of(b.op("Reshape", {y, thirds})), "FLOAT[N, 3, M//3]");
    // One size that is not known can be told from the others.
    ir::Value* unknown =
        b.op("Concat", {b.input("INT64[1]"), b.ints({2})}, {make_attribute("axis", int64_t{0})});
    EXPECT_EQ(type_of(b.op("Reshape", {x, unknown})), "FLOAT[3*N, 2]");
    EXPECT_EQ(type_of(b.op("Reshape", {x, b.input("INT64[3]")})), "FLOAT[unk__0, unk__1, unk__2]");
    // Nothing is as much as nothing, whatever the other sizes are.
    ir::Value* empty = b.input("FLOAT[N, 0, 4]");
    EXPECT_EQ(type_of(b.op("Reshape", {empty, b.ints({0, 0, 7})})), "FLOAT[N, 0, 7]");
    EXPECT_EQ(b.found(), "");
}

TEST(Shapes, UnknownInputsFindNothing) {
    // Every operator, each input unknown: no finding can be made, and nothing breaks.
    for (const ops::Schema& schema : ops::schemas()) {
        for (const char* type : {"?", "tensor"}) {
            Builder b;
            b.model.opset_imports = {{schema.domain, schema.since_version}};
            std::vector<ir::Value*> inputs;
            for (size_t i = 0; i < std::max<size_t>(schema.minimum_inputs, 1); ++i) {
                bool takes_tensors =
                    schema.input(i) != nullptr &&
                    schema.type_variables[schema.input(i)->type_variable].types.tensor != 0;
                bool is_tensor = std::string_view(type) == "tensor" && takes_tensors;
                inputs.push_back(
                    b.model.add_input(b.graph, "x" + std::to_string(i),
                                      is_tensor ? Type::tensor(ElementType::kUndefined) : Type()));
            }
            inputs.resize(std::min<size_t>(inputs.size(), schema.maximum_inputs));
            b.node(schema.name, inputs, {}, std::max<size_t>(schema.minimum_outputs, 1),
                   schema.domain);
            // The nodes lack their attributes.
            std::erase_if(b.findings, [](const Finding& finding) {
                return finding.kind->code == kMissingAttribute.code;
            });
            std::string found = b.found();
            // Optional needs an input or its attribute; optimizers need more inputs than this.
            bool is_incomplete = schema.name == "Optional" || found.rfind("argument-count", 0) == 0;
            EXPECT_TRUE(found.empty() || is_incomplete) << schema.name << ": " << found;
        }
    }
}

TEST(Shapes, FreshSizesAreShared) {
    Builder b;
    ir::Node* top = b.node("TopK", {b.input("FLOAT[9]"), b.input("INT64[1]")}, {}, 2);
    EXPECT_EQ(type_of(top->output(0)), "FLOAT[unk__0]");
    EXPECT_EQ(type_of(top->output(1)), "INT64[unk__0]");
    ir::Value* nonzero = b.op("NonZero", {b.input("FLOAT[2, 3]")});
    EXPECT_EQ(type_of(nonzero), "INT64[2, unk__1]");
    EXPECT_EQ(type_of(b.op("Add", {nonzero, nonzero})), "INT64[2, unk__1]");
}

TEST(Shapes, DeclaredTypesAreMerged) {
    Builder b;
    std::vector<std::string_view> names = {"y"};
    std::vector<ir::Value*> inputs = {b.input("FLOAT[?, 3]")};
    ir::Node* node = b.model.make_node("", "Neg", inputs, names);
    node->output()->type = *parse_type("FLOAT[B, 3]");
    b.graph->insert(node);
    infer_node(b.context(), *node);
    EXPECT_EQ(type_of(node->output()), "FLOAT[B, 3]");
    EXPECT_EQ(b.found(), "");
    node->output()->type = *parse_type("FLOAT[B, 4]");
    infer_node(b.context(), *node);
    EXPECT_EQ(type_of(node->output()), "FLOAT[unk__0, 3]");
    EXPECT_EQ(b.found(),
              "declared-type-mismatch: `y` is declared as FLOAT[B, 4], but `Neg` makes it "
              "FLOAT[?, 3]\n");
}

}  // namespace
}  // namespace sardonyx::infer
