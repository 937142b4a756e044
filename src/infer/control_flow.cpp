// If, Loop, Scan and SequenceMap: typing of their subgraphs.
//
// A loop body is typed under what holds for its inputs in every iteration. For the values that the
// loop carries this is a fixpoint: the first try takes the types of the initial values; where the
// body gives something else back, what differs is forgotten and the body is typed again. Bodies
// that the caller has typed already are only asked for their results.
#include <fmt/format.h>

#include <algorithm>

#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/filled_sequences.h"
#include "infer/operators.h"
#include "infer/subgraph.h"

namespace sardonyx::infer {
namespace {

// One subgraph to be typed, and what is known of its inputs.
struct Body {
    NodeContext& c;
    std::string_view attribute;
    ir::Graph& graph;
    std::vector<Type> inputs;
    std::vector<Type> declared;  // the types that the graph itself gives to its inputs
    // The values carried from iteration to iteration, as inputs and as outputs of the body.
    size_t states = 0;
    size_t first_state_input = 0;
    size_t first_state_output = 0;
    int true_input = -1;        // an input that is true whenever the body runs; -1: none
    bool keeps_shapes = false;  // carried values must have one shape in all iterations
};

const Type& output_type(const ir::Graph& graph, size_t i) {
    return i < graph.outputs.size() ? graph.outputs[i]->type : kNoType;
}

bool has_truth(const ir::Value* value, bool truth) {
    return value != nullptr && value->content != nullptr && value->content->elements.size() == 1 &&
           value->content->elements.front().equals(truth ? 1 : 0);
}

// Adds to `inputs` what the body declares about them.
void merge_declared_types(Body& body, std::vector<Finding>& findings) {
    body.inputs.resize(body.graph.inputs.size());
    for (size_t i = 0; i < body.inputs.size(); ++i) {
        const ir::Value& input = *body.graph.inputs[i];
        body.declared.push_back(input.type);
        if (std::optional<Type> both = merge(body.inputs[i], input.type)) {
            body.inputs[i] = std::move(*both);
            continue;
        }
        Finding finding;
        finding.kind = &kDeclaredTypeMismatch;
        finding.message =
            fmt::format("input `{}` of the body of `{}` is declared as {}, and gets {}", input.name,
                        body.c.node.op_type, input.type.to_string(), body.inputs[i].to_string());
        finding.attribute = body.attribute;
        finding.span = body.c.node.span;
        findings.push_back(std::move(finding));
    }
}

void bind_body_inputs(const Body& body) {
    for (size_t i = 0; i < body.inputs.size(); ++i) {
        ir::Value& input = *body.graph.inputs[i];
        input.type = body.inputs[i];
        input.content = nullptr;
        if (static_cast<int>(i) == body.true_input) {
            input.content = std::make_unique<ir::SymbolicContent>();
            input.content->is_scalar = input.type.has_shape() && input.type.shape().empty();
            input.content->elements = {Dim(1)};
        }
    }
}

// What holds for a carried value that is `before` at first and `after` later. A body may take an
// optional and give back what is in it: it still takes an optional then.
Type join_state(const Type& before, const Type& after) {
    if (before.kind() == TypeKind::kOptional && after.kind() != TypeKind::kOptional &&
        after.is_known()) {
        return Type::optional(join(before.element(), after));
    }
    return join(before, after);
}

// A sequence that is empty before the loop holds what the body puts into it; unknown: another
// state.
Type filled_state(const Body& body, size_t state) {
    size_t input = body.first_state_input + state, output = body.first_state_output + state;
    bool is_filled = is_empty_sequence(body.c.node.input(input)) &&
                     output_type(body.graph, output).kind() == TypeKind::kSequence;
    return is_filled ? filled_sequence(*body.graph.outputs[output], *body.graph.inputs[input])
                     : Type();
}

// Whether a carried value keeps its type through an iteration; else what holds both times. After
// many tries, less and less is kept, so that there is an end.
bool widen_states(Body& body, int round) {
    constexpr int kDropShapes = 3;
    constexpr int kDropTypes = 5;
    bool is_stable = true;
    for (size_t i = 0; i < body.states; ++i) {
        Type& state = body.inputs[body.first_state_input + i];
        const ir::Value& input = *body.graph.inputs[body.first_state_input + i];
        const Type& after = output_type(body.graph, body.first_state_output + i);
        const Type& declared = body.declared[body.first_state_input + i];
        std::optional<Type> both =
            body.keeps_shapes ? merge(input.type, after) : std::optional<Type>();
        Type next = both.has_value() ? std::move(*both) : join_state(input.type, after);
        if (Type filled = round == 0 ? filled_state(body, i) : Type(); filled.is_known()) {
            next = std::move(filled);
        }
        if (merge(after, declared).has_value()) {
            next = merge(next, declared).value_or(next);
        }
        if (next == input.type) {
            continue;
        }
        is_stable = false;
        if (round >= kDropShapes && next.is_tensor()) {
            next.set_shape(std::nullopt);
        }
        state = round >= kDropTypes ? Type() : std::move(next);
    }
    return is_stable;
}

// Types the body; afterwards `inputs` says what holds for its inputs in every iteration. False: it
// has not been walked, because it is nested too deep or the steps are used up.
bool settle(Body& body) {
    NodeContext& c = body.c;
    if (c.context.subgraphs_are_typed) {
        for (size_t i = 0; i < body.states; ++i) {
            Type& state = body.inputs[body.first_state_input + i];
            Type filled = filled_state(body, i);
            state = filled.is_known()
                        ? std::move(filled)
                        : join_state(state, output_type(body.graph, body.first_state_output + i));
        }
        return true;
    }
    if (c.context.depth >= kMaxDepth) {
        return false;
    }
    constexpr int kMaxRounds = 8;
    int64_t own_steps = kMaxSteps;
    std::vector<Finding> findings;
    merge_declared_types(body, findings);
    size_t declaration_findings = findings.size();
    Context inner = c.context;
    inner.depth = c.context.depth + 1;
    inner.steps = c.context.steps != nullptr ? c.context.steps : &own_steps;
    inner.findings = c.context.findings != nullptr ? &findings : nullptr;
    Snapshot snapshot(body.graph);
    for (int round = 0; round < kMaxRounds; ++round) {
        if (!take_steps(inner, snapshot.size() + 1)) {
            return false;
        }
        if (round > 0) {
            snapshot.restore();
            findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(declaration_findings),
                           findings.end());
        }
        bind_body_inputs(body);
        infer_graph(inner, body.graph);
        if (widen_states(body, round)) {
            break;
        }
    }
    if (c.context.findings != nullptr) {
        std::move(findings.begin(), findings.end(), std::back_inserter(*c.context.findings));
    }
    return true;
}

// The element types of an initial value and of what the body makes of it must agree, in a Scan also
// the shapes.
void check_state(NodeContext& c, const Body& body, size_t state, size_t input) {
    const Type& first = c.input_type(input);
    const Type& later = output_type(body.graph, body.first_state_output + state);
    bool are_elements_known = first.element_type() != ElementType::kUndefined &&
                              later.element_type() != ElementType::kUndefined;
    bool is_same_kind = first.kind() == later.kind() || !first.is_known() || !later.is_known() ||
                        first.kind() == TypeKind::kOptional;
    if (is_same_kind && (!are_elements_known || first.element_type() == later.element_type())) {
        const Type& held = body.inputs[body.first_state_input + state];
        if (body.keeps_shapes && !merge(held, later).has_value()) {
            c.fail(kShapeMismatch,
                   fmt::format("carried value {} of `{}` is {} at first, and {} after an iteration",
                               state, c.node.op_type, held.to_string(), later.to_string()),
                   static_cast<int>(input), -1, "a carried value must keep its shape");
        }
        return;
    }
    c.fail(kTypeMismatch,
           fmt::format("carried value {} of `{}` is {} at first, and {} after an iteration", state,
                       c.node.op_type, first.to_string(), later.to_string()),
           static_cast<int>(input), -1, "a value must keep its element type through a loop");
}

// What a carried value is after the loop; `runs`: certainly at least one iteration.
Type carried_result(const Body& body, size_t state, bool runs) {
    const Type& before = body.inputs[body.first_state_input + state];
    const Type& after = output_type(body.graph, body.first_state_output + state);
    bool is_unpacked = before.kind() == TypeKind::kOptional && after.is_known() &&
                       after.kind() != TypeKind::kOptional;
    if (is_unpacked) {
        return join(before.element(), after);
    }
    return runs && !body.keeps_shapes ? after : before;
}

// False, after a Finding, when the body cannot go with the node.
bool check_body_counts(NodeContext& c, const ir::Graph& body, size_t inputs, size_t states,
                       size_t first_output) {
    if (body.inputs.size() != inputs) {
        c.fail_attribute(kArgumentCount, "body",
                         fmt::format("the body of `{}` has {} inputs, and the node gives it {}",
                                     c.node.op_type, body.inputs.size(), inputs));
        return false;
    }
    size_t wanted = first_output + c.output_count();
    if (body.outputs.size() < first_output + states || body.outputs.size() < wanted) {
        c.fail_attribute(
            kArgumentCount, "body",
            fmt::format("the body of `{}` has {} outputs, and the node needs {}", c.node.op_type,
                        body.outputs.size(), std::max(first_output + states, wanted)));
        return false;
    }
    return true;
}

// The type of a scan output: the body's with an axis of this size put in.
Type with_axis(NodeContext& c, const Type& element, int64_t axis, const Dim& size,
               std::string_view attribute) {
    if (!element.is_tensor()) {
        return {};
    }
    Type result = Type::tensor(element.element_type());
    if (!element.has_shape()) {
        return result;
    }
    Shape shape = element.shape();
    std::optional<int> normal =
        c.normalize_axis(axis, static_cast<int>(shape.size()) + 1, attribute);
    if (normal.has_value()) {
        shape.insert(shape.begin() + *normal, size);
        result.set_shape(std::move(shape));
    }
    return result;
}

void check_branch_types(NodeContext& c, size_t i, const Type& first, const Type& second) {
    ElementType a = first.element_type();
    ElementType b = second.element_type();
    if (a != b && a != ElementType::kUndefined && b != ElementType::kUndefined) {
        c.fail(kTypeMismatch,
               fmt::format("output {} of `If` is {} in `then_branch` and {} in `else_branch`", i,
                           first.to_string(), second.to_string()),
               -1, -1, "both branches must give one element type");
    }
}

}  // namespace

