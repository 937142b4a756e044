// What an inference function sees of its node. One function per operator, in files by family:
//   void infer_gather(NodeContext& c);
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infer/infer.h"
#include "ops/ops.h"

namespace sardonyx::infer {

// Contents of shape computations are followed up to this many elements.
inline constexpr size_t kMaxContent = 256;
// As the upper end of a range of ranks.
inline constexpr int kAnyRank = 1 << 20;
inline const Type kNoType;

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
    // Null when the input is absent, not a tensor, or of unknown rank. The pointers and references
    // hold until the node's outputs are set.
    const Shape* input_shape(size_t i) const;
    // -1 when unknown.
    int input_rank(size_t i) const;
    // The elements of an integer tensor of rank 0 or 1, constant or symbolic; elements that are not
    // known are unknown Dims. Empty optional: not even the number of elements is known.
    std::optional<std::vector<Dim>> input_dims(size_t i) const;
    // The same, when every element is a number.
    std::optional<std::vector<int64_t>> input_ints(size_t i) const;
    // Null also for an input of the graph that only has a default.
    const Tensor* input_constant(size_t i) const;
    // Of a real constant with one element.
    std::optional<double> input_number(size_t i) const;

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
    // The attribute itself after references have been followed; null: absent or unbound.
    const ir::Attribute* attribute(std::string_view name) const;
    // Whether the attribute refers to a parameter whose argument is not known.
    bool is_attribute_unbound(std::string_view name) const;

    // --- Outputs: an index past the node's outputs is ignored.
    size_t output_count() const { return node.output_count(); }
    // What the schema's type variables say about an output, given the inputs.
    ElementType output_element(size_t i) const;
    void set_output(size_t i, Type type);
    void set_output(size_t i, ElementType element, std::optional<Shape> shape) {
        set_output(i, Type::tensor(element, std::move(shape)));
    }
    // With the element type that the schema gives.
    void set_output_shape(size_t i, std::optional<Shape> shape) {
        set_output(i, output_element(i), std::move(shape));
    }
    // The contents of an integer or BOOL output whose type has been set before. Numbers that the
    // element type cannot hold become unknown.
    void set_output_dims(size_t i, bool is_scalar, std::vector<Dim> elements);
    // The type and the contents.
    void set_output_constant(size_t i, Tensor tensor);
    // A symbol of its own for one size that only the run will tell. Where nothing else has to be
    // equal to it an unknown Dim does: infer_node gives fresh symbols to those.
    Dim fresh_dim() const;

    // --- Findings.
    [[gnu::cold]] void fail(const diagnostics::Kind& kind, std::string_view message, int input = -1,
                            int other_input = -1, std::string help = {});
    [[gnu::cold]] void fail_attribute(const diagnostics::Kind& kind, std::string_view attribute,
                                      std::string_view message, std::string help = {});

    // --- Vocabulary that many operators share.
    // "input `A` of `Add`": for messages.
    std::string input_name(size_t i) const;
    // Output `out` has the element type that the schema gives and the shape of input `in`.
    void pass_shape(size_t in = 0, size_t out = 0);
    // False, with a Finding, when the rank is known and outside [minimum, maximum].
    bool check_rank(size_t input, int minimum, int maximum);  // maximum kAnyRank: any
    bool check_rank(size_t input, int rank) { return check_rank(input, rank, rank); }
    // Two dims that must be equal: what is known of them together. A Finding when they differ, and
    // then the first. Unknown where a shape is unknown or the axis is not in it; axes are
    // non-negative.
    Dim match_dims(size_t input_a, int axis_a, size_t input_b, int axis_b);
    // Numpy broadcasting; a Finding where two dims cannot go together. No shape when one is
    // unknown.
    std::optional<Shape> broadcast(std::initializer_list<size_t> inputs);
    std::optional<Shape> broadcast(std::span<const size_t> inputs);
    // An axis of [-rank, rank) as [0, rank); a Finding (on the attribute or input) and nothing when
    // it is not.
    std::optional<int> normalize_axis(int64_t axis, int rank, std::string_view attribute,
                                      int input = -1);

  private:
    [[gnu::cold]] void fail_broadcast(std::span<const size_t> earlier, size_t input,
                                      size_t axis_from_end);
};

// The constant that a value is for sure; null also for an input that only has a default.
const Tensor* constant_of(const Context& context, const ir::Value& value);
// The attribute that a reference ends at, through the calls; null where that is not known.
const ir::Attribute* resolve_attribute(const ir::Attribute& attribute, const Call* call);
// The next symbol for a size that is known at run time only.
Dim fresh_dim(int& next);
// What is known of one number that both dims are: a number before an expression before nothing.
const Dim& known_dim(const Dim& a, const Dim& b);
// The product; unknown when a factor is, except that a factor 0 makes it 0.
Dim product(std::span<const Dim> dims);
// "[2,N]": for messages.
std::string to_text(const Shape& shape);
// The dim of two that broadcast, unknown where that cannot be told; nothing when they certainly do
// not.
std::optional<Dim> broadcast_dims(const Dim& a, const Dim& b);
std::string to_text(const std::vector<int64_t>& values);

using InferFunction = void (*)(NodeContext&);

}  // namespace sardonyx::infer
