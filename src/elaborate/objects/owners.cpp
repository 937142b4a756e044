// The graph in which a list or dict was made, where alone it may be changed.

#include "elaborate/objects/owners.h"

#include <algorithm>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

void claim(Context& c, const Object& object) {
    if (c.graph != c.unit->graph) {
        c.owners->graphs.insert_or_assign(object.pointer(), c.graph);
    }
}

const ir::Graph* owner_of(const Context& c, const Object& object) {
    return owner_of(c, object.pointer());
}

const ir::Graph* owner_of(const Context& c, const std::shared_ptr<void>& object) {
    auto found = c.owners->graphs.find(object);
    const ir::Graph* graph = found == c.owners->graphs.end() ? c.unit->graph : found->second;
    return graph != c.graph && graph->name == kPythonGraph ? graph->parent() : graph;
}

bool is_open(const Object& object) {
    return object.is(ObjectKind::kList) || object.is(ObjectKind::kDict) ||
           object.is(ObjectKind::kModule);
}

bool holds_open(const Object& object) {
    return is_open(object) ||
           (object.is(ObjectKind::kTuple) &&
            std::any_of(object.items().begin(), object.items().end(), holds_open));
}

bool is_owned(const Context& c, const Object& object) {
    return c.graph == c.unit->graph || owner_of(c, object) == c.graph;
}

namespace {

// Whether it has more than so many references, those of the log of changes apart.
bool has_more(const Context& c, const std::shared_ptr<void>& pointer, int references) {
    auto is_it = [&pointer](const Change& one) { return one.object.pointer() == pointer; };
    return pointer.use_count() >
           references + std::count_if(c.changes.begin(), c.changes.end(), is_it);
}

}  // namespace

bool is_shared(const Context& c, const Object& object, int holders) {
    return has_more(c, object.pointer(), holders);
}

namespace {

using Choices = std::vector<std::weak_ptr<void>>;

// The same choice is noted in each round of a loop: it stands there once.
void add_once(Choices& choices, const std::weak_ptr<void>& one) {
    auto is_it = [&one](const std::weak_ptr<void>& known) {
        return !known.owner_before(one) && !one.owner_before(known);
    };
    if (std::none_of(choices.begin(), choices.end(), is_it)) {
        choices.push_back(one);
    }
}

// A list, dict or instance and what it may be, too, also where nothing holds it any more.
Choices with_choices(Context& c, const std::weak_ptr<void>& object) {
    Choices all{object};
    for (const std::weak_ptr<void>& further : c.owners->chosen[object]) {
        if (!further.expired()) {
            all.push_back(further);
        }
    }
    return all;
}

}  // namespace

void note_choice(Context& c, const Object& one, const Object& other) {
    note_choice(c, one, other.kind(), other.pointer());
}

void note_choice(Context& c, const Object& one, ObjectKind kind, const std::weak_ptr<void>& other) {
    if ((one.is_tensor() || one.is_numbers()) && kind == ObjectKind::kList) {
        for (const std::weak_ptr<void>& each : with_choices(c, other)) {
            add_once(c.owners->chosen_sequences[one.value()], each);
            c.owners->in_sequences.insert(each);
        }
        return;
    }
    if (!is_open(one) || one.kind() != kind || one.pointer() == other.lock()) {
        return;
    }
    for (const std::weak_ptr<void>& each : with_choices(c, other)) {
        if (each.lock() == one.pointer()) {
            continue;
        }
        add_once(c.owners->chosen[one.pointer()], each);
        add_once(c.owners->chosen[each], one.pointer());
        if (c.owners->in_sequences.count(each) > 0) {
            c.owners->in_sequences.insert(one.pointer());
        }
    }
}

std::vector<std::shared_ptr<void>> choices_of(const Context& c, const Object& object) {
    std::vector<std::shared_ptr<void>> living;
    auto add = [&living](const auto& choices, const auto& key) {
        auto found = choices.find(key);
        for (size_t i = 0; found != choices.end() && i < found->second.size(); ++i) {
            if (std::shared_ptr<void> other = found->second[i].lock()) {
                living.push_back(std::move(other));
            }
        }
    };
    if (object.is_tensor() || object.is_numbers()) {
        add(c.owners->chosen_sequences, object.value());
    } else {
        add(c.owners->chosen, object.pointer());
    }
    return living;
}

void inherit_choices(Context& c, const Object& one, const Object& other) {
    for (const std::shared_ptr<void>& further : choices_of(c, other)) {
        note_choice(c, one, other.kind(), further);
    }
    if (one.is(ObjectKind::kList) && c.owners->in_sequences.count(other.pointer()) > 0) {
        c.owners->in_sequences.insert(one.pointer());
    }
}

bool may_be_another(const Context& c, const Object& object) {
    auto has_living = [&c](const auto& choices, const auto& key) {
        auto found = choices.find(key);
        return found != choices.end() && std::any_of(found->second.begin(), found->second.end(),
                                                     [&c](const std::weak_ptr<void>& one) {
                                                         std::shared_ptr<void> other = one.lock();
                                                         return other != nullptr &&
                                                                has_more(c, other, 1);
                                                     });
    };
    if (object.is_tensor() || object.is_numbers()) {
        return has_living(c.owners->chosen_sequences, object.value());
    }
    return c.owners->in_sequences.count(object.pointer()) > 0 ||
           has_living(c.owners->chosen, object.pointer());
}

namespace {

// Whether it is what may be changed, or holds such objects.
bool has_parts(const Object& object) {
    return object.is_sequence() || object.is(ObjectKind::kSet) || object.is(ObjectKind::kDict) ||
           object.is(ObjectKind::kPartial) || object.is(ObjectKind::kMethod);
}

}  // namespace

void note_foreign(Context& c, const Object& object) {
    std::vector<const Object*> rest;
    auto add = [&rest](const Object& part) {
        if (has_parts(part)) {
            rest.push_back(&part);
        }
    };
    add(object);
    while (!rest.empty()) {
        const Object& one = *rest.back();
        rest.pop_back();
        if (c.owners->foreign.insert(one.pointer()).second) {
            each_part(one, add);
        }
    }
}

bool is_foreign(const Context& c, const Object& object) {
    return c.owners->foreign.count(object.pointer()) > 0;
}

}  // namespace sardonyx::elaborate