// Operators, If: both branches have the outputs of the node; what both say of one holds for it.
void infer_if(NodeContext& c) {
    ir::Graph* branches[2] = {c.attribute_graph("then_branch"), c.attribute_graph("else_branch")};
    constexpr std::string_view kNames[2] = {"then_branch", "else_branch"};
    for (int i = 0; i < 2; ++i) {
        if (branches[i] == nullptr) {
            return;
        }
        if (branches[i]->outputs.size() < c.output_count()) {
            c.fail_attribute(kArgumentCount, kNames[i],
                             fmt::format("`{}` has {} outputs, and the node has {}", kNames[i],
                                         branches[i]->outputs.size(), c.output_count()));
        }
        Context inner = c.context;
        inner.depth = c.context.depth + 1;
        if (!c.context.subgraphs_are_typed && inner.depth <= kMaxDepth) {
            infer_graph(inner, *branches[i]);
        }
    }
    std::optional<std::vector<int64_t>> truth = c.input_ints(0);
    bool is_decided = truth.has_value() && truth->size() == 1;
    for (size_t i = 0; i < c.output_count(); ++i) {
        check_branch_types(c, i, output_type(*branches[0], i), output_type(*branches[1], i));
        if (!is_decided) {
            c.set_output(i, join(output_type(*branches[0], i), output_type(*branches[1], i)));
            continue;
        }
        const ir::Graph& taken = *branches[truth->front() != 0 ? 0 : 1];
        c.set_output(i, output_type(taken, i));
        if (i < taken.outputs.size() && taken.outputs[i]->content != nullptr) {
            const ir::SymbolicContent& content = *taken.outputs[i]->content;
            c.set_output_dims(i, content.is_scalar, content.elements);
        }
    }
}

