// Loops that run in the graph.
//
// The names that the body assigns and that have a value before the loop are carried from iteration
// to iteration. Their types are a fixed point: the body runs with the types before the loop, and
// again with wider ones (dims that change become unknown) until it gives back what it was given. A
// name that starts as a Python number takes the element type that the body gives it.
//
// Names that only the body binds leave the loop as carried values that it never reads, and so do
// the flags of its jumps.

#include "elaborate/graph_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/carried.h"
#include "elaborate/emit.h"
#include "elaborate/eval.h"
#include "elaborate/jumps.h"
#include "elaborate/lists.h"
#include "elaborate/loop_state.h"
#include "elaborate/type_text.h"
#include "ir/standard.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr int kMaxRounds = 6;  // of the fixed point

// One run of the body.
struct Round {
    ir::Graph* graph = nullptr;
    std::vector<Object> results;                   // of the carried names
    std::vector<std::pair<Symbol, Object>> bound;  // the other names that it leaves bound
    std::vector<Symbol> failed;                    // those whose binding has been reported
    Object go_on;                                  // BOOL: static or a tensor of the body's graph
    Object broke, returned, result;                // the flags
};

// What the body, the condition and the target assign.
std::vector<Symbol> loop_names(Context& c, const GraphLoop& loop) {
    if (loop.statement == nullptr) {
        return {loop.items};
    }
    std::vector<Symbol> names = assigned_names({&loop.statement, 1});
    for (Symbol name : grown_names(c, loop.body)) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    if (c.at.body == nullptr) {
        return names;
    }
    Range range = loop.range;
    for (const auto& [offset, name] : block_reads(c, c.tree().names, *c.at.body).named) {
        if (offset >= range.begin && offset < range.end &&
            std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    return names;
}

bool is_bound(const Object* object) {
    return object != nullptr && !object->is_error() && !object->is(ObjectKind::kUnbound);
}

bool has_failed(const Object* object) {
    return object != nullptr && object->is(ObjectKind::kUnbound) &&
           object->get<Unbound>().reason.empty();
}

// Nothing after a diagnostic.
std::optional<std::vector<Carried>> carried_names(Context& c, const GraphLoop& loop,
                                                  const std::vector<Symbol>& names) {
    std::vector<Carried> all;
    std::vector<Symbol> grown =
        loop.statement != nullptr ? grown_names(c, loop.body) : std::vector<Symbol>{loop.items};
    for (Symbol name : names) {
        const Object* before = c.at.scope->find(name);
        if (is_bound(before) && before->is(ObjectKind::kList) &&
            std::find(grown.begin(), grown.end(), name) != grown.end()) {
            std::optional<Carried> list = make_list(c, name, *before, loop.head);
            if (!list) {
                return std::nullopt;
            }
            all.push_back(std::move(*list));
        } else if (is_bound(before) && can_carry(*before) &&
                   (is_flag(name) || is_live(c, name, loop.range.begin))) {
            all.push_back(make_carried(name, *before));
        }
    }
    return all;
}

// Whether to go on after the body: the flag of `break`, and then the condition of `while`.
Object continuation(Context& c, const GraphLoop& loop) {
    Object broke = flag_value(c, broke_flag(c));
    if (!broke.is_tensor()) {
        if (broke.as_bool()) {
            return Object::boolean(false);
        }
        return loop.condition == nullptr ? Object::boolean(true) : test_value(c, loop.condition);
    }
    if (loop.condition == nullptr) {
        return as_object(logical_not(c, broke.value(), loop.head));
    }
    // Python does not look at the condition after a break. The flag of `continue` is free again.
    Object test;
    Branch yes = run_branch(c, [] { return Jump::kNone; });
    Branch no = run_branch(c, [&] {
        test = test_value(c, loop.condition);
        return Jump::kNone;
    });
    if (test.is_error()) {
        return test;
    }
    yes.set(continued_flag(c), Object::boolean(false));
    no.set(continued_flag(c), test);
    merge(c, broke.value(), yes, no, loop.head, loop.range.end);
    return flag_value(c, continued_flag(c));
}

// Names that the body assigns and that hold what a loop cannot carry have no value at its start:
// what they hold before the loop is true for the first iteration only.
void hide_objects(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names) {
    for (Symbol name : names) {
        const Object* before = c.at.scope->find(name);
        if (!is_bound(before) || can_carry(*before)) {
            continue;
        }
        c.at.scope->set(name, Object::make(ObjectKind::kUnbound,
                                           Unbound{fmt::format("is {} before the loop, and a loop "
                                                               "carries tensors and numbers only",
                                                               kind_name(*before)),
                                                   c.span(loop.head)}));
    }
}

// Binds the carried names to inputs of the body; unless `typed`, only the lists, of whose items
// nothing is known yet.
void bind_inputs(Context& c, const std::vector<Carried>& carried, ir::Graph* graph, bool typed) {
    for (const Carried& one : carried) {
        if (!typed && !one.is_list) {
            continue;
        }
        size_t next = 0;
        Object inside = map_leaves(one.before, [&](const Object& before) {
            const Slot& slot = one.slots[next++];
            if (slot.is_fixed) {
                return slot.init;
            }
            ir::Value* input = c.model.add_input(graph, name_text(c, one.name), slot.type);
            bool has_value = slot.init.is_tensor() || slot.init.is_numbers();
            c.loop_inputs.emplace_back(input, has_value ? slot.init.value() : nullptr);
            return carried_as(before, slot, input).either(slot.is_either);
        });
        c.at.scope->set(one.name, inside);
    }
}

void run_iteration(Context& c, const GraphLoop& loop, ir::Value* iteration, Round& round) {
    if (loop.run) {
        loop.run(iteration);
    }
    if (loop.target != nullptr) {
        assign(c, loop.target, loop.element(iteration), loop.target->range);
    }
    if (exec(c, loop.body) == Jump::kReturn) {
        flag_return(c);
    }
    round.broke = flag_value(c, broke_flag(c));
    round.go_on = continuation(c, loop);
    round.returned = flag_value(c, kReturnedFlag);
    round.result = returned_result(c);
}

// `typed`: bind the carried names to inputs of the body; otherwise to what they are before the
// loop, to learn the element types that the body gives them.
Round run_round(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                const std::vector<Carried>& carried, bool typed) {
    Round round;
    ir::Graph* outer = c.graph;
    round.graph = c.model.make_graph(outer);
    round.graph->name = "loop_body";
    c.graph = round.graph;
    size_t mark = c.at.scope->open();
    {
        LoopState state(c, loop.range);
        ir::Value* iteration =
            c.model.add_input(round.graph, "iteration", Type::tensor(ElementType::kInt64, Shape{}));
        c.model.add_input(round.graph, "condition", Type::tensor(ElementType::kBool, Shape{}));
        bind_inputs(c, carried, round.graph, typed);
        hide_objects(c, loop, names);
        state.clear_flags();
        run_iteration(c, loop, iteration, round);
    }
    for (const Carried& one : carried) {
        round.results.push_back(*c.at.scope->find(one.name));
    }
    for (Symbol name : names) {
        const Object* found = c.at.scope->find(name);
        bool is_carried = std::any_of(carried.begin(), carried.end(),
                                      [name](const Carried& one) { return one.name == name; });
        if (!is_carried && is_bound(found)) {
            round.bound.emplace_back(name, *found);
        } else if (has_failed(found)) {
            round.failed.push_back(name);
        }
    }
    c.at.scope->undo(mark);
    c.graph = outer;
    return round;
}

// Settles the element types of names that start as numbers. False after an error.
bool settle_literals(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                     std::vector<Carried>& carried) {
    auto has_literal = [](const Carried& one) {
        return std::any_of(one.slots.begin(), one.slots.end(),
                           [](const Slot& slot) { return slot.is_literal; });
    };
    if (!std::any_of(carried.begin(), carried.end(), has_literal)) {
        return true;
    }
    size_t said = c.program.diagnostics.items().size();
    int fresh = c.fresh_dims;
    Round round = run_round(c, loop, names, carried, false);
    discard(*round.graph);
    c.program.diagnostics.truncate(said);
    c.fresh_dims = fresh;
    for (size_t i = 0; i < carried.size(); ++i) {
        std::optional<std::vector<Object>> leaves =
            leaves_like(carried[i].before, round.results[i]);
        for (size_t k = 0; k < carried[i].slots.size(); ++k) {
            Slot& slot = carried[i].slots[k];
            const Object& result = leaves ? (*leaves)[k] : slot.init;
            slot.is_fixed = slot.is_literal && equal(slot.init, result);
            if (slot.is_literal && !slot.is_fixed &&
                !promote(c, carried[i], slot, result, loop.head)) {
                return false;
            }
        }
    }
    return true;
}

// Whether what the body gives back fits the types that it was given; widens them where it does not.
Fit fit_round(Context& c, const GraphLoop& loop, std::vector<Carried>& carried, const Round& round,
              int rounds) {
    Fit outcome = round.go_on.is_error() ? Fit::kNo : Fit::kYes;
    for (size_t i = 0; i < carried.size() && outcome != Fit::kNo; ++i) {
        Carried& one = carried[i];
        std::optional<std::vector<Object>> leaves = leaves_like(one.before, round.results[i]);
        if (!leaves) {
            c.report(
                 kBranchTypeMismatch, loop.head,
                 fmt::format("`{}` is {} before the loop and built otherwise after an iteration",
                             name_text(c, one.name), kind_name(one.before)))
                .with_help("give it the same items, of the same types, in every iteration");
            return Fit::kNo;
        }
        for (size_t k = 0; k < one.slots.size() && outcome != Fit::kNo; ++k) {
            Fit slot = fit(c, one, one.slots[k], (*leaves)[k], rounds, loop.head);
            outcome = slot == Fit::kYes ? outcome : slot;
        }
    }
    return outcome;
}

// --- The node ----------------------------------------------------------------------------------

// Collects the inputs of the Loop node and the outputs of its body, then makes the node.
class LoopNode {
  public:
    LoopNode(Context& c, const GraphLoop& loop, ir::Graph* body)
        : c_(c), loop_(loop), body_(body), inputs_{loop.trip_count, loop.start} {}

    // Adds a value that leaves the body; false after an error.
    bool add(ir::Value* init, const Object& result, const Type& type) {
        inputs_.push_back(init);
        types_.push_back(type);
        return output_of(c_, body_, result, type.element_type(), loop_.head) != nullptr;
    }
    // The same with an input of the body that nobody reads.
    bool add_unread(std::string_view name, ir::Value* init, const Object& result,
                    const Type& type) {
        c_.model.add_input(body_, name, init->type);
        return add(init, result, type);
    }

    // The same for what the body appends to a list in every iteration: the node stacks it.
    bool add_row(const Object& row) {
        Shape shape = row.value()->type.shape();
        shape.insert(shape.begin(), loop_.count);
        types_.push_back(Type::tensor(row.value()->type.element_type(), std::move(shape)));
        return output_of(c_, body_, row, ElementType::kUndefined, loop_.head) != nullptr;
    }

    bool emit() {
        if (types_.empty()) {
            discard(*body_);
            return true;
        }
        OpsetObject opset = operator_opset(c_);
        import_opset(c_, opset, loop_.head);
        NodeRequest request;
        request.op_type = "Loop";
        request.inputs = inputs_;
        request.attributes.push_back(ir::make_attribute("body", body_));
        request.output_count = types_.size();
        request.range = loop_.head;
        node_ = emit_node(c_, std::move(request));
        return node_ != nullptr;
    }

    // The outputs in the order of add().
    ir::Value* take() {
        ir::Value* output = node_->output(next_);
        output->type = types_[next_++];
        return output;
    }

  private:
    Context& c_;
    const GraphLoop& loop_;
    ir::Graph* body_;
    std::vector<ir::Value*> inputs_;
    std::vector<Type> types_;
    ir::Node* node_ = nullptr;
    size_t next_ = 0;
};

// Binds a name to what holds outputs, which take the name over as a hint.
void bind_outputs(Context& c, Symbol name, const Object& object) {
    map_leaves(object, [&c, name](const Object& leaf) {
        if (leaf.is_tensor() && leaf.value()->name.empty() && !is_flag(name)) {
            leaf.value()->name = c.model.intern(c.text(name));
        }
        return leaf;
    });
    c.at.scope->set(name, object);
}

// A name or flag that the loop leaves bound and that had no value before.
struct Exit {
    Symbol name;
    Object value;  // at the end of an iteration
    Object init;   // when there was none
    bool surely;   // an iteration has been when somebody reads it
};

bool add_exit(Context& c, LoopNode& node, const Exit& exit) {
    std::vector<Object> inits = leaves_like(exit.value, exit.init).value_or(std::vector<Object>());
    size_t next = 0;
    bool ok = true;
    map_leaves(exit.value, [&](const Object& leaf) {
        const Object& init = inits[next++];
        if (init.is_tensor()) {
            Type type = exit.surely && leaf.is_tensor() ? leaf.value()->type : init.value()->type;
            std::string_view name = is_flag(exit.name) ? "flag" : c.text(exit.name);
            ok = node.add_unread(name, init.value(), leaf, type) && ok;
        }
        return leaf;
    });
    return ok;
}

void take_exit(Context& c, LoopNode& node, const Exit& exit) {
    std::vector<Object> inits = leaves_like(exit.value, exit.init).value_or(std::vector<Object>());
    size_t next = 0;
    Object value = map_leaves(exit.value, [&](const Object& leaf) {
        const Object& init = inits[next++];
        if (!init.is_tensor()) {
            return leaf;
        }
        ir::Value* output = node.take();
        return leaf.is_tensor() ? leaf.with_value(output) : Object::tensor(output);
    });
    bind_outputs(c, exit.name, value);
}

// The flags that the loop leaves behind. Those that are static and hold whether it ran or not are
// set at once.
void add_flag(Context& c, const GraphLoop& loop, Symbol name, const Object& value,
              std::vector<Exit>& exits) {
    bool unset = value.is(ObjectKind::kBool) && !value.as_bool();
    if (unset || (!value.is_tensor() && loop.surely_runs)) {
        c.at.scope->set(name, value);
        return;
    }
    ir::Value* no = emit_constant(c, Tensor::scalar<bool>(false), loop.head);
    if (no != nullptr) {
        exits.push_back({name, value, Object::tensor(no), true});
    }
}

void unbind(Context& c, const GraphLoop& loop, Symbol name) {
    if (has_failed(c.at.scope->find(name))) {
        return;
    }
    c.at.scope->set(
        name, Object::make(ObjectKind::kUnbound, Unbound{"is bound inside the loop only, which may "
                                                         "run zero times",
                                                         c.span(loop.head)}));
}

// The names that only the body binds.
void add_bound_names(Context& c, const GraphLoop& loop, const Round& round,
                     std::vector<Exit>& exits) {
    for (const auto& [name, value] : round.bound) {
        const Object* before = c.at.scope->find(name);
        bool is_static = value.is_static();
        if (is_bound(before) && equal(*before, value)) {
            continue;
        }
        if (is_static && loop.surely_runs) {
            c.at.scope->set(name, value);
            continue;
        }
        std::optional<Object> init;
        if (!is_static && can_carry(value) && !is_bound(before) &&
            is_live(c, name, loop.range.end)) {
            init = placeholder(c, c.graph, value, loop.head);
        }
        if (init) {
            exits.push_back({name, value, *init, loop.surely_runs});
        } else {
            unbind(c, loop, name);
        }
    }
}

// Names without a value at the end of an iteration have none after the loop either.
void forget_names(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                  const std::vector<Carried>& carried, const Round& round) {
    for (Symbol name : round.failed) {
        c.at.scope->set(name, Object::make(ObjectKind::kUnbound, Unbound{}));
    }
    for (Symbol name : names) {
        auto has_name = [name](const auto& one) { return one.name == name; };
        auto is_name = [name](const auto& one) { return one.first == name; };
        if (std::none_of(carried.begin(), carried.end(), has_name) &&
            std::none_of(round.bound.begin(), round.bound.end(), is_name)) {
            unbind(c, loop, name);
        }
    }
}

// The same as take_row() for a list of numbers.
ir::Value* take_number(const Slot& slot, const Object& result, ir::Value* input) {
    const std::optional<Tensor>& start = slot.init.value()->constant;
    ir::Node* join = result.is_numbers() ? result.value()->producer() : nullptr;
    if (!start || start->count() != 0 || !ir::is_standard(join, "Concat") ||
        join->input_count() != 2 || join->graph() != input->graph() || join->input(0) != input ||
        input->first_use()->next != nullptr || join->output()->has_uses()) {
        return nullptr;
    }
    ir::Node* row = join->input(1)->producer();
    bool is_one = ir::is_standard(row, "Reshape") && row->graph() == input->graph() &&
                  row->output()->first_use()->next == nullptr && row->input(0)->type.has_shape() &&
                  row->input(0)->type.shape().empty();
    if (!is_one) {
        return nullptr;
    }
    ir::Value* number = row->input(0);
    input->graph()->remove(join);
    input->graph()->remove(row);
    return number;
}

// What a round appends to a list that starts empty, when it does so once in every iteration and
// every row has one shape; the appending node is taken out. Null: anything else.
ir::Value* take_row(const Slot& slot, const Object& result, ir::Value* input) {
    if (slot.is_numbers) {
        return take_number(slot, result, input);
    }
    ir::Node* start = slot.init.value()->producer();
    ir::Node* insert = result.is_tensor() ? result.value()->producer() : nullptr;
    if (!ir::is_standard(start, "SequenceEmpty") || !ir::is_standard(insert, "SequenceInsert") ||
        insert->input_count() != 2 || insert->graph() != input->graph() ||
        insert->input(0) != input || input->first_use()->next != nullptr ||
        insert->output()->has_uses()) {
        return nullptr;
    }
    ir::Value* row = insert->input(1);
    if (!row->type.is_tensor() || !row->type.has_shape()) {
        return nullptr;
    }
    for (const Dim& dim : row->type.shape()) {
        // A dimension that was found out inside may be another one in the next iteration.
        if (as_written(dim).is_unknown()) {
            return nullptr;
        }
    }
    input->graph()->remove(insert);
    return row;
}

// A list whose items a Loop has stacked.
Object rows_of(Context& c, ir::Value* stacked, const Type& item, Range range) {
    ir::Value* rows = Emitter(c, range).emit(
        "SplitToSequence", {stacked},
        {ir::make_attribute("axis", int64_t{0}), ir::make_attribute("keepdims", int64_t{0})});
    if (rows != nullptr) {
        rows->type = Type::sequence(item);
    }
    return as_object(rows);
}

// Makes the node of a round whose types fit, and binds what it leaves.
Object emit_loop(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried,
                 Round& round) {
    std::vector<Exit> exits;
    add_bound_names(c, loop, round, exits);
    constexpr Symbol kBroke{UINT32_MAX};
    c.at.scope->set(kBroke, Object::boolean(false));
    if (loop.wants_broke) {
        add_flag(c, loop, kBroke, round.broke, exits);
    }
    add_flag(c, loop, kReturnedFlag, round.returned, exits);
    if (!round.result.is_error()) {
        if (std::optional<Object> init = placeholder(c, c.graph, round.result, loop.head)) {
            exits.push_back({kReturnedResult, round.result, *init, false});
        } else {
            report_untyped_result(c, loop.head);
        }
    }
    LoopNode node(c, loop, round.graph);
    bool ok = output_of(c, round.graph, round.go_on, ElementType::kBool, loop.head) != nullptr;
    std::vector<ir::Value*>& inputs = round.graph->inputs;
    std::vector<std::pair<size_t, ir::Value*>> rows;  // by the index of the name
    for (size_t i = 0, next = 2; i < carried.size(); ++i) {
        std::vector<Object> leaves = *leaves_like(carried[i].before, round.results[i]);
        for (size_t k = 0; k < carried[i].slots.size(); ++k) {
            const Slot& slot = carried[i].slots[k];
            if (slot.is_fixed) {
                continue;
            }
            ir::Value* row = carried[i].is_list ? take_row(slot, leaves[k], inputs[next]) : nullptr;
            if (row != nullptr) {
                inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(next));
                rows.emplace_back(i, row);
                continue;
            }
            ok = node.add(slot.init.value(), leaves[k], slot.type) && ok;
            ++next;
        }
    }
    for (const Exit& exit : exits) {
        ok = add_exit(c, node, exit) && ok;
    }
    for (const auto& [index, row] : rows) {
        ok = node.add_row(Object::tensor(row)) && ok;
    }
    if (!ok || !node.emit()) {
        return Object::boolean(false);
    }
    for (size_t i = 0; i < carried.size(); ++i) {
        const Carried& one = carried[i];
        auto is_row = [i](const auto& row) { return row.first == i; };
        if (std::any_of(rows.begin(), rows.end(), is_row)) {
            continue;
        }
        size_t next = 0;
        std::vector<Object> leaves = *leaves_like(one.before, round.results[i]);
        bind_outputs(
            c, one.name, map_leaves(one.before, [&](const Object& before) {
                const Object& last = leaves[next];
                const Slot& slot = one.slots[next++];
                if (slot.is_fixed) {
                    return slot.init;
                }
                bool is_settled = loop.surely_runs && last.is_tensor() && !last.is_either() &&
                                  last.value()->type.element_type() == slot.type.element_type();
                bool surely_tensor = loop.surely_runs && last.is_tensor() &&
                                     !last.is_number_tensor() && !last.is_tensor_or_number();
                ir::Value* output = node.take();
                return (surely_tensor ? Object::tensor(output) : carried_as(before, slot, output))
                    .either(slot.is_either && !is_settled);
            }));
    }
    for (const Exit& exit : exits) {
        take_exit(c, node, exit);
        if (!exit.surely && !is_flag(exit.name)) {
            c.at.possibly_unbound[exit.name.index] = {*c.at.scope->find(exit.name),
                                                      c.span(loop.head)};
        }
    }
    for (const auto& [index, row] : rows) {
        ir::Value* stacked = node.take();
        bind_outputs(c, carried[index].name,
                     carried[index].slots[0].is_numbers
                         ? Object::numbers(stacked)
                         : rows_of(c, stacked, row->type, loop.head));
    }
    Object broke = *c.at.scope->find(kBroke);
    c.at.scope->set(kBroke, Object::boolean(false));
    return broke;
}

// What an earlier run over the same loop has found out, when it started alike.
bool recall(Context& c, const GraphLoop& loop, std::vector<Carried>& carried) {
    for (const LoopMemo& memo : c.loop_memos[loop.statement]) {
        if (!same_start(*memo.before, carried)) {
            continue;
        }
        for (size_t i = 0; i < carried.size(); ++i) {
            for (size_t k = 0; k < carried[i].slots.size(); ++k) {
                Slot& slot = carried[i].slots[k];
                const Slot& known = (*memo.after)[i].slots[k];
                slot.is_fixed = known.is_fixed;
                slot.is_number = known.is_number;
                slot.is_either = known.is_either;
                slot.is_numbers = known.is_numbers;
                slot.type = known.type;
                slot.from = known.from;
                if (slot.is_fixed) {
                    continue;
                }
                if (carried[i].is_list || slot.is_numbers) {
                    if (slot.init.is(ObjectKind::kList)) {
                        slot.init = Object::numbers(
                            as_value(c, slot.init, loop.head, slot.type.element_type()));
                    } else if (slot.init.is_none()) {
                        slot.init = known.is_numbers ? empty_numbers(c, slot.type, loop.head)
                                                     : empty_sequence(c, slot.type, loop.head);
                    }
                    continue;
                }
                ir::Value* value =
                    as_typed_value(c, slot.init, slot.type.element_type(), loop.head);
                if (value == nullptr) {
                    return false;
                }
                slot.init = slot.is_number ? Object::number(value) : Object::tensor(value);
            }
        }
        return true;
    }
    return false;
}

void note_widening(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried) {
    for (const Carried& one : carried) {
        for (const Slot& slot : one.slots) {
            if (slot.from.valid() && !slot.is_fixed && !is_flag(one.name)) {
                c.program.diagnostics
                    .report(kWidenedDimension, slot.from,
                            fmt::format("`{}` is `{}` before the loop and `{}` in it",
                                        name_text(c, one.name), type_text(slot.init.value()->type),
                                        type_text(slot.type)))
                    .label(c.span(loop.head), "the loop")
                    .with_help("nothing, if the size is meant to change; else keep it as it was");
            }
        }
    }
}

}  // namespace

