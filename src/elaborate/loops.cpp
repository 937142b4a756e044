// Loops. A loop over static items is unrolled; one over a tensor, or one that a tensor's value
// ends, becomes a Loop node.
//
// The names that the body assigns and that have a value before the loop are carried from iteration
// to iteration. Their types are a fixed point: the body runs with the types before the loop, and
// again with wider ones (dims that change become unknown) until it gives back what it was given. A
// name that starts as a Python number takes the element type that the body gives it.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "elaborate/branch.h"
#include "elaborate/emit.h"
#include "elaborate/eval.h"
#include "elaborate/exec.h"
#include "elaborate/library.h"
#include "elaborate/statics.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr int kMaxRounds = 6;       // of the fixed point
constexpr int kRoundsWithRank = 3;  // after so many, a changing shape is given up

// The state of the activation that a loop changes, put back when it ends.
class LoopState {
  public:
    LoopState(Context& c, Range statement, bool in_graph)
        : c_(c),
          before_loops_(c.at.loops),
          before_graph_loops_(c.at.graph_loops),
          before_branches_(c.at.branches_of_loop),
          before_begin_(c.at.loop_begin),
          before_end_(c.at.loop_end) {
        ++c.at.loops;
        c.at.graph_loops += in_graph ? 1 : 0;
        c.at.branches_of_loop = c.at.branches;
        if (before_loops_ == 0) {
            c.at.loop_begin = statement.begin;
            c.at.loop_end = statement.end;
        }
    }
    ~LoopState() {
        c_.at.loops = before_loops_;
        c_.at.graph_loops = before_graph_loops_;
        c_.at.branches_of_loop = before_branches_;
        c_.at.loop_begin = before_begin_;
        c_.at.loop_end = before_end_;
    }
    LoopState(const LoopState&) = delete;
    LoopState& operator=(const LoopState&) = delete;

    void clear_flags() {
        c_.at.scope->set(broke_flag(c_), Object::boolean(false));
        c_.at.scope->set(continued_flag(c_), Object::boolean(false));
    }

  private:
    Context& c_;
    int before_loops_, before_graph_loops_, before_branches_;
    uint32_t before_begin_, before_end_;
};

// A loop that becomes a Loop node.
struct GraphLoop {
    Range range;  // of the whole statement
    Range head;   // to report at
    syntax::Stmts body;
    const syntax::Expr* target = nullptr;       // of a `for`
    const syntax::Expr* condition = nullptr;    // of a `while`
    ir::Value* trip_count = nullptr;            // null: no limit
    std::function<Object(ir::Value*)> element;  // the target's value from the iteration number
};

struct Carried {
    Symbol name;
    Object init;
    Type type;              // inside the loop
    bool is_literal;        // a Python number before the loop: its element type is open
    bool is_fixed = false;  // a literal that the body gives back as it was: not carried after all
};

// One run of the body.
struct Round {
    ir::Graph* graph = nullptr;
    std::vector<Object> results;  // of the carried names
    Object go_on;                 // BOOL: static or a tensor of the body's graph
};

bool can_carry(const Object& object) {
    return object.is_tensor() || object.is_number() || object.is(ObjectKind::kConstant) ||
           object.is(ObjectKind::kAttribute) ||
           (object.is_sequence() && object.is_static() && !object.items().empty() &&
            object.items()[0].is_number());
}

