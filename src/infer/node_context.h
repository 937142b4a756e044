// What an inference function sees of its node. One function per operator, in files by family:
//   void infer_gather(NodeContext& c);
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infer/infer.h"
#include "ops/ops.h"

namespace sardonyx::infer {

class NodeContext {
  public:
    NodeContext(const Context& context, ir::Node& node, const ops::Schema* schema)
        : context(context), node(node), schema(schema) {}

    const Context& context;
    ir::Node& node;
    const ops::Schema* schema;  // of the version in force

    int version() const { return schema->since_version; }

    // --- Inputs: safe for any index; an input left out has no type.
    bool has_input(size_t i) const { return node.input(i) != nullptr; }
    const Type& input_type(size_t i) const;
    ElementType input_element(size_t i) const { return input_type(i).element_type(); }
    // Null when the input is absent, not a tensor, or of unknown rank.
    const Shape* input_shape(size_t i) const;
    // -1 when unknown.
    int input_rank(size_t i) const;
    // The elements of an integer tensor of rank 0 or 1, constant or symbolic; elements that are not
    // known are unknown Dims. Empty optional: not even the number of elements is known.
    std::optional<std::vector<Dim>> input_dims(size_t i) const;
    // The same, when every element is a number.
    std::optional<std::vector<int64_t>> input_ints(size_t i) const;
    const Tensor* input_constant(size_t i) const;

    // --- Attributes: the default of the schema where the node has none. Nothing when there is
    // neither, when the type is wrong (a Finding has been made before), or when it refers to an
    // unbound parameter.
    bool has_attribute(std::string_view name) const;
    std::optional<int64_t> attribute_int(std::string_view name) const;
    std::optional<float> attribute_float(std::string_view name) const;
    std::optional<std::string_view> attribute_string(std::string_view name) const;
    std::optional<std::vector<int64_t>> attribute_ints(std::string_view name) const;
    const Tensor* attribute_tensor(std::string_view name) const;
    ir::Graph* attribute_graph(std::string_view name) const;
    const Type* attribute_type(std::string_view name) const;

    // --- Outputs: an index past the node's outputs is ignored.
    size_t output_count() const { return node.output_count(); }
    void set_output(size_t i, Type type);
    void set_output(size_t i, ElementType element, std::optional<Shape> shape) {
        set_output(i, Type::tensor(element, std::move(shape)));
    }
    void set_output_dims(size_t i, bool is_scalar, std::vector<Dim> elements);
    void set_output_constant(size_t i, Tensor tensor);
    Dim fresh_dim() const;

    // --- Findings.
    void fail(const diagnostics::Kind& kind, std::string message, int input = -1,
              int other_input = -1, std::string help = {});
    void fail_attribute(const diagnostics::Kind& kind, std::string_view attribute,
                        std::string message, std::string help = {});

    // --- Vocabulary that many operators share.
    // Numpy broadcasting; a Finding where two dims cannot go together. No shape when one is
    // unknown.
    std::optional<Shape> broadcast(std::initializer_list<size_t> inputs);
    // An axis of [-rank, rank) as [0, rank); a Finding (on the attribute or input) and nothing when
    // it is not.
    std::optional<int> normalize_axis(int64_t axis, int rank, std::string_view attribute,
                                      int input = -1);
};

using InferFunction = void (*)(NodeContext&);

}  // namespace sardonyx::infer
