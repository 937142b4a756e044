// Attention and the operators around it: rotary embedding, linear attention, causal convolution
// with state, and the update of a cache.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

constexpr std::string_view kHeadsLayout = "(batch, heads, sequence, head size)";

// The sizes of Q, K or V, which is (batch, heads, sequence, head size) or, packed, (batch,
// sequence, heads * head size).
struct Heads {
    bool is_packed = false;
    Dim batch;
    Dim heads;
    Dim sequence;
    Dim head_size;
};

Heads read_heads(NodeContext& c, size_t input, std::string_view heads_attribute) {
    Heads result;
    const Shape* shape = shape_of_rank(
        c, input, 3, 4, "(batch, heads, sequence, head size) or (batch, sequence, heads * size)");
    if (shape == nullptr) {
        return result;
    }
    result.batch = (*shape)[0];
    if (shape->size() == 4) {
        result.heads = (*shape)[1];
        result.sequence = (*shape)[2];
        result.head_size = (*shape)[3];
        return result;
    }
    result.is_packed = true;
    result.sequence = (*shape)[1];
    std::optional<int64_t> heads = int_in_range(c, heads_attribute, 1);
    if (!heads.has_value()) {
        if (!c.has_attribute(heads_attribute)) {
            c.fail_attribute(kInvalidValue, heads_attribute,
                             fmt::format("{} has rank 3, and then `{}` is needed",
                                         c.input_name(input), heads_attribute),
                             fmt::format("write `{}=...`, or give {} rank 4", heads_attribute,
                                         c.input_name(input)));
        }
        return result;
    }
    result.heads = *heads;
    const Dim& hidden = (*shape)[2];
    if (hidden.is_static() && hidden.value() % *heads != 0) {
        c.fail(kShapeMismatch,
               fmt::format("the last dimension of {} is {}, and must be a multiple of `{}`, {}",
                           c.input_name(input), hidden.value(), heads_attribute, *heads),
               static_cast<int>(input));
        return result;
    }
    result.head_size = exact_quotient(hidden, *heads);
    return result;
}

void check_agreement(NodeContext& c, const Dim& a, size_t input_a, const Dim& b, size_t input_b,
                     std::string_view what) {
    if (a.differs(b)) {
        c.fail(
            kShapeMismatch,
            fmt::format("{} of {} is {} and that of {} is {}, and they must be equal", what,
                        c.input_name(input_a), a.to_string(), c.input_name(input_b), b.to_string()),
            static_cast<int>(input_b), static_cast<int>(input_a));
    }
}

void check_grouping(NodeContext& c, const Dim& query_heads, const Dim& kv_heads) {
    if (query_heads.is_static() && kv_heads.is_static() && kv_heads.value() > 0 &&
        query_heads.value() % kv_heads.value() != 0) {
        c.fail(kInvalidValue,
               fmt::format("`{}` has {} heads of queries and {} of keys, and the first must be a "
                           "multiple of the second",
                           c.schema->name, query_heads.value(), kv_heads.value()),
               0, 1);
    }
}

// The output of attention: the queries' layout with the values' head size.
std::optional<Shape> attended_shape(const Heads& q, const Heads& v) {
    return q.is_packed ? Shape{q.batch, q.sequence, q.heads * v.head_size}
                       : Shape{q.batch, q.heads, q.sequence, v.head_size};
}

// Sizes that Q, K and V share; makes each say what all of them know.
void reconcile(NodeContext& c, Heads& q, Heads& k, Heads& v) {
    check_agreement(c, q.batch, 0, k.batch, 1, "the batch size");
    check_agreement(c, k.batch, 1, v.batch, 2, "the batch size");
    check_agreement(c, q.head_size, 0, k.head_size, 1, "the head size");
    check_agreement(c, k.heads, 1, v.heads, 2, "the number of heads");
    check_agreement(c, k.sequence, 1, v.sequence, 2, "the sequence length");
    check_grouping(c, q.heads, k.heads);
    q.batch = known_dim(q.batch, known_dim(k.batch, v.batch));
    k.batch = v.batch = q.batch;
    k.heads = v.heads = known_dim(k.heads, v.heads);
    k.sequence = v.sequence = known_dim(k.sequence, v.sequence);
    k.head_size = known_dim(k.head_size, q.head_size);
}

