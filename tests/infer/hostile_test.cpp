// Whatever the types, contents and attributes of a node, inference neither crashes nor overflows
// (run it under the sanitizers), and with nothing known it finds nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "infer/infer.h"
#include "infer/operators.h"
#include "ops/ops.h"

namespace sardonyx::infer {
namespace {

constexpr int64_t kNumbers[] = {
    0,         1,  2,   3,         4,         7,         -1,      -2,
    -3,        16, 255, INT32_MAX, INT64_MAX, INT64_MIN, 1 << 20, INT64_MAX / 2,
    INT32_MIN, 5};
constexpr float kFloats[] = {0.0F, 1.0F, 0.5F, -1.0F, 1e-30F, 1e30F, 3.3F, 2.0F};
constexpr const char* kTexts[] = {"",          "SAME_UPPER",    "VALID",      "NOTSET",
                                  "none",      "bidirectional", "not_larger", "RGB",
                                  "ij,jk->ik", "...i,i",        "linear",     "DCR"};

// A deterministic source of node parts.
class Source {
  public:
    explicit Source(uint32_t seed) : engine_(seed) {}

    size_t below(size_t count) { return engine_() % count; }
    template <typename T, size_t kSize>
    T one_of(const T (&items)[kSize]) {
        return items[below(kSize)];
    }
    int64_t number() { return one_of(kNumbers); }

    Dim dim() {
        switch (below(5)) {
            case 0:
                return Dim();
            case 1:
                return Dim::symbol("N");
            case 2:
                return Dim::symbol("N") * Dim(number()) + Dim(number());
            default:
                return Dim(static_cast<int64_t>(below(9)));
        }
    }
    Type tensor_type(ops::ElementMask mask) {
        ElementType element = ElementType::kUndefined;
        for (int tries = 0; tries < 64 && element == ElementType::kUndefined; ++tries) {
            int number = static_cast<int>(1 + below(kElementTypeCount - 1));
            bool is_admitted = (mask >> number & 1U) != 0 || below(32) == 0;
            element = is_admitted ? static_cast<ElementType>(number) : element;
        }
        if (below(8) == 0) {
            return Type::tensor(element);
        }
        Shape shape(below(6));
        for (Dim& each : shape) {
            each = dim();
        }
        return Type::tensor(element, std::move(shape));
    }
    Type type(const ops::TypeSet& types) {
        switch (below(12)) {
            case 0:
                return Type();
            case 1:
                return Type::sequence(tensor_type(types.tensor | types.sequence));
            case 2:
                return Type::optional(tensor_type(types.tensor | types.optional_tensor));
            case 3:
                return Type::map(ElementType::kInt64, Type::tensor(ElementType::kFloat, Shape{}));
            default:
                if (types.tensor == 0 && types.sequence != 0) {
                    return Type::sequence(tensor_type(types.sequence));
                }
                return tensor_type(types.tensor);
        }
    }
    Tensor constant() {
        std::vector<int64_t> values(below(6));
        std::vector<float> floats;
        for (int64_t& value : values) {
            value = number();
            floats.push_back(one_of(kFloats));
        }
        Dims dims{static_cast<int64_t>(values.size())};
        if (values.size() == 1 && below(2) == 0) {
            dims.clear();
        }
        return below(3) == 0 ? Tensor::of<float>(dims, floats) : Tensor::of<int64_t>(dims, values);
    }
    ir::AttributeValue attribute(ops::AttributeType wanted) {
        ops::AttributeType kind =
            below(16) == 0 ? static_cast<ops::AttributeType>(1 + below(8)) : wanted;
        switch (kind) {
            case ops::AttributeType::kFloat:
                return one_of(kFloats);
            case ops::AttributeType::kInt:
                return number();
            case ops::AttributeType::kString:
                return std::string(one_of(kTexts));
            case ops::AttributeType::kTensor:
                return constant();
            case ops::AttributeType::kFloats:
                return std::vector<float>(below(5), one_of(kFloats));
            case ops::AttributeType::kInts: {
                std::vector<int64_t> values(below(9));
                for (int64_t& value : values) {
                    value = below(3) == 0 ? number() : static_cast<int64_t>(1 + below(3));
                }
                return values;
            }
            case ops::AttributeType::kStrings:
                return std::vector<std::string>(below(4), one_of(kTexts));
            default:
                return {};
        }
    }

