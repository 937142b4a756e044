// Loops. A loop over static items is unrolled; one over a tensor becomes a Loop node, and so does
// one over a range or a `while` that a tensor's value ends. Where other static items are left on a
// tensor's value, each iteration after that runs in an If of its own.
#include "elaborate/loops.h"

#include <fmt/format.h>

#include "elaborate/assignments.h"
#include "elaborate/bool_operators.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/trial.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/graph_loop.h"
#include "elaborate/iterables.h"
#include "elaborate/jumps.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/doubt.h"
#include "elaborate/scopes/flags.h"
#include "elaborate/scopes/generators.h"
#include "elaborate/scopes/loop_parts.h"
#include "elaborate/scopes/loop_state.h"
#include "elaborate/statements.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// A bool constant: onnx.reference runs a Loop without a condition zero times.
ir::Value* bool_constant(Context& c, bool value, Range range) {
    return emit_constant(c, Tensor::scalar<bool>(value), range);
}

// After a loop: its `else`, which runs unless the loop was left by a jump.
Jump finish_loop(Context& c, const Object& broke, syntax::Stmts body, syntax::Stmts orelse,
                 Range head) {
    Jump jump = leave_loop(c);
    if (jump != Jump::kNone || orelse.empty() || c.gave_up) {
        return jump;
    }
    if (!broke.is_tensor()) {
        return broke.as_bool() ? Jump::kNone : exec(c, orelse);
    }
    if (!may_break(body)) {  // it was left by a return
        return run_unless(c, broke.value(), head, [&] { return exec(c, orelse); });
    }
    Branch yes = run_branch(c, [] { return Jump::kNone; });
    Branch no = run_branch(c, [&] {
        clear_flags(c);
        return exec(c, orelse);
    });
    return merge_skipped(c, broke.value(), yes, no, head);
}

// --- Unrolled ----------------------------------------------------------------------------------

enum class Unrolled { kDone, kBroke, kReturned, kDynamic };

struct Unrolling {
    Unrolled outcome = Unrolled::kDone;
    Object broke = Object::boolean(false);  // kDynamic: the flag
};

// After an iteration: whether a jump depends on a tensor.
Unrolling after_iteration(Context& c, Jump jump) {
    Object broke = flag_value(c, broke_flag(c));
    if (broke.is_tensor()) {
        return {Unrolled::kDynamic, broke};
    }
    return {jump == Jump::kReturn ? Unrolled::kReturned
            : broke.as_bool()     ? Unrolled::kBroke
                                  : Unrolled::kDone,
            broke};
}

// After a jump that depends on a tensor: each iteration is in an If, or there are no more.
enum class DynamicJump : uint8_t { kGuardsRest, kEndsLoop };

// `count()`: how many iterations there are, asked before each of them.
template <typename Count, typename Item>
Unrolling unroll(Context& c, const syntax::ForStmt* statement, Count&& count,
                 DynamicJump dynamic_jump, Item&& item) {
    LoopState state(c, statement->range);
    state.clear_flags();
    Unrolling so_far;
    Range head = statement->iterable->range;
    for (int64_t i = 0; i < count(); ++i) {
        if (c.gave_up || !count_iteration(c, head)) {
            return so_far;
        }
        diagnostics::Checkpoint before(c.program.diagnostics);
        auto iteration = [&] {
            assign(c, statement->target, item(i), head);
            return exec(c, statement->body);
        };
        c.at.scope->set(continued_flag(c), Object::boolean(false));
        Jump jump = so_far.broke.is_tensor() ? run_unless(c, so_far.broke.value(), head, iteration)
                                             : iteration();
        so_far = after_iteration(c, jump);
        bool is_guarded =
            so_far.outcome == Unrolled::kDynamic && dynamic_jump == DynamicJump::kGuardsRest;
        if (!is_guarded && so_far.outcome != Unrolled::kDone) {
            return so_far;
        }
        if (before.has_errors()) {
            return {Unrolled::kBroke, Object::boolean(true)};  // it would be found again each time
        }
    }
    return so_far;
}

// The keys of the dict that is iterated over, or of which a view is.
std::vector<Object> dict_keys(const Object& iterable, const Object& source) {
    const Object* dict = &iterable;
    if (source.is(ObjectKind::kIterator) && source.get<IteratorObject>().is_view() &&
        source.get<IteratorObject>().sources.is(ObjectKind::kTuple)) {
        dict = source.get<IteratorObject>().sources.items().data();
    }
    std::vector<Object> keys;
    if (dict->is(ObjectKind::kDict)) {
        for (const auto& [key, value] : dict->get<DictObject>().items) {
            keys.push_back(key);
        }
    }
    return keys;
}