// past_key or past_value: gives the past length.
Dim read_past(NodeContext& c, size_t input, const Heads& heads) {
    if (!c.has_input(input)) {
        return 0;
    }
    if (shape_of_rank(c, input, 4, kHeadsLayout) == nullptr) {
        return {};
    }
    expect_dim(c, {input, 0}, heads.batch, "the batch size");
    expect_dim(c, {input, 1}, heads.heads, "the number of heads of keys and values");
    expect_dim(c, {input, 3}, heads.head_size, "the head size");
    return input_dim(c, input, 2);
}

// The subgraph of FlexAttention takes and gives one tensor of this type.
void infer_modifier(NodeContext& c, std::string_view attribute, const Type& type) {
    ir::Graph* graph = c.attribute_graph(attribute);
    if (graph == nullptr) {
        return;
    }
    if (graph->inputs.size() != 1 || graph->outputs.size() != 1) {
        c.fail_attribute(
            kInvalidValue, attribute,
            fmt::format("`{}` of `{}` has {} inputs and {} outputs, and must have one "
                        "of each",
                        attribute, c.schema->name, graph->inputs.size(), graph->outputs.size()));
        return;
    }
    if (!c.context.subgraphs_are_typed) {
        graph->inputs[0]->type = type;
        infer_graph(c.context, *graph);
    }
    const Type& result = graph->outputs[0]->type;
    if (result.is_known() && !merge(result, type).has_value()) {
        c.fail_attribute(
            kTypeMismatch, attribute,
            fmt::format("`{}` of `{}` gives {}, and must give what it takes, {}", attribute,
                        c.schema->name, result.to_string(), type.to_string()));
    }
}

// The gates of LinearAttention: the decay has one number for each element of the key, or for each
// head, and the update rate one for each head, or for all.
void check_linear_gates(NodeContext& c, const Heads& k) {
    constexpr size_t kDecay = 4, kRate = 5;
    std::optional<std::string_view> rule = c.attribute_string("update_rule");
    for (size_t input : {kDecay, kRate}) {
        bool is_needed = rule == "gated_delta" || rule == (input == kDecay ? "gated" : "delta");
        if (!c.has_input(input)) {
            if (is_needed) {
                c.fail(kArgumentCount,
                       fmt::format("`update_rule` of `{}` is `{}`, which needs `{}`",
                                   c.schema->name, *rule, c.schema->input(input)->name),
                       -1, -1, "give the input, or another rule");
            }
            continue;
        }
        if (shape_of_rank(c, input, 3, "(batch, sequence, gates)") == nullptr) {
            continue;
        }
        expect_dim(c, {input, 0}, k.batch, "the batch size");
        expect_dim(c, {input, 1}, k.sequence, "the sequence length");
        Dim gates = input_dim(c, input, 2);
        Dim other = input == kDecay ? k.heads * k.head_size : Dim(1);
        if (gates.differs(k.heads) && gates.differs(other)) {
            c.fail(kShapeMismatch,
                   fmt::format("the last dimension of {} is {}, and must be {} or {}",
                               c.input_name(input), gates.to_string(), k.heads.to_string(),
                               other.to_string()),
                   static_cast<int>(input));
        }
    }
}

}  // namespace