// What the body and the condition assign.
std::vector<Symbol> loop_names(Context& c, const GraphLoop& loop) {
    std::vector<Symbol> names = assigned_names(loop.body);
    if (c.at.body == nullptr) {
        return names;
    }
    for (const auto& [offset, name] : block_reads(c, *c.at.body).named) {
        if (offset >= loop.range.begin && offset < loop.range.end &&
            std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<Carried> carried_names(Context& c, const GraphLoop& loop) {
    std::vector<Carried> all;
    for (Symbol name : loop_names(c, loop)) {
        const Object* before = c.at.scope->find(name);
        if (before == nullptr || !can_carry(*before) || !is_live(c, name, loop.range.begin)) {
            continue;
        }
        Type type = before->is_tensor() ? before->value()->type : Type();
        all.push_back({name, *before, std::move(type), !before->is_tensor()});
    }
    return all;
}

// Whether to go on after the body: the flag of `break`, and then the condition of `while`.
Object continuation(Context& c, const GraphLoop& loop) {
    const Object broke = *c.at.scope->find(broke_flag(c));
    if (!broke.is_tensor()) {
        if (broke.is(ObjectKind::kUnbound) || broke.is_error()) {
            return Object::error();
        }
        if (broke.as_bool()) {
            return Object::boolean(false);
        }
        return loop.condition == nullptr ? Object::boolean(true) : test_value(c, loop.condition);
    }
    if (loop.condition == nullptr) {
        ir::Value* not_broke = Emitter(c, loop.head).emit("Not", {broke.value()});
        return not_broke != nullptr ? Object::tensor(not_broke) : Object::error();
    }
    // Python does not look at the condition after a break.
    Object test;
    Branch yes = run_branch(c, [] { return Jump::kNone; });
    Branch no = run_branch(c, [&] {
        test = test_value(c, loop.condition);
        return Jump::kNone;
    });
    if (test.is_error()) {
        return test;
    }
    yes.changes.emplace_back(broke_flag(c), Object::boolean(false));
    no.changes.emplace_back(broke_flag(c), test);
    merge(c, broke.value(), yes, no, loop.head, loop.range.end);
    return *c.at.scope->find(broke_flag(c));
}

// Names that the body assigns and that hold what a loop cannot carry have no value at its start:
// what they hold before the loop is true for the first iteration only.
void hide_objects(Context& c, const GraphLoop& loop) {
    for (Symbol name : loop_names(c, loop)) {
        const Object* before = c.at.scope->find(name);
        if (before == nullptr || can_carry(*before) || before->is(ObjectKind::kUnbound)) {
            continue;
        }
        c.at.scope->set(name, Object::make(ObjectKind::kUnbound,
                                           Unbound{fmt::format("is {} before the loop, and a loop "
                                                               "carries tensors and numbers only",
                                                               kind_name(*before)),
                                                   c.span(loop.head)}));
    }
}

// `typed`: bind the carried names to inputs of the body; otherwise to what they are before the
// loop, to learn the element types that the body gives them.
Round run_round(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried,
                bool typed) {
    Round round;
    ir::Graph* outer = c.graph;
    round.graph = c.model.make_graph(outer);
    round.graph->name = "loop_body";
    c.graph = round.graph;
    size_t mark = c.at.scope->open();
    {
        LoopState state(c, loop.range, true);
        ++c.at.branches;
        ++c.at.branches_of_loop;
        ir::Value* iteration =
            c.model.add_input(round.graph, "iteration", Type::tensor(ElementType::kInt64, Shape{}));
        c.model.add_input(round.graph, "condition", Type::tensor(ElementType::kBool, Shape{}));
        for (const Carried& one : carried) {
            if (typed && !one.is_fixed) {
                ir::Value* input = c.model.add_input(round.graph, c.text(one.name), one.type);
                c.at.scope->set(one.name, Object::tensor(input));
            }
        }
        hide_objects(c, loop);
        state.clear_flags();
        if (loop.target != nullptr) {
            assign(c, loop.target, loop.element(iteration), loop.target->range);
        }
        exec(c, loop.body);
        round.go_on = continuation(c, loop);
        --c.at.branches;
    }
    for (const Carried& one : carried) {
        round.results.push_back(*c.at.scope->find(one.name));
    }
    c.at.scope->undo(mark);
    c.graph = outer;
    return round;
}

std::string type_text(const Object& object) {
    return object.is_tensor() ? object.value()->type.to_string() : repr(object);
}

// Makes a literal a tensor of the element type that the body gives it. False after an error.
bool promote(Context& c, const GraphLoop& loop, Carried& one, const Object& result) {
    if (result.is_tensor() && result.value()->type.element_type() == ElementType::kUndefined) {
        c.report(kStaticRequired, loop.head,
                 fmt::format("`{}` starts as `{}`, and the element type that the loop gives it is "
                             "not known",
                             c.text(one.name), repr(one.init)))
            .with_help("start from a tensor, as in `op.CastLike(0, x)`, or annotate the inputs");
        return false;
    }
    ElementType type = result.is_tensor() ? result.value()->type.element_type()
                       : one.init.is(ObjectKind::kInt) && result.is(ObjectKind::kFloat)
                           ? ElementType::kFloat
                           : ElementType::kUndefined;
    ir::Value* value = as_value(c, one.init, loop.head, type);
    if (value == nullptr) {
        return false;
    }
    one.is_fixed = false;
    one.init = Object::tensor(value);
    one.type = value->type;
    return true;
}

// Settles the element types of names that start as numbers. False after an error.
bool settle_literals(Context& c, const GraphLoop& loop, std::vector<Carried>& carried) {
    bool any = std::any_of(carried.begin(), carried.end(),
                           [](const Carried& one) { return one.is_literal; });
    if (!any) {
        return true;
    }
    size_t said = c.program.diagnostics.items().size();
    int fresh = c.fresh_dims;
    Round round = run_round(c, loop, carried, false);
    discard(*round.graph);
    c.program.diagnostics.truncate(said);
    c.fresh_dims = fresh;
    for (size_t i = 0; i < carried.size(); ++i) {
        Carried& one = carried[i];
        one.is_fixed = one.is_literal && equal(one.init, round.results[i]);
        if (one.is_literal && !one.is_fixed && !promote(c, loop, one, round.results[i])) {
            return false;
        }
    }
    return true;
}

enum class Fit { kYes, kWider, kNo };

// Whether what the body gives back fits the types that it was given; widens them where it does not.
Fit fit(Context& c, const GraphLoop& loop, std::vector<Carried>& carried, const Round& round,
        int rounds) {
    Fit outcome = Fit::kYes;
    for (size_t i = 0; i < carried.size(); ++i) {
        Carried& one = carried[i];
        const Object& result = round.results[i];
        if (result.is(ObjectKind::kUnbound) && result.get<Unbound>().reason.empty()) {
            return Fit::kNo;
        }
        if (one.is_fixed) {
            // What others became may have changed it: then it is carried like them.
            if (!equal(one.init, result)) {
                if (!promote(c, loop, one, result)) {
                    return Fit::kNo;
                }
                outcome = Fit::kWider;
            }
            continue;
        }
        if (!result.is_tensor()) {
            if (!can_carry(result)) {
                c.report(kBranchTypeMismatch, loop.head,
                         fmt::format("`{}` is a tensor before the loop and {} after an iteration",
                                     c.text(one.name), kind_name(result)))
                    .with_help("keep it a tensor");
                return Fit::kNo;
            }
            continue;  // a number: output_of() makes it a constant of the carried type
        }
        const Type& after = result.value()->type;
        ElementType was = one.type.element_type(), is = after.element_type();
        if (one.type.is_known() && after.is_known() &&
            (one.type.kind() != after.kind() ||
             (was != is && was != ElementType::kUndefined && is != ElementType::kUndefined))) {
            c.report(kBranchTypeMismatch, loop.head,
                     fmt::format("`{}` is `{}` before the loop and `{}` after an iteration",
                                 c.text(one.name), one.type.to_string(), type_text(result)))
                .with_help("cast it, so that its element type stays the same");
            return Fit::kNo;
        }
        Type wider = join(one.type, after);
        if (rounds >= kRoundsWithRank && wider.is_tensor() && !(wider == one.type)) {
            wider.set_shape(std::nullopt);
        }
        if (!(wider == one.type)) {
            one.type = std::move(wider);
            outcome = Fit::kWider;
        }
    }
    return outcome;
}

// Names that the body binds and that had no value before have none after: the loop may run zero
// times.
void forget_locals(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried) {
    std::vector<Symbol> names = loop_names(c, loop);
    if (const auto* target = syntax::maybe_as<syntax::NameExpr>(loop.target)) {
        names.push_back(target->name);
    }
    for (Symbol name : names) {
        bool is_carried = std::any_of(carried.begin(), carried.end(),
                                      [name](const Carried& one) { return one.name == name; });
        if (!is_carried) {
            c.at.scope->set(name,
                            Object::make(ObjectKind::kUnbound,
                                         Unbound{"is bound inside the loop only, which may run "
                                                 "zero times",
                                                 c.span(loop.head)}));
        }
    }
}

// Binds a name to an output, which takes the name over as a hint.
void bind_output(Context& c, Symbol name, ir::Value* value) {
    if (name.index < kFirstFlag && value->name.empty()) {
        value->name = c.model.intern(c.text(name));
    }
    c.at.scope->set(name, Object::tensor(value));
}

void emit_loop(Context& c, const GraphLoop& loop, ir::Value* start,
               const std::vector<Carried>& carried, Round& round) {
    std::vector<ir::Value*> inputs{loop.trip_count, start};
    bool ok = output_of(c, round.graph, round.go_on, ElementType::kBool, loop.head) != nullptr;
    for (size_t i = 0; i < carried.size(); ++i) {
        if (carried[i].is_fixed) {
            continue;
        }
        inputs.push_back(carried[i].init.value());
        ok = output_of(c, round.graph, round.results[i], carried[i].type.element_type(),
                       loop.head) != nullptr &&
             ok;
    }
    if (!ok) {
        return;
    }
    OpsetObject opset = operator_opset(c);
    import_opset(c, opset, loop.head);
    NodeRequest request;
    request.op_type = "Loop";
    request.inputs = inputs;
    request.attributes.push_back(ir::make_attribute("body", round.graph));
    request.output_count = inputs.size() - 2;
    request.range = loop.head;
    ir::Node* node = emit_node(c, std::move(request));
    for (size_t i = 0, next = 0; node != nullptr && i < carried.size(); ++i) {
        if (carried[i].is_fixed) {
            continue;
        }
        ir::Value* output = node->output(next++);
        if (!output->type.is_known()) {
            output->type = carried[i].type;
        }
        bind_output(c, carried[i].name, output);
    }
}

// Runs the loop in the graph. `start`: the condition before the first iteration.
void run_graph_loop(Context& c, const GraphLoop& loop, ir::Value* start) {
    std::vector<Carried> carried = carried_names(c, loop);
    if (!settle_literals(c, loop, carried)) {
        return;
    }
    // Each literal may take a round of its own to be found out.
    int most = kMaxRounds + static_cast<int>(carried.size());
    bool settled = false;
    for (int rounds = 0; rounds < most && !settled && !c.gave_up; ++rounds) {
        size_t said = c.program.diagnostics.items().size();
        int fresh = c.fresh_dims;
        Round round = run_round(c, loop, carried, true);
        Fit outcome = round.go_on.is_error() ? Fit::kNo : fit(c, loop, carried, round, rounds);
        if (outcome == Fit::kWider) {
            discard(*round.graph);
            c.program.diagnostics.truncate(said);
            c.fresh_dims = fresh;
            continue;
        }
        settled = true;
        bool carries = std::any_of(carried.begin(), carried.end(),
                                   [](const Carried& one) { return !one.is_fixed; });
        if (outcome == Fit::kYes && carries) {
            emit_loop(c, loop, start, carried, round);
        } else {
            discard(*round.graph);
        }
    }
    if (!settled && !c.gave_up) {
        c.report(kBranchTypeMismatch, loop.head,
                 "the types of what the loop carries change with every iteration")
            .with_help("cast or reshape the names that the body assigns, so that they stay alike");
    }
    forget_locals(c, loop, carried);
}

// A bool constant: onnx.reference runs a Loop without a condition zero times.
ir::Value* bool_constant(Context& c, bool value, Range range) {
    return emit_constant(c, Tensor::scalar<bool>(value), range);
}

// The else of a loop runs unless the loop was left by break.
Jump exec_orelse(Context& c, syntax::Stmts orelse, Range range) {
    if (orelse.empty()) {
        return Jump::kNone;
    }
    c.report(kUnsupportedStatement, range, "`else` on a loop that runs in the graph")
        .with_help("set a flag before `break` and test it after the loop");
    return Jump::kNone;
}

// --- for ---------------------------------------------------------------------------------------

// range(...) with a tensor among its arguments.
struct TensorRange {
    ir::Value* start = nullptr;  // null: 0
    ir::Value* trip_count = nullptr;
    ir::Value* step = nullptr;  // null: 1
};

// An INT64 scalar.
ir::Value* as_index(Context& c, const Object& object, Range range) {
    ir::Value* value = as_value(c, object, range, ElementType::kInt64);
    if (value == nullptr) {
        return nullptr;
    }
    ElementType type = value->type.element_type();
    Emitter e(c, range);
    if (type != ElementType::kInt64 && type != ElementType::kUndefined) {
        if (!is_integer(type)) {
            e.fail(fmt::format("`range` over a tensor of {}", name(type)),
                   "use a tensor of integers");
            return nullptr;
        }
        value = e.emit("Cast", {value},
                       {ir::make_attribute("to", static_cast<int64_t>(ElementType::kInt64))});
    }
    return value;
}

std::optional<TensorRange> tensor_range(Context& c, const Arguments& arguments) {
    if (!arguments.keywords.empty() || arguments.positional.empty() ||
        arguments.positional.size() > 3) {
        c.report(kArgumentMismatch, arguments.range, "`range` takes one to three arguments")
            .with_help("write `range(stop)`, `range(start, stop)` or `range(start, stop, step)`");
        return std::nullopt;
    }
    std::vector<ir::Value*> parts;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        parts.push_back(as_index(c, arguments.positional[i], arguments.ranges[i]));
        if (parts.back() == nullptr) {
            return std::nullopt;
        }
    }
    if (parts.size() == 1) {
        return TensorRange{nullptr, parts[0], nullptr};
    }
    // ceil((stop - start) / step), at least 0; -floor(-a / b) is ceil(a / b).
    Emitter e(c, arguments.range);
    ir::Value* width = e.emit("Sub", {parts[1], parts[0]});
    if (parts.size() == 3) {
        ir::Value* negative = e.emit("Neg", {width});
        width = e.emit("Neg", {lowering::lower_floor_divide(e, negative, parts[2])});
    }
    ir::Value* count = e.emit("Max", {width, e.int64_scalar(0)});
    if (count == nullptr) {
        return std::nullopt;
    }
    return TensorRange{parts[0], count, parts.size() == 3 ? parts[2] : nullptr};
}

// What a `for` runs over: static items, or a number of iterations in the graph.
struct Iterable {
    Object object;
    std::optional<TensorRange> range;
    bool failed = false;
};

Iterable eval_iterable(Context& c, const syntax::Expr* expr) {
    const auto* call_expr = syntax::maybe_as<syntax::CallExpr>(expr);
    const auto* callee =
        call_expr != nullptr ? syntax::maybe_as<syntax::NameExpr>(call_expr->callee) : nullptr;
    if (callee != nullptr && call_expr->keywords.empty() &&
        is_builtin(lookup(c, callee->name, callee->range), "range")) {
        Arguments arguments;
        arguments.range = expr->range;
        arguments.callee_range = callee->range;
        bool dynamic = false;
        for (const syntax::Expr* argument : call_expr->args) {
            arguments.positional.push_back(eval(c, argument));
            arguments.ranges.push_back(argument->range);
            const Object& object = arguments.positional.back();
            if (object.is_error()) {
                return {Object::error(), std::nullopt, true};
            }
            dynamic = dynamic || object.is_tensor() || object.is(ObjectKind::kAttribute);
        }
        if (dynamic) {
            std::optional<TensorRange> range = tensor_range(c, arguments);
            return {Object::error(), range, !range.has_value()};
        }
        Object object =
            call(c, Object::make(ObjectKind::kBuiltin, library_builtin("range")), arguments);
        return {object, std::nullopt, object.is_error()};
    }
    Object object = eval(c, expr);
    return {object, std::nullopt, object.is_error()};
}

// The graph loop of a static range that a tensor's value ends.
TensorRange graph_range(Context& c, const RangeObject& range, Range at) {
    Emitter e(c, at);
    return {range.start == 0 ? nullptr : e.int64_scalar(range.start), e.int64_scalar(range.size()),
            range.step == 1 ? nullptr : e.int64_scalar(range.step)};
}

Jump for_in_graph(Context& c, const syntax::ForStmt* statement, const TensorRange& range) {
    GraphLoop loop;
    loop.range = statement->range;
    loop.head = statement->iterable->range;
    loop.body = statement->body;
    loop.target = statement->target;
    loop.trip_count = range.trip_count;
    loop.element = [&c, &range, at = loop.head](ir::Value* iteration) {
        Emitter e(c, at);
        ir::Value* value = iteration;
        if (range.step != nullptr) {
            value = e.emit("Mul", {value, range.step});
        }
        if (range.start != nullptr) {
            value = e.emit("Add", {value, range.start});
        }
        return value != nullptr ? Object::tensor(value) : Object::error();
    };
    run_graph_loop(c, loop, bool_constant(c, true, loop.head));
    return exec_orelse(c, statement->orelse, loop.head);
}

// for row in tensor
Jump for_over_tensor(Context& c, const syntax::ForStmt* statement, ir::Value* tensor) {
    GraphLoop loop;
    loop.range = statement->range;
    loop.head = statement->iterable->range;
    loop.body = statement->body;
    loop.target = statement->target;
    Emitter e(c, loop.head);
    bool is_sequence = tensor->type.kind() == TypeKind::kSequence;
    if (is_sequence) {
        loop.trip_count = e.emit("SequenceLength", {tensor});
    } else if (e.rank(tensor) == 0) {
        e.fail("a loop over a tensor of rank 0", "loop over `range(n)`");
        return Jump::kNone;
    } else {
        loop.trip_count = e.emit("Gather", {e.emit("Shape", {tensor}), e.int64_scalar(0)},
                                 {ir::make_attribute("axis", int64_t{0})});
    }
    loop.element = [&c, tensor, is_sequence, at = loop.head](ir::Value* iteration) {
        Emitter inner(c, at);
        ir::Value* item = is_sequence ? inner.emit("SequenceAt", {tensor, iteration})
                                      : inner.emit("Gather", {tensor, iteration},
                                                   {ir::make_attribute("axis", int64_t{0})});
        return item != nullptr ? Object::tensor(item) : Object::error();
    };
    run_graph_loop(c, loop, bool_constant(c, true, loop.head));
    return exec_orelse(c, statement->orelse, loop.head);
}

// What has been done since a point, so that it can be taken back.
class Trial {
  public:
    explicit Trial(Context& c)
        : c_(c),
          last_(c.graph->last_node()),
          said_(c.program.diagnostics.items().size()),
          fresh_(c.fresh_dims),
          mark_(c.at.scope->open()),
          appended_(c.appended.size()) {}

    void keep() { c_.at.scope->keep(); }
    void take_back() {
        while (c_.graph->last_node() != last_) {
            ir::Node* node = c_.graph->last_node();
            for (const ir::Attribute& attribute : node->attributes) {
                if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                    discard(**inner);
                }
            }
            c_.graph->remove(node);
        }
        for (; c_.appended.size() > appended_; c_.appended.pop_back()) {
            c_.appended.back().items().pop_back();
        }
        c_.program.diagnostics.truncate(said_);
        c_.fresh_dims = fresh_;
        c_.at.scope->undo(mark_);
    }

  private:
    Context& c_;
    ir::Node* last_;
    size_t said_;
    int fresh_;
    size_t mark_;
    size_t appended_;
};

bool count_iteration(Context& c, Range range) {
    if (++c.iterations <= c.options.limits.static_iterations) {
        return true;
    }
    if (!c.gave_up) {
        c.gave_up = true;
        c.report(kLimitExceeded, range,
                 fmt::format("more than {} static iterations", c.options.limits.static_iterations))
            .with_help("loop over a tensor, so that the loop runs in the graph");
    }
    return false;
}

enum class Unrolled { kDone, kBroke, kReturned, kDynamic };

// After an iteration of a static loop: a jump that depends on a tensor cannot be carried out now.
Unrolled after_iteration(Context& c, Jump jump) {
    const Object* broke = c.at.scope->find(broke_flag(c));
    if (broke != nullptr && !broke->is(ObjectKind::kBool)) {
        return Unrolled::kDynamic;
    }
    return jump == Jump::kReturn  ? Unrolled::kReturned
           : jump == Jump::kBreak ? Unrolled::kBroke
                                  : Unrolled::kDone;
}

template <typename Item>
Unrolled unroll(Context& c, const syntax::ForStmt* statement, int64_t count, Item&& item) {
    LoopState state(c, statement->range, false);
    for (int64_t i = 0; i < count; ++i) {
        if (c.gave_up || !count_iteration(c, statement->iterable->range)) {
            return Unrolled::kDone;
        }
        state.clear_flags();
        size_t errors = c.program.diagnostics.error_count();
        assign(c, statement->target, item(i), statement->iterable->range);
        Unrolled outcome = after_iteration(c, exec(c, statement->body));
        if (outcome != Unrolled::kDone) {
            return outcome;
        }
        if (c.program.diagnostics.error_count() != errors) {
            return Unrolled::kBroke;  // the same mistake would be found again each time
        }
    }
    return Unrolled::kDone;
}

Unrolled unroll_items(Context& c, const syntax::ForStmt* statement, const Object& iterable) {
    if (iterable.is(ObjectKind::kRange)) {
        const RangeObject& range = iterable.get<RangeObject>();
        return unroll(c, statement, range.size(), [&range](int64_t i) {
            return Object::integer(range.start + i * range.step);
        });
    }
    std::vector<Object> items = *static_items(c, iterable);
    return unroll(c, statement, static_cast<int64_t>(items.size()),
                  [&items](int64_t i) { return items[static_cast<size_t>(i)]; });
}

}  // namespace