bool have_same_keys(const std::vector<Object>& a, const std::vector<Object>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

Unrolling unroll_enumerated(Context& c, const syntax::ForStmt* statement, const Object& list,
                            int64_t first) {
    const std::vector<Object>& items = list.items();
    return unroll(
        c, statement, [&items] { return static_cast<int64_t>(items.size()); },
        DynamicJump::kGuardsRest,
        [&items, first](int64_t i) {
            return Object::tuple({Object::integer(first + i), items[static_cast<size_t>(i)]});
        });
}

// Notes that a generator may hold the tensors that it has given.
void note_iterated(Context& c, const Object& items, Range range) {
    each_part(items, [&](const Object& item) {
        if (item.is_tensor()) {
            c.at.iterated.push_back({item.value(), {}, range});
        } else if (item.is_sequence() || item.is(ObjectKind::kDict)) {
            note_iterated(c, item, range);
        }
    });
}

Unrolling unroll_items(Context& c, const syntax::ForStmt* statement, const Object& iterable,
                       const Object& source) {
    if (iterable.is(ObjectKind::kRange)) {
        const RangeObject& range = iterable.get<RangeObject>();
        return unroll(
            c, statement, [size = range.size()] { return size; }, DynamicJump::kEndsLoop,
            [&range](int64_t i) { return Object::integer(range.start + i * range.step); });
    }
    // Of a list and of a view of a dict, as it is at each iteration.
    bool is_view = source.is(ObjectKind::kIterator) && source.get<IteratorObject>().is_view();
    bool is_dict = iterable.is(ObjectKind::kDict);
    bool is_list = iterable.is(ObjectKind::kList) && !is_view;
    std::vector<Object> copied = is_list ? std::vector<Object>() : *static_items(c, iterable);
    const std::vector<Object>& items = is_list ? iterable.items() : copied;
    size_t changes = c.changes.size();
    std::vector<Object> keys = dict_keys(iterable, source);
    bool is_generated = is_of_generator(source);
    size_t iterated = c.at.iterated.size();
    if (is_generated) {
        note_iterated(c, Object::tuple(items), statement->iterable->range);
    }
    auto count = [&] {
        if (is_generated && refuse_outdated(c, source, statement->iterable->range)) {
            return int64_t{0};
        }
        if ((is_view || is_dict) && c.changes.size() != changes) {
            changes = c.changes.size();
            std::vector<Object> now = *static_items(c, is_view ? source : iterable);
            if (!have_same_keys(dict_keys(iterable, source), keys)) {
                c.report(kUnsupportedOperand, statement->iterable->range,
                         "a dict that gets or loses keys while it is iterated over")
                    .with_help("iterate over a copy: `list(...)`");
                return int64_t{0};
            }
            copied = std::move(now);
        }
        return static_cast<int64_t>(items.size());
    };
    Unrolling unrolled = unroll(c, statement, count, DynamicJump::kGuardsRest,
                                [&items](int64_t i) { return items[static_cast<size_t>(i)]; });
    c.at.iterated.resize(iterated);
    if (!is_view && source.is(ObjectKind::kIterator)) {
        refuse_change(c, source, changes, statement->iterable->range);
    }
    return unrolled;
}

// Unrolls while the condition is static. kDynamic: it is not, or a tensor's value ends the loop.
Unrolled unroll_while(Context& c, const syntax::WhileStmt* statement, Object test) {
    LoopState state(c, statement->range);
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
        Unrolled outcome = after_iteration(c, exec(c, statement->body)).outcome;
        if (outcome != Unrolled::kDone) {
            return outcome;
        }
        test = test_value(c, statement->condition);
    }
}

Jump finish_unrolled(Context& c, Unrolled outcome, const Object& broke, syntax::Stmts body,
                     syntax::Stmts orelse, Range head) {
    if (outcome == Unrolled::kReturned) {
        return Jump::kReturn;
    }
    return finish_loop(c, outcome == Unrolled::kBroke ? Object::boolean(true) : broke, body, orelse,
                       head);
}

// --- In the graph ------------------------------------------------------------------------------

// After a loop that nothing but a return ends.
void note_return(Context& c) {
    if (flag_value(c, kReturnedFlag).is_tensor()) {
        c.at.scope->set(kReturnedFlag, Object::boolean(true));
    }
}