void infer_attention(NodeContext& c) {
    Heads q = read_heads(c, 0, "q_num_heads");
    Heads k = read_heads(c, 1, "kv_num_heads");
    Heads v = read_heads(c, 2, "kv_num_heads");
    bool is_layout_known = c.input_rank(0) == 3 || c.input_rank(0) == 4;
    for (size_t i : {1, 2}) {
        if (is_layout_known && c.input_rank(i) >= 0 && c.input_rank(i) != c.input_rank(0)) {
            c.fail(kRankMismatch,
                   fmt::format("`Q` has rank {} and {} has rank {}, and must be alike",
                               c.input_rank(0), c.input_name(i), c.input_rank(i)),
                   static_cast<int>(i), 0);
        }
    }
    reconcile(c, q, k, v);
    if (c.has_input(4) != c.has_input(5)) {
        c.fail(kInvalidValue,
               fmt::format("`{}` has only one of `past_key` and `past_value`", c.schema->name),
               c.has_input(4) ? 4 : 5, -1, "give both, or neither");
    }
    auto gives = [&c](size_t i) {
        return i < c.node.output_count() && !c.node.output(i)->name.empty();
    };
    constexpr int kBothOrNeither = 25;  // older versions give each by itself
    if (c.version() >= kBothOrNeither && gives(1) != gives(2)) {
        c.fail(
            kArgumentCount,
            fmt::format("`{}` gives only one of `present_key` and `present_value`", c.schema->name),
            -1, -1, "take both, or neither");
    }
    int_in_range(c, "qk_matmul_output_mode", 0, 3);
    Dim past = known_dim(read_past(c, 4, k), read_past(c, 5, v));
    Dim total = past + k.sequence;
    c.set_output_shape(0, is_layout_known ? attended_shape(q, v) : std::optional<Shape>());
    c.set_output_shape(1, Shape{k.batch, k.heads, total, k.head_size});
    c.set_output_shape(2, Shape{v.batch, v.heads, total, v.head_size});
    c.set_output_shape(3, Shape{q.batch, q.heads, q.sequence, total});
}

void infer_flex_attention(NodeContext& c) {
    Heads parts[3];
    for (size_t i = 0; i < 3; ++i) {
        const Shape* shape = shape_of_rank(c, i, 4, kHeadsLayout);
        parts[i] = {false, dim_at(shape, 0), dim_at(shape, 1), dim_at(shape, 2), dim_at(shape, 3)};
    }
    reconcile(c, parts[0], parts[1], parts[2]);
    const Heads& q = parts[0];
    ElementType precision = c.input_element(0);
    if (precision != ElementType::kUndefined && precision != ElementType::kDouble) {
        precision = ElementType::kFloat;
    }
    precision = element_from_attribute(c, "softmax_precision", precision);
    Type scores = Type::tensor(precision, Shape{q.batch, q.heads, q.sequence, parts[1].sequence});
    infer_modifier(c, "score_mod", scores);
    infer_modifier(c, "prob_mod", scores);
    c.set_output_shape(0, attended_shape(q, parts[2]));
}

void infer_rotary_embedding(NodeContext& c) {
    Heads heads = read_heads(c, 0, "num_heads");
    bool has_positions = c.has_input(3);
    std::string_view layout = has_positions ? "(positions, half of the rotated size)"
                                            : "(batch, sequence, half of the rotated size)";
    std::optional<int64_t> rotated = int_in_range(c, "rotary_embedding_dim", 0);
    Dim size = rotated.value_or(0) > 0 ? Dim(*rotated) : heads.head_size;
    if (size.is_static() && size.value() % 2 != 0) {
        c.fail(kInvalidValue,
               fmt::format("`{}` rotates {} elements of each head, and must rotate an even number",
                           c.schema->name, size.value()),
               0);
        size = Dim();
    }
    for (size_t cache : {1, 2}) {
        if (shape_of_rank(c, cache, has_positions ? 2 : 3, layout) == nullptr) {
            continue;
        }
        expect_dim(c, {cache, -1}, floor_div(size, 2), "half of the rotated size");
        if (!has_positions) {
            expect_dim(c, {cache, 0}, heads.batch, "the batch size");
            expect_dim(c, {cache, 1}, heads.sequence, "the sequence length");
        }
    }
    if (has_positions && shape_of_rank(c, 3, 2, "(batch, sequence)") != nullptr) {
        expect_dim(c, {3, 0}, heads.batch, "the batch size");
        expect_dim(c, {3, 1}, heads.sequence, "the sequence length");
    }
    c.pass_shape(0, 0);
}

