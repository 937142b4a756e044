// What a loop carries from iteration to iteration.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/scopes/instances.h"

namespace sardonyx::elaborate {

// One tensor of it. A tuple, list or dict is carried item by item.
struct Slot {
    Object init;
    Type type;                // inside the loop
    bool is_literal;          // a Python number before the loop: its element type is open
    bool is_number;           // a Python number in every iteration
    bool is_either = false;   // of two types to Python: Object::is_either
    bool is_numbers = false;  // a list of Python's numbers, or one of whose items nothing is known
    bool is_fixed = false;    // a literal that the body gives back as it was: not carried after all
    diagnostics::Span from;   // of what has widened the type last
};

struct Carried {
    Symbol name;
    Object before;  // an instance is a tuple here (instances.h)
    std::vector<Slot> slots;
    bool is_list = false;  // a list that grows: one slot, a sequence; `before` is None
    // The loop assigns to items of the list or dict: numbers in it are items, too, not a vector.
    bool has_items = false;
    // Nothing else holds the lists and dicts, so the loop may change the copies that it is given.
    bool may_change = false;
    Object instance = {};   // that `before` has been
    HeldObject after = {};  // what the name held after the last round
    // The instances, lists and dicts that it has held, and those that these may be.
    KnownObjects known = {};
    // Names carried with it that hold the same instance after an iteration.
    std::vector<Symbol> twins = {};
};

// Whether it is taken apart: a tuple, a dict, a list of tensors; with `has_items` every list.
inline bool is_taken_apart(const Object& object, bool has_items) {
    return object.is(ObjectKind::kTuple) || object.is(ObjectKind::kDict) ||
           (object.is(ObjectKind::kList) && (has_items || !object.is_static()));
}

// The same structure, with `leaf(object)` in place of each part that is not taken apart.
template <typename Leaf>
Object map_leaves(const Object& object, bool has_items, Leaf&& leaf) {
    if (!is_taken_apart(object, has_items)) {
        return leaf(object);
    }
    if (object.is(ObjectKind::kDict)) {
        DictObject dict = object.get<DictObject>();
        for (auto& [key, value] : dict.items) {
            value = map_leaves(Object(value), has_items, leaf);
        }
        return Object::dict(std::move(dict));
    }
    std::vector<Object> items;
    for (const Object& item : object.items()) {
        items.push_back(map_leaves(item, has_items, leaf));
    }
    return object.with_items(std::move(items));
}

// The parts of `object` where `structure` has leaves; nothing when it is built otherwise.
std::optional<std::vector<Object>> leaves_like(const Object& structure, const Object& object,
                                               bool has_items = false);

// Lets the current graph change the lists and dicts in it.
void claim_parts(Context& c, const Object& object);

// Notes that the lists and dicts in `copy` may be those in `object`, which something else holds.
void note_choices(Context& c, const Object& copy, const Object& object);

// Notes of carried names that hold one instance that each may be the other's.
void note_twins(Context& c, const std::vector<Carried>& carried);

// A value of the slot, which has been `before` when the loop began.
Object carried_as(const Object& before, const Slot& slot, ir::Value* value);

// What is carried only as a part of something else, and only as it is: text, None, functions.
bool stays_static(const Object& leaf);
bool can_carry(const Object& object, bool has_items = false);
Carried make_carried(Symbol name, const Object& before, bool has_items = false);
// A list that the loop makes longer; nothing after a diagnostic.
std::optional<Carried> make_list(Context& c, Symbol name, const Object& list, syntax::Range range);
// The empty list of numbers, and the empty sequence of this type.
Object empty_numbers(Context& c, const Type& type, syntax::Range range);
Object empty_sequence(Context& c, const Type& type, syntax::Range range);
// Whether two loops start alike.
bool same_start(const std::vector<Carried>& a, const std::vector<Carried>& b);

// Gives a literal the element type that the body gives it. False after an error.
bool promote(Context& c, const Carried& one, Slot& slot, const Object& result, syntax::Range range);

enum class Fit { kYes, kWider, kNo };
// Whether what the body gives back for the slot fits the type that it was given; widens it where it
// does not. `rounds`: tries so far.
Fit fit(Context& c, const Carried& one, Slot& slot, const Object& result, int rounds,
        syntax::Range range);

// Gives a sequence that is empty before the loop the type of what the body puts into it; whether
// that is another one. `before`: the input of the body, which may be null.
bool fill_sequence(Slot& slot, const Object& result, const ir::Value* before);

// The name for messages and for values of the graph; that of a pseudo-variable is a word for it.
std::string_view name_text(Context& c, Symbol name);

// Why a name or part that holds this before a loop of the graph has no value in it.
std::string uncarried(const Object& before);

bool is_bound(const Object* object);

bool has_failed(const Object* object);

}  // namespace sardonyx::elaborate