Jump for_in_graph(Context& c, const syntax::ForStmt* statement, const Iterable& iterable,
                  bool is_endless) {
    GraphLoop loop;
    loop.statement = statement;
    loop.range = statement->range;
    loop.head = statement->iterable->range;
    loop.body = statement->body;
    loop.target = statement->target;
    loop.trip_count = iterable.count;
    loop.start = bool_constant(c, true, loop.head);
    loop.element = iterable.at;
    loop.count = iterable.dim;
    loop.surely_runs = iterable.known_count.value_or(0) > 0;
    loop.wants_broke = !statement->orelse.empty();
    size_t before = c.at.iterated.size();
    c.at.iterated.insert(c.at.iterated.end(), iterable.iterated.begin(), iterable.iterated.end());
    Object broke = run_graph_loop(c, loop);
    c.at.iterated.resize(before);
    if (is_endless && !may_break(statement->body)) {
        note_return(c);
    }
    return finish_loop(c, broke, statement->body, statement->orelse, loop.head);
}

Jump while_in_graph(Context& c, const syntax::WhileStmt* statement, const Object& start) {
    GraphLoop loop;
    loop.statement = statement;
    loop.range = statement->range;
    loop.head = statement->condition->range;
    loop.body = statement->body;
    loop.condition = statement->condition;
    loop.surely_runs = !start.is_tensor() && start.as_bool();
    loop.start = start.is_tensor() ? start.value() : bool_constant(c, start.as_bool(), loop.head);
    loop.wants_broke = !statement->orelse.empty();
    Object broke = run_graph_loop(c, loop);
    const auto* always = syntax::maybe_as<syntax::BoolExpr>(statement->condition);
    if (always != nullptr && always->value && !may_break(statement->body)) {
        note_return(c);
    }
    return finish_loop(c, broke, statement->body, statement->orelse, loop.head);
}

// A loop with a mistake in its head: its blocks are gone through for what else is wrong, and so
// that their names are bound.
void exec_broken(Context& c, Range range, const syntax::Expr* target, syntax::Stmts body,
                 syntax::Stmts orelse) {
    {
        LoopState state(c, range);
        state.clear_flags();
        if (target != nullptr) {
            bind_error(c, target);
        }
        doubt(c, body);
        ++c.doubtful;
        exec(c, body);
        --c.doubtful;
        state.clear_flags();
    }
    exec(c, orelse);
    doubt(c, body);
    doubt(c, orelse);
}

}  // namespace

Jump exec_for(Context& c, const syntax::ForStmt* statement) {
    if (statement->is_async) {
        c.report(kUnsupportedStatement, statement->range, "`async for` in a script")
            .with_help("write `for`");
        return Jump::kNone;
    }
    std::optional<Iterable> iterable = eval_iterable(c, statement->iterable, statement->body);
    bool is_endless = iterable && iterable->is_static() && is_counted(iterable->items);
    if (is_endless) {
        std::optional<RangeObject> numbers = take_counted(c, iterable->items);
        iterable->items = numbers ? Object::make(ObjectKind::kRange, *numbers) : Object::tuple({});
    }
    if (!iterable) {
        exec_broken(c, statement->range, statement->target, statement->body, statement->orelse);
        return Jump::kNone;
    }
    if (!iterable->is_static()) {
        return for_in_graph(c, statement, *iterable, false);
    }
    Range head = statement->iterable->range;
    bool is_range = iterable->items.is(ObjectKind::kRange);
    if (c.at.in_graph.count(statement) == 0) {
        Trial trial(c);
        Unrolling unrolled =
            iterable->enumerated.is(ObjectKind::kList)
                ? unroll_enumerated(c, statement, iterable->enumerated, iterable->first)
                : unroll_items(c, statement, iterable->items, iterable->source);
        if (unrolled.outcome != Unrolled::kDynamic || !is_range) {
            trial.keep();
            return finish_unrolled(c, unrolled.outcome, unrolled.broke, statement->body,
                                   statement->orelse, head);
        }
        trial.take_back();
        c.at.in_graph.insert(statement);
    }
    iterable = in_graph(c, iterable->items, head);
    return iterable ? for_in_graph(c, statement, *iterable, is_endless) : Jump::kNone;
}

Jump exec_while(Context& c, const syntax::WhileStmt* statement) {
    Object test = test_value(c, statement->condition);
    if (test.is_error()) {
        exec_broken(c, statement->range, nullptr, statement->body, statement->orelse);
        return Jump::kNone;
    }
    if (!test.is_tensor() && c.at.in_graph.count(statement) == 0) {
        Trial trial(c);
        Unrolled outcome = unroll_while(c, statement, test);
        if (outcome != Unrolled::kDynamic) {
            trial.keep();
            return finish_unrolled(c, outcome, Object::boolean(false), statement->body,
                                   statement->orelse, statement->condition->range);
        }
        trial.take_back();
        c.at.in_graph.insert(statement);
    }
    return while_in_graph(c, statement, test);
}

}  // namespace sardonyx::elaborate
