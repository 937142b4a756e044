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
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/trial.h"
#include "elaborate/emit/values.h"
#include "elaborate/flow/bindings.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/flow/grown_names.h"
#include "elaborate/loop_rounds.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/scopes/held_values.h"
#include "elaborate/scopes/instances.h"
#include "elaborate/scopes/loop_emission.h"
#include "elaborate/scopes/loop_parts.h"

namespace sardonyx::elaborate {

using syntax::Range;

// What runs over loops in the graph have found out, so that the runs over the loops around them do
// not find it out again.
struct LoopMemos {
    struct One {
        std::shared_ptr<std::vector<Carried>> before, after;
    };
    std::map<const syntax::Stmt*, std::vector<One>> of;
};

namespace {

constexpr int kMaxRounds = 6;  // of the fixed point

// The lists and dicts that the text of the loop makes longer, and those that it changes otherwise.
struct ListNames {
    std::vector<Symbol> grown, changed;

    ListNames(const Context& c, const GraphLoop& loop)
        : grown(loop.statement != nullptr ? grown_names(c, loop.body)
                                          : std::vector<Symbol>{loop.items}),
          changed(changed_names(c, loop.body)) {}
};

// What the body, the condition and the target assign.
std::vector<Symbol> loop_names(Context& c, const GraphLoop& loop, const ListNames& lists) {
    if (loop.statement == nullptr) {
        return {loop.items};
    }
    std::vector<Symbol> names = assigned_names({&loop.statement, 1});
    auto is_outer = [&outer = c.at.outer_names](Symbol name) {
        return std::find(outer.begin(), outer.end(), name) != outer.end();
    };
    names.erase(std::remove_if(names.begin(), names.end(), is_outer), names.end());
    auto add = [&names](Symbol name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    };
    std::for_each(lists.grown.begin(), lists.grown.end(), add);
    std::for_each(lists.changed.begin(), lists.changed.end(), add);
    auto see = [&add](const Bound& one) { add(one.name); };
    each_binding<binds::kNamed>(nullptr, {&loop.statement, 1}, see);
    return names;
}

constexpr int kDeepestOwn = 32;  // instances may hold each other

// Whether the loop may change the list, dict or instance: nothing else holds it, or what it holds.
bool is_own(Context& c, const Object& object, int depth = 0) {
    if (depth == kDeepestOwn) {
        return false;
    }
    bool is_own_part = !is_open(object) || (!is_shared(c, object) && !is_foreign(c, object) &&
                                            !may_be_another(c, object));
    if (object.is_sequence() || object.is(ObjectKind::kDict)) {
        each_part(object, [&](const Object& part) {
            is_own_part = is_own_part && is_own(c, part, depth + 1);
        });
    } else if (const Namespace* own = as_namespace(object)) {
        for (const auto& [name, value] : own->own_values()) {
            is_own_part = is_own_part && is_own(c, value, depth + 1);
        }
    }
    return is_own_part;
}

// Nothing after a diagnostic.
std::optional<Carried> carried_cell(Context& c, Symbol cell, Range range) {
    const Object* before = find_value(c, cell);
    if (!is_bound(before)) {
        refuse_cell(c, cell, "is bound inside the loop only, which may run zero times", range);
        return std::nullopt;
    }
    if (grows(c, cell) && before->is(ObjectKind::kList)) {
        return make_list(c, cell, *before, range);
    }
    Object start = packed(*before);
    if (!fits_cell(*before) || !can_carry(start)) {
        refuse_cell(c, cell, uncarried(*before), range);
        return std::nullopt;
    }
    bool may_change = is_own(c, *before);
    Carried one = make_carried(cell, held(c, start, range));
    one.instance = *before;
    one.may_change = may_change;
    return one;
}

// Nothing after a diagnostic.
std::optional<std::vector<Carried>> carried_names(Context& c, const GraphLoop& loop,
                                                  const ListNames& lists,
                                                  const std::vector<Symbol>& names,
                                                  const std::vector<Symbol>& cells) {
    std::vector<Carried> all;
    std::vector<Symbol> with_items = names_with_items(loop.body);
    auto has = [](const std::vector<Symbol>& some, Symbol name) {
        return std::find(some.begin(), some.end(), name) != some.end();
    };
    for (Symbol name : names) {
        const Object* before = c.at.scope->find(name);
        bool has_items = has(lists.changed, name) || has(with_items, name);
        if (is_bound(before) && before->is(ObjectKind::kList) && has(lists.grown, name) &&
            !has(lists.changed, name)) {
            std::optional<Carried> list = make_list(c, name, *before, loop.head);
            if (!list) {
                return std::nullopt;
            }
            all.push_back(std::move(*list));
        } else if (is_bound(before) && can_carry(packed(*before), has_items) &&
                   (is_flag(name) || is_live(c, name, loop.range.begin))) {
            bool may_change = is_own(c, *before);
            all.push_back(make_carried(name, held(c, packed(*before), loop.head), has_items));
            all.back().instance = *before;
            all.back().may_change = may_change;
        }
    }
    for (Symbol cell : cells) {
        std::optional<Carried> one = carried_cell(c, cell, loop.head);
        if (!one) {
            return std::nullopt;
        }
        all.push_back(std::move(*one));
    }
    return all;
}

// What an earlier run over the same loop has found out, when it started alike.
bool recall(Context& c, const GraphLoop& loop, std::vector<Carried>& carried) {
    for (const LoopMemos::One& memo : c.loop_memos->of[loop.statement]) {
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
                    .with_help(
                        "change nothing if the size is meant to change; otherwise keep it as it "
                        "was");
            }
        }
    }
}