// Operators, Loop: inputs M, cond, carried values; body inputs: iteration number, cond, carried
// values; body outputs: cond, carried values, scan outputs.
void infer_loop(NodeContext& c) {
    ir::Graph* graph = c.attribute_graph("body");
    if (graph == nullptr) {
        return;
    }
    size_t states = c.node.input_count() - std::min<size_t>(c.node.input_count(), 2);
    if (!check_body_counts(c, *graph, states + 2, states, 1)) {
        return;
    }
    Body body{c, "body", *graph, {}, {}, states, 2, 1, 1};
    body.inputs.push_back(Type::tensor(ElementType::kInt64, Shape{}));
    body.inputs.push_back(Type::tensor(ElementType::kBool, Shape{}));
    for (size_t i = 0; i < states; ++i) {
        body.inputs.push_back(c.input_type(i + 2));
    }
    if (!settle(body)) {
        return;
    }
    std::optional<std::vector<Dim>> most = c.input_dims(0);
    std::optional<std::vector<int64_t>> condition = c.input_ints(1);
    bool starts = !c.has_input(1) ||
                  (condition.has_value() && condition->size() == 1 && condition->front() != 0);
    bool goes_on = has_truth(graph->outputs.front(), true);
    bool is_counted = c.has_input(0) && most.has_value() && most->size() == 1;
    Dim trips = is_counted && starts && goes_on ? greater_of(most->front(), 0) : Dim();
    bool runs = starts && (!c.has_input(0) || (is_counted && most->front().is_at_least(1)));
    for (size_t i = 0; i < states; ++i) {
        check_state(c, body, i, i + 2);
        c.set_output(i, carried_result(body, i, runs));
    }
    trips = trips.is_unknown() && c.output_count() > states ? c.fresh_dim() : trips;
    for (size_t i = states; i < c.output_count(); ++i) {
        c.set_output(i, with_axis(c, output_type(*graph, i + 1), 0, trips, {}));
    }
}