Jump exec_for(Context& c, const syntax::ForStmt* statement) {
    if (statement->is_async) {
        c.report(kUnsupportedStatement, statement->range, "`async for` in a script");
        return Jump::kNone;
    }
    Iterable iterable = eval_iterable(c, statement->iterable);
    if (iterable.failed) {
        return Jump::kNone;
    }
    if (iterable.range) {
        return for_in_graph(c, statement, *iterable.range);
    }
    if (iterable.object.is_tensor()) {
        return for_over_tensor(c, statement, iterable.object.value());
    }
    bool is_range = iterable.object.is(ObjectKind::kRange);
    if (!is_range && !static_items(c, iterable.object)) {
        c.report(kUnsupportedOperand, statement->iterable->range,
                 fmt::format("a loop over {}", kind_name(iterable.object)))
            .with_help("loop over `range(n)`, a list, or a tensor");
        return Jump::kNone;
    }
    Trial trial(c);
    Unrolled outcome = unroll_items(c, statement, iterable.object);
    if (outcome == Unrolled::kDynamic && is_range) {
        trial.take_back();
        return for_in_graph(
            c, statement,
            graph_range(c, iterable.object.get<RangeObject>(), statement->iterable->range));
    }
    trial.keep();
    if (outcome == Unrolled::kDynamic) {
        c.report(kUnsupportedStatement, statement->iterable->range,
                 "a loop over static items that a tensor's value ends")
            .with_help("loop over `range(n)` and index a tensor");
        return Jump::kNone;
    }
    if (outcome == Unrolled::kReturned) {
        return Jump::kReturn;
    }
    return outcome == Unrolled::kDone && !c.gave_up ? exec(c, statement->orelse) : Jump::kNone;
}