// What the body changes beside the names that its text shows: known when it has been run.
struct Hidden {
    std::vector<Symbol> names;  // of its own scope
    std::vector<Symbol> cells;

    // Whether there are any.
    bool add(const std::vector<Symbol>& changed) {
        for (Symbol one : changed) {
            (is_cell(one) ? cells : names).push_back(one);
        }
        return !changed.empty();
    }
};

// The flag of break. Nothing: there is more that is hidden, with which the loop is tried again.
std::optional<Object> try_graph_loop(Context& c, const GraphLoop& loop, Hidden& hidden) {
    ListNames lists(c, loop);
    std::vector<Symbol> names = loop_names(c, loop, lists);
    names.insert(names.end(), hidden.names.begin(), hidden.names.end());
    std::optional<std::vector<Carried>> starts = carried_names(c, loop, lists, names, hidden.cells);
    if (!starts) {
        return Object::boolean(false);
    }
    std::vector<Carried> carried = std::move(*starts);
    LoopMemos::One memo{std::make_shared<std::vector<Carried>>(carried), nullptr};
    bool recalled = loop.statement != nullptr && recall(c, loop, carried);
    std::vector<Symbol> found;
    if (!recalled && !settle_literals(c, loop, names, carried, found)) {
        return Object::boolean(false);
    }
    if (hidden.add(found)) {
        return std::nullopt;
    }
    // Each literal may take a round of its own to be found out.
    int most = kMaxRounds + static_cast<int>(carried.size());
    size_t inputs = c.loop_inputs.size();
    for (int rounds = 0; rounds < most && !c.gave_up; ++rounds) {
        Trial trial(c);
        Round round = run_round(c, loop, names, carried, BoundTo::kInputs);
        if (hidden.add(round.hidden)) {
            trial.take_back(*round.graph);
            return std::nullopt;
        }
        Fit outcome = fit_round(c, loop, carried, round, rounds);
        if (outcome == Fit::kWider) {
            trial.take_back(*round.graph);
            continue;
        }
        trial.keep();
        forget_names(c, loop, names, carried, round);
        if (outcome == Fit::kNo) {
            discard(*round.graph);
            c.loop_inputs.resize(inputs);
            return Object::boolean(false);
        }
        note_widening(c, loop, carried);
        if (!recalled && loop.statement != nullptr && carried.size() == memo.before->size()) {
            memo.after = std::make_shared<std::vector<Carried>>(carried);
            c.loop_memos->of[loop.statement].push_back(std::move(memo));
        }
        Object broke = emit_loop(c, loop, carried, round);
        c.loop_inputs.resize(inputs);
        return broke;
    }
    if (!c.gave_up) {
        c.report(kBranchTypeMismatch, loop.head,
                 "the types of the loop-carried values change in every iteration")
            .with_help("cast or reshape the names that the body assigns, to keep their types");
    }
    return Object::boolean(false);
}

}  // namespace

Object run_graph_loop(Context& c, const GraphLoop& loop) {
    Hidden hidden;
    std::optional<Object> broke;
    while (!broke) {
        broke = try_graph_loop(c, loop, hidden);
    }
    return *broke;
}

}  // namespace sardonyx::elaborate