  private:
    std::mt19937 engine_;
};

void infer_random_node(const ops::Schema& schema, Source& source) {
    ir::Model model;
    model.opset_imports = {{schema.domain, schema.since_version}};
    ir::Graph* graph = model.make_graph(nullptr);
    std::vector<ir::Value*> inputs;
    size_t count = source.below(std::min<size_t>(schema.maximum_inputs, 9) + 2);
    for (size_t i = 0; i < count; ++i) {
        const ops::Parameter* parameter = schema.input(i);
        std::string name = "i" + std::to_string(i);
        size_t kind = source.below(10);
        if (kind == 0) {
            inputs.push_back(nullptr);
        } else if (kind <= 2) {
            inputs.push_back(model.add_initializer(graph, name, source.constant()));
        } else {
            ops::TypeSet types = parameter != nullptr
                                     ? schema.type_variables[parameter->type_variable].types
                                     : ops::TypeSet{};
            ir::Value* value = model.add_input(graph, name, source.type(types));
            if (kind <= 4 && value->type.is_tensor() && value->type.has_shape() &&
                value->type.shape().size() <= 1 && is_integer(value->type.element_type())) {
                bool is_scalar = value->type.shape().empty();
                size_t elements = is_scalar ? 1 : source.below(6);
                value->content = std::make_unique<ir::SymbolicContent>();
                value->content->is_scalar = is_scalar;
                for (size_t k = 0; k < elements; ++k) {
                    value->content->elements.push_back(source.below(2) == 0 ? source.dim()
                                                                            : source.number());
                }
                if (!is_scalar) {
                    value->type.set_shape(Shape{static_cast<int64_t>(elements)});
                }
            }
            inputs.push_back(value);
        }
    }
    std::vector<std::string_view> names = {"a", "b", "c", "d", "e"};
    names.resize(1 + source.below(names.size()));
    ir::Node* node = model.make_node(schema.domain, schema.name, inputs, names);
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        if (source.below(3) != 0) {
            node->attributes.push_back(
                ir::make_attribute(attribute.name, source.attribute(attribute.type)));
        } else if (source.below(8) == 0) {
            ir::Attribute reference;
            reference.name = attribute.name;
            reference.reference = "parameter";
            reference.type = static_cast<ir::AttributeType>(attribute.type);
            node->attributes.push_back(reference);
        }
    }
    graph->insert(node);
    std::vector<Finding> findings;
    Context context;
    context.model = &model;
    context.opset_imports = model.opset_imports;
    context.findings = &findings;
    infer_node(context, *node);
    for (const Finding& finding : findings) {
        EXPECT_FALSE(finding.message.empty());
        EXPECT_NE(finding.message.back(), '.');
    }
}

TEST(Hostile, RandomNodes) {
    Source source(1);
    for (const ops::Schema& schema : ops::schemas()) {
        for (int round = 0; round < 40; ++round) {
            SCOPED_TRACE(std::string(schema.name));
            infer_random_node(schema, source);
        }
    }
}

// As many inputs and outputs as the operator has, of no known type, and no attributes but those
// that it requires, as references to parameters.
TEST(Hostile, NothingKnownNothingFound) {
    for (const ops::Schema& schema : ops::schemas()) {
        ir::Model model;
        model.opset_imports = {{schema.domain, schema.since_version}};
        ir::Graph* graph = model.make_graph(nullptr);
        std::vector<ir::Value*> inputs;
        // Optimizers take groups of 3 or 4 after their first two inputs.
        size_t count = schema.maximum_inputs == UINT16_MAX ? schema.minimum_inputs + 11U
                                                           : schema.maximum_inputs;
        for (size_t i = 0; i < count; ++i) {
            inputs.push_back(model.add_input(graph, "i" + std::to_string(i)));
        }
        std::vector<std::string_view> names(std::max<size_t>(schema.minimum_outputs, 1), "o");
        ir::Node* node = model.make_node(schema.domain, schema.name, inputs, names);
        for (const ops::AttributeSchema& attribute : schema.attributes) {
            ir::Attribute reference;
            reference.name = attribute.name;
            reference.reference = "parameter";
            reference.type = static_cast<ir::AttributeType>(attribute.type);
            node->attributes.push_back(reference);
        }
        graph->insert(node);
        std::vector<Finding> findings;
        Context context;
        context.model = &model;
        context.opset_imports = model.opset_imports;
        context.findings = &findings;
        infer_node(context, *node);
        EXPECT_TRUE(findings.empty())
            << schema.name << " " << schema.since_version << ": " << findings.front().message;
    }
}

}  // namespace
}  // namespace sardonyx::infer