namespace {

void while_in_graph(Context& c, const syntax::WhileStmt* statement, ir::Value* start) {
    GraphLoop loop;
    loop.range = statement->range;
    loop.head = statement->condition->range;
    loop.body = statement->body;
    loop.condition = statement->condition;
    run_graph_loop(c, loop, start);
    exec_orelse(c, statement->orelse, loop.head);
}

// Unrolls while the condition is static. kDynamic: it is not, or a tensor's value ends the loop.
Unrolled unroll_while(Context& c, const syntax::WhileStmt* statement, Object test) {
    LoopState state(c, statement->range, false);
    for (;;) {
        std::optional<bool> holds = truth(test);
        if (!holds) {
            return test.is_error() ? Unrolled::kBroke : Unrolled::kDynamic;
        }
        if (!*holds) {
            return Unrolled::kDone;
        }
        if (c.gave_up || !count_iteration(c, statement->condition->range)) {
            return Unrolled::kBroke;
        }
        state.clear_flags();
        Unrolled outcome = after_iteration(c, exec(c, statement->body));
        if (outcome != Unrolled::kDone) {
            return outcome;
        }
        test = test_value(c, statement->condition);
    }
}

}  // namespace

Jump exec_while(Context& c, const syntax::WhileStmt* statement) {
    Range head = statement->condition->range;
    Object test = test_value(c, statement->condition);
    if (test.is_error()) {
        return Jump::kNone;
    }
    if (test.is_tensor()) {
        while_in_graph(c, statement, test.value());
        return Jump::kNone;
    }
    Trial trial(c);
    Unrolled outcome = unroll_while(c, statement, test);
    if (outcome == Unrolled::kDynamic) {
        trial.take_back();
        while_in_graph(c, statement, bool_constant(c, test.as_bool(), head));
        return Jump::kNone;
    }
    trial.keep();
    if (outcome == Unrolled::kReturned) {
        return Jump::kReturn;
    }
    return outcome == Unrolled::kDone && !c.gave_up ? exec(c, statement->orelse) : Jump::kNone;
}

}  // namespace sardonyx::elaborate