void infer_linear_attention(NodeContext& c) {
    constexpr std::string_view kLayout = "(batch, sequence, heads * head size)";
    for (size_t i : {0, 1, 2}) {
        shape_of_rank(c, i, 3, kLayout);
    }
    bool are_packed = true;
    for (size_t i : {0, 1, 2}) {
        are_packed = are_packed && (c.input_rank(i) < 0 || c.input_rank(i) == 3);
    }
    Heads q;
    Heads k;
    Heads v;
    if (are_packed) {
        q = read_heads(c, 0, "q_num_heads");
        k = read_heads(c, 1, "kv_num_heads");
        v = read_heads(c, 2, "kv_num_heads");
        check_agreement(c, q.sequence, 0, k.sequence, 1, "the sequence length");
        reconcile(c, q, k, v);
        q.sequence = known_dim(q.sequence, k.sequence);
    }
    q.is_packed = true;
    std::optional<int64_t> query_heads = c.attribute_int("q_num_heads");
    q.heads = query_heads.has_value() ? Dim(*query_heads) : Dim();
    std::optional<int64_t> kv_heads = c.attribute_int("kv_num_heads");
    k.heads = kv_heads.has_value() ? Dim(*kv_heads) : Dim();
    k.head_size = known_dim(k.head_size, q.head_size);
    check_linear_gates(c, k);
    if (c.has_input(3) &&
        shape_of_rank(c, 3, 4, "(batch, heads, key size, value size)") != nullptr) {
        k.batch = expect_dim(c, {3, 0}, k.batch, "the batch size");
        expect_dim(c, {3, 1}, k.heads, "`kv_num_heads`");
        k.head_size = expect_dim(c, {3, 2}, k.head_size, "the key's head size");
        v.head_size = expect_dim(c, {3, 3}, v.head_size, "the value's head size");
    }
    q.batch = known_dim(q.batch, k.batch);
    c.set_output_shape(0, attended_shape(q, v));
    ElementType state = c.has_input(3) ? c.input_element(3) : c.input_element(0);
    c.set_output(1, state, Shape{q.batch, k.heads, k.head_size, v.head_size});
}

void infer_causal_conv_with_state(NodeContext& c) {
    const Shape* input = shape_of_rank(c, 0, 3, "(batch, channel, length)");
    const Shape* weight = shape_of_rank(c, 1, 3, "(channel, 1, kernel)");
    const Shape* state = shape_of_rank(c, 3, 3, "(batch, channel, kernel - 1)");
    Dim channels = dim_at(input, 1);
    Dim batch = dim_at(input, 0);
    Dim carried = dim_at(weight, 2) - 1;
    if (weight != nullptr) {
        channels =
            input != nullptr ? same_dim(c, {0, 1}, {1, 0}, "the number of channels") : (*weight)[0];
        expect_dim(c, {1, 1}, 1, "the convolution is depthwise");
    }
    if (shape_of_rank(c, 2, 1, "(channel)") != nullptr) {
        channels = expect_dim(c, {2, 0}, channels, "the number of channels");
    }
    if (state != nullptr) {
        batch = expect_dim(c, {3, 0}, batch, "the batch size");
        channels = expect_dim(c, {3, 1}, channels, "the number of channels");
        carried = expect_dim(c, {3, 2}, carried, "the kernel size less 1");
    }
    c.set_output_shape(0, Shape{batch, channels, dim_at(input, 2)});
    c.set_output_shape(1, Shape{batch, channels, carried});
}

void infer_tensor_scatter(NodeContext& c) {
    const Shape* cache = shape_of_rank(c, 0, 2, INT_MAX);
    c.pass_shape(0, 0);
    if (cache == nullptr) {
        return;
    }
    int rank = static_cast<int>(cache->size());
    std::optional<int64_t> axis = c.attribute_int("axis");
    std::optional<int> sequence =
        axis.has_value() ? c.normalize_axis(*axis, rank, "axis") : std::nullopt;
    if (sequence == 0) {
        c.fail_attribute(kAxisOutOfRange, "axis",
                         fmt::format("`axis` of `{}` is the batch dimension", c.schema->name),
                         "name the dimension of the sequence");
        return;
    }
    if (c.has_input(2) && shape_of_rank(c, 2, 1, "(batch)") != nullptr) {
        same_dim(c, {0, 0}, {2, 0}, "the batch size");
    }
    if (!sequence.has_value() || shape_of_rank(c, 1, rank) == nullptr) {
        return;
    }
    for (int i = 0; i < rank; ++i) {
        if (i != *sequence) {
            same_dim(c, {0, i}, {1, i}, "the size of the cache there");
        }
    }
}

}  // namespace sardonyx::infer