namespace {

// The axis that scan `i` of the list runs along; 0 where there is no list.
std::optional<int64_t> scan_axis(const NodeContext& c, std::string_view attribute, size_t i) {
    if (c.schema->find_attribute(attribute) == nullptr || !c.has_attribute(attribute)) {
        return 0;
    }
    std::optional<std::vector<int64_t>> axes = c.attribute_ints(attribute);
    return axes.has_value() && i < axes->size() ? std::optional((*axes)[i]) : std::nullopt;
}

// What one iteration sees of a scan input, which has `batch_axes` axes before the others; the size
// of the axis that it runs along goes into `length`.
Type scan_slice(NodeContext& c, size_t input, std::optional<int64_t> axis, int batch_axes,
                Dim& length) {
    const Type& type = c.input_type(input);
    Type result = Type::tensor(type.element_type());
    if (!type.is_tensor() || !type.has_shape() || !axis.has_value()) {
        return result;
    }
    Shape shape = type.shape();
    if (static_cast<int>(shape.size()) <= batch_axes) {
        c.check_rank(input, batch_axes + 1, kAnyRank);
        return result;
    }
    shape.erase(shape.begin(), shape.begin() + batch_axes);
    std::optional<int> normal =
        c.normalize_axis(*axis, static_cast<int>(shape.size()), "scan_input_axes");
    if (!normal.has_value()) {
        return result;
    }
    Dim size = shape[static_cast<size_t>(*normal)];
    if (size.differs(length)) {
        c.fail(kShapeMismatch,
               fmt::format("`Scan` runs {} times over {}, and {} times over the inputs before it",
                           size.to_string(), c.input_name(input), length.to_string()),
               static_cast<int>(input));
    }
    length = known_dim(length, size);
    shape.erase(shape.begin() + *normal);
    result.set_shape(std::move(shape));
    return result;
}

Type without_batch(const Type& type, int batch_axes) {
    if (batch_axes == 0 || !type.is_tensor() || !type.has_shape()) {
        return type;
    }
    Shape shape = type.shape();
    shape.erase(shape.begin(),
                shape.begin() + std::min<std::ptrdiff_t>(
                                    batch_axes, static_cast<std::ptrdiff_t>(shape.size())));
    return Type::tensor(type.element_type(), std::move(shape));
}

Type with_batch(const Type& type, int batch_axes, const Dim& batch) {
    if (batch_axes == 0 || !type.is_tensor() || !type.has_shape()) {
        return type;
    }
    Shape shape = type.shape();
    shape.insert(shape.begin(), batch);
    return Type::tensor(type.element_type(), std::move(shape));
}

}  // namespace