Object run_graph_loop(Context& c, const GraphLoop& loop) {
    std::vector<Symbol> names = loop_names(c, loop);
    std::optional<std::vector<Carried>> starts = carried_names(c, loop, names);
    if (!starts) {
        return Object::boolean(false);
    }
    std::vector<Carried> carried = std::move(*starts);
    LoopMemo memo{std::make_shared<std::vector<Carried>>(carried), nullptr};
    bool recalled = loop.statement != nullptr && recall(c, loop, carried);
    if (!recalled && !settle_literals(c, loop, names, carried)) {
        return Object::boolean(false);
    }
    // Each literal may take a round of its own to be found out.
    int most = kMaxRounds + static_cast<int>(carried.size());
    size_t inputs = c.loop_inputs.size();
    for (int rounds = 0; rounds < most && !c.gave_up; ++rounds) {
        c.loop_inputs.resize(inputs);
        size_t said = c.program.diagnostics.items().size();
        int fresh = c.fresh_dims;
        Round round = run_round(c, loop, names, carried, true);
        Fit outcome = fit_round(c, loop, carried, round, rounds);
        if (outcome == Fit::kWider) {
            discard(*round.graph);
            c.program.diagnostics.truncate(said);
            c.fresh_dims = fresh;
            continue;
        }
        forget_names(c, loop, names, carried, round);
        if (outcome == Fit::kNo) {
            discard(*round.graph);
            return Object::boolean(false);
        }
        note_widening(c, loop, carried);
        if (!recalled && loop.statement != nullptr) {
            memo.after = std::make_shared<std::vector<Carried>>(carried);
            c.loop_memos[loop.statement].push_back(std::move(memo));
        }
        Object broke = emit_loop(c, loop, carried, round);
        c.loop_inputs.resize(inputs);
        return broke;
    }
    c.loop_inputs.resize(inputs);
    if (!c.gave_up) {
        c.report(kBranchTypeMismatch, loop.head,
                 "the types of what the loop carries change with every iteration")
            .with_help("cast or reshape the names that the body assigns, so that they stay alike");
    }
    return Object::boolean(false);
}

}  // namespace sardonyx::elaborate
