// One run over the body of a loop in the graph, to find out what its names are before and after an
// iteration.
#include "elaborate/loop_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "elaborate/assignments.h"
#include "elaborate/bool_operators.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/trial.h"
#include "elaborate/emit/values.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/flags.h"
#include "elaborate/scopes/instances.h"
#include "elaborate/scopes/joined_kinds.h"
#include "elaborate/scopes/loop_parts.h"
#include "elaborate/scopes/loop_state.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/statements.h"

namespace sardonyx::elaborate {

namespace {

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

bool is_carried(const std::vector<Carried>& carried, Symbol name) {
    return std::any_of(carried.begin(), carried.end(),
                       [name](const Carried& one) { return one.name == name; });
}

// Names that the body assigns and that hold what a loop cannot carry have no value at its start:
// what they hold before the loop is true for the first iteration only.
void hide_objects(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                  const std::vector<Carried>& carried) {
    for (Symbol name : names) {
        const Object* before = c.at.scope->find(name);
        bool is_dict = is_bound(before) && before->is(ObjectKind::kDict);
        if (is_carried(carried, name) || !is_bound(before) ||
            (can_carry(packed(*before)) && !is_dict)) {
            continue;
        }
        Unbound unbound{uncarried(*before), c.span(loop.head)};
        unbound.has_value = true;
        unbound.help = is_dict
                           ? "give it the same keys before the loop and in every iteration, with "
                             "tensors or numbers as values"
                           : "start with a tensor or a number of the type that the loop assigns";
        c.at.scope->set(name, Object::make(ObjectKind::kUnbound, std::move(unbound)));
    }
}

// Binds the carried names; to inputs in any case the lists, of whose items nothing is known yet.
void bind_names(Context& c, std::vector<Carried>& carried, ir::Graph* graph, BoundTo what) {
    for (Carried& one : carried) {
        if (what == BoundTo::kStarts && !one.is_list) {
            continue;
        }
        size_t next = 0;
        Object inside = map_leaves(one.before, one.has_items, [&](const Object& before) {
            const Slot& slot = one.slots[next++];
            if (slot.is_fixed) {
                return slot.init;
            }
            ir::Value* input = c.model.add_input(graph, name_text(c, one.name), slot.type);
            bool has_value = slot.init.is_tensor() || slot.init.is_numbers();
            c.loop_inputs.emplace_back(input, has_value ? slot.init.value() : nullptr);
            return carried_as(before, slot, input).either(slot.is_either);
        });
        if (one.may_change) {
            claim_parts(c, inside);
        } else if (!one.is_list) {
            note_choices(c, inside, one.before);
        }
        inside = unpacked(c, inside);
        if (!one.may_change) {
            note_instances(c, inside, one.instance);
        }
        note_held(c, inside, one.after);
        add_outer_parts(c, inside, one.known);
        set_value(c, one.name, std::move(inside));
    }
    note_twins(c, carried);
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
    Object result = returned_result(c);
    round.result = packed(result);
    if (round.result.pointer() != result.pointer()) {
        round.instances.emplace_back(kReturnedResult, result);
    }
}

}  // namespace

Round run_round(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                std::vector<Carried>& carried, BoundTo what) {
    Round round;
    ir::Graph* outer = c.graph;
    round.graph = c.model.make_graph(outer);
    round.graph->name = "loop_body";
    c.graph = round.graph;
    JoinedGraph joined(c, round.graph);
    size_t mark = c.at.scope->open();
    {
        LoopState state(c, loop.range);
        ir::Value* iteration =
            c.model.add_input(round.graph, "iteration", Type::tensor(ElementType::kInt64, Shape{}));
        c.model.add_input(round.graph, "condition", Type::tensor(ElementType::kBool, Shape{}));
        bind_names(c, carried, round.graph, what);
        hide_objects(c, loop, names, carried);
        state.clear_flags();
        run_iteration(c, loop, iteration, round);
    }
    for (const Carried& one : carried) {
        const Object& after = *find_value(c, one.name);
        if (packed(after).pointer() != after.pointer()) {
            round.instances.emplace_back(one.name, after);
        }
        round.results.push_back(packed(after));
        round.held.push_back(after);
    }
    auto is_known = [&](Symbol name) {
        auto is_in = [name](const std::vector<Symbol>& some) {
            return std::find(some.begin(), some.end(), name) != some.end();
        };
        return is_flag(name) || is_carried(carried, name) || is_in(names) || is_in(round.hidden);
    };
    for (Symbol cell : joined.changed()) {
        Symbol own = own_name(c, cell);
        if (Symbol name = own.valid() ? own : cell; !is_known(name)) {
            round.hidden.push_back(name);
        }
    }
    std::vector<Symbol> changed = c.at.scope->changed(mark);
    for (Symbol name : names) {
        const Object* found = c.at.scope->find(name);
        if (!is_carried(carried, name) && is_bound(found)) {
            if (packed(*found).pointer() != found->pointer()) {
                round.instances.emplace_back(name, *found);
            }
            round.bound.emplace_back(name, packed(*found));
        } else if (has_failed(found)) {
            round.failed.push_back(name);
        }
    }
    c.at.scope->undo(mark);
    // A branch or loop in the body gives what functions called in it have changed as its results.
    for (Symbol name : changed) {
        if (!is_known(name) && is_bound(c.at.scope->find(name))) {
            round.hidden.push_back(name);
        }
    }
    c.graph = outer;
    return round;
}

namespace {

// Whether the parts that are neither tensors nor numbers are what they were.
bool keeps_statics(const Carried& one, const std::vector<Object>& after) {
    for (size_t k = 0; k < after.size(); ++k) {
        const Object& before = one.slots[k].init;
        if (stays_static(before) && !one.is_list && !identical(before, after[k])) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool settle_literals(Context& c, const GraphLoop& loop, const std::vector<Symbol>& names,
                     std::vector<Carried>& carried, std::vector<Symbol>& hidden) {
    auto has_literal = [](const Carried& one) {
        return std::any_of(one.slots.begin(), one.slots.end(),
                           [](const Slot& slot) { return slot.is_literal; });
    };
    if (!std::any_of(carried.begin(), carried.end(), has_literal)) {
        return true;
    }
    Trial trial(c);
    Round round = run_round(c, loop, names, carried, BoundTo::kStarts);
    trial.take_back(*round.graph);
    hidden = round.hidden;
    if (!hidden.empty()) {
        return true;
    }
    std::vector<Symbol> others;  // whose text or None becomes another: they have no value there
    for (size_t i = 0; i < carried.size(); ++i) {
        std::optional<std::vector<Object>> leaves =
            leaves_like(carried[i].before, round.results[i], carried[i].has_items);
        if (leaves && !keeps_statics(carried[i], *leaves) && is_cell(carried[i].name)) {
            refuse_cell(c, carried[i].name, "is text or `None`, and another value in a loop",
                        loop.head);
            return false;
        }
        if (leaves && !keeps_statics(carried[i], *leaves)) {
            others.push_back(carried[i].name);
            continue;
        }
        for (size_t k = 0; k < carried[i].slots.size(); ++k) {
            Slot& slot = carried[i].slots[k];
            const Object& result = leaves ? (*leaves)[k] : slot.init;
            slot.is_fixed = slot.is_literal && identical(slot.init, result);
            if (slot.is_literal && !slot.is_fixed &&
                !promote(c, carried[i], slot, result, loop.head)) {
                return false;
            }
        }
    }
    auto is_other = [&others](const Carried& one) {
        return std::find(others.begin(), others.end(), one.name) != others.end();
    };
    carried.erase(std::remove_if(carried.begin(), carried.end(), is_other), carried.end());
    return true;
}

namespace {

// Reports a name that holds an instance after an iteration of which the loop changes a part in
// place.
bool refuse_changed_instance(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried,
                             const Round& round) {
    for (const Carried& one : carried) {
        Object owner = is_cell(one.name) ? owner_of_cell(c, one.name) : Object::error();
        for (const auto& [name, instance] : round.instances) {
            bool is_read = is_carried(carried, name) || is_live(c, name, loop.range.end);
            if (!owner.is_error() && is_read && name != one.name && reaches(instance, owner)) {
                c.report(kAliasedItemAssignment, loop.head,
                         fmt::format("`{}` holds after an iteration what the loop changes in place",
                                     name_text(c, name)))
                    .with_help("make a new instance in each iteration");
                return true;
            }
        }
    }
    return false;
}

// Reports two names that hold one list or dict after an iteration, which the loop changes.
bool refuse_shared(Context& c, const GraphLoop& loop, const std::vector<Carried>& carried,
                   const Round& round) {
    struct Holder {
        Symbol name;
        bool changes;
    };
    ObjectMap<Holder> holders;
    bool is_refused = false;
    std::function<void(const Object&, Holder)> see = [&](const Object& object, Holder holder) {
        if (object.is(ObjectKind::kList) || object.is(ObjectKind::kDict)) {
            auto [place, is_new] = holders.try_emplace(object, holder);
            const Holder& other = place->second;
            if (!is_new && !is_refused && (other.changes || holder.changes)) {
                is_refused = true;
                c.report(kAliasedItemAssignment, loop.head,
                         fmt::format("`{}` and `{}` hold the same {} after an iteration of a loop "
                                     "that changes it",
                                     name_text(c, other.name), name_text(c, holder.name),
                                     object.is(ObjectKind::kDict) ? "dict" : "list"))
                    .with_help("copy it: `xs = list(xs)` or `d = dict(d)`");
            }
        }
        if (object.is_sequence() || object.is(ObjectKind::kDict)) {
            each_part(object, [&](const Object& part) { see(part, holder); });
        }
    };
    for (size_t i = 0; i < carried.size(); ++i) {
        see(round.results[i], {carried[i].name, carried[i].has_items});
        Object container =
            is_cell(carried[i].name) ? owner_of_cell(c, carried[i].name) : Object::error();
        if (!container.is_error()) {
            holders.try_emplace(container, Holder{carried[i].name, true});
        }
    }
    for (const auto& [name, value] : round.bound) {
        see(value, {name, false});
    }
    return is_refused || refuse_changed_instance(c, loop, carried, round);
}

// Notes what the carried names hold after an iteration: what is from before the loop the next one
// changes where the name is. Whether a name has come to hold something that it did not before.
bool add_outer(const Context& c, std::vector<Carried>& carried, const Round& round) {
    bool is_new = false;
    for (size_t i = 0; i < carried.size(); ++i) {
        size_t known = carried[i].known.size();
        carried[i].after = held_objects(c, round.held[i]);
        add_outer_parts(c, round.held[i], carried[i].known);
        is_new = is_new || carried[i].known.size() > known;
    }
    return is_new;
}

// Notes which carried names hold one instance after an iteration; whether some did not before.
bool add_twins(std::vector<Carried>& carried, const Round& round) {
    bool is_new = false;
    for (Carried& one : carried) {
        auto own = std::find_if(round.instances.begin(), round.instances.end(),
                                [&one](const auto& held) { return held.first == one.name; });
        if (own == round.instances.end()) {
            continue;
        }
        for (const auto& [name, instance] : round.instances) {
            bool is_twin = name != one.name && own->second.pointer() == instance.pointer() &&
                           is_carried(carried, name);
            if (is_twin && std::find(one.twins.begin(), one.twins.end(), name) == one.twins.end()) {
                one.twins.push_back(name);
                is_new = true;
            }
        }
    }
    return is_new;
}

}  // namespace

Fit fit_round(Context& c, const GraphLoop& loop, std::vector<Carried>& carried, const Round& round,
              int rounds) {
    Fit outcome = round.go_on.is_error() ? Fit::kNo : Fit::kYes;
    // An instance comes to the last of the names that hand it on after as many rounds.
    bool has_outer = add_outer(c, carried, round) && static_cast<size_t>(rounds) <= carried.size();
    size_t next_input = 2;  // behind the iteration and the condition
    for (size_t i = 0; i < carried.size() && outcome != Fit::kNo; ++i) {
        Carried& one = carried[i];
        std::optional<std::vector<Object>> leaves =
            leaves_like(one.before, round.results[i], one.has_items);
        if (!leaves && one.before.is(ObjectKind::kDict)) {
            // The body may make another dict before it reads this one: it has no value there.
            carried.erase(carried.begin() + static_cast<std::ptrdiff_t>(i));
            return Fit::kWider;
        }
        if (!leaves) {
            c.report(kBranchTypeMismatch, loop.head,
                     fmt::format(
                         "`{}` is {} before the loop and has another structure after an iteration",
                         name_text(c, one.name), describe(one.before)))
                .with_help("give it the same items, of the same types, in every iteration");
            return Fit::kNo;
        }
        for (size_t k = 0; k < one.slots.size() && outcome != Fit::kNo; ++k) {
            Slot& slot = one.slots[k];
            const ir::Value* before = slot.is_fixed ? nullptr : round.graph->inputs[next_input++];
            Fit fits = rounds == 0 && fill_sequence(slot, (*leaves)[k], before)
                           ? Fit::kWider
                           : fit(c, one, slot, (*leaves)[k], rounds, loop.head);
            outcome = fits == Fit::kYes ? outcome : fits;
        }
    }
    bool has_twins = outcome == Fit::kYes && add_twins(carried, round);
    outcome = outcome == Fit::kYes && (has_twins || has_outer) ? Fit::kWider : outcome;
    return outcome == Fit::kYes && refuse_shared(c, loop, carried, round) ? Fit::kNo : outcome;
}

}  // namespace sardonyx::elaborate