// Operators, Scan: carried values, then scan inputs, which the body sees one slice at a time. In
// version 8 an input of sequence lengths stands first, and all have a batch axis first that the
// body does not see.
void infer_scan(NodeContext& c) {
    constexpr int kBatchVersion = 8;
    int batch_axes = c.version() == kBatchVersion ? 1 : 0;
    size_t first = c.version() == kBatchVersion ? 1 : 0;
    ir::Graph* graph = c.attribute_graph("body");
    std::optional<int64_t> scans = c.attribute_int("num_scan_inputs");
    size_t given = c.node.input_count() - std::min(c.node.input_count(), first);
    if (graph == nullptr || !scans.has_value()) {
        return;
    }
    if (*scans < 1 || *scans > static_cast<int64_t>(given)) {
        c.fail_attribute(
            kInvalidValue, "num_scan_inputs",
            fmt::format("`num_scan_inputs` is {}, and `Scan` has {} inputs", *scans, given),
            "it counts the last inputs, at least one");
        return;
    }
    size_t states = given - static_cast<size_t>(*scans);
    if (!check_body_counts(c, *graph, given, states, 0)) {
        return;
    }
    Body body{c, "body", *graph, {}, {}, states, 0, 0, -1, true};
    Dim batch;
    Dim length;
    for (size_t i = 0; i < given; ++i) {
        if (const Shape* shape = c.input_shape(first + i); shape != nullptr && !shape->empty()) {
            batch = known_dim(batch, shape->front());
        }
        body.inputs.push_back(i < states ? without_batch(c.input_type(first + i), batch_axes)
                                         : scan_slice(c, first + i,
                                                      scan_axis(c, "scan_input_axes", i - states),
                                                      batch_axes, length));
    }
    if (!settle(body)) {
        return;
    }
    length = c.version() == kBatchVersion && c.has_input(0) ? Dim() : length;
    bool runs = length.is_at_least(1);
    for (size_t i = 0; i < states; ++i) {
        check_state(c, body, i, first + i);
        c.set_output(i, with_batch(carried_result(body, i, runs), batch_axes, batch));
    }
    length = length.is_unknown() && c.output_count() > states ? c.fresh_dim() : length;
    for (size_t i = states; i < c.output_count(); ++i) {
        std::optional<int64_t> axis = scan_axis(c, "scan_output_axes", i - states);
        const Type& element = output_type(*graph, i);
        Type stacked = axis.has_value() ? with_axis(c, element, *axis, length, "scan_output_axes")
                                        : Type::tensor(element.element_type());
        c.set_output(i, with_batch(stacked, batch_axes, batch));
    }
}

// Operators, SequenceMap: the body is applied to the elements of the first input, together with
// those of the other sequences and with the tensors as they are. Sizes that are new in the body
// differ from element to element.
void infer_sequence_map(NodeContext& c) {
    ir::Graph* graph = c.attribute_graph("body");
    if (graph == nullptr || !check_body_counts(c, *graph, c.node.input_count(), 0, 0)) {
        return;
    }
    int first_fresh = c.context.fresh_dims != nullptr ? *c.context.fresh_dims : 0;
    Body body{c, "body", *graph, {}, {}, 0, 0, 0, -1};
    for (size_t i = 0; i < c.node.input_count(); ++i) {
        const Type& type = c.input_type(i);
        body.inputs.push_back(type.kind() == TypeKind::kSequence ? type.element() : type);
    }
    if (!settle(body)) {
        return;
    }
    auto is_of_one_element = [first_fresh](std::string_view symbol) {
        return fresh_number(symbol).value_or(-1) >= first_fresh;
    };
    for (size_t i = 0; i < c.output_count(); ++i) {
        c.set_output(i, Type::sequence(drop_symbols(output_type(*graph, i), is_of_one_element)));
    }
}

}  // namespace sardonyx::infer
