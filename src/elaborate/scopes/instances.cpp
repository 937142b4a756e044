// Instances as tuples, and back.
#include "elaborate/scopes/instances.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

namespace {

// How deep instances may stand in members and lists, and how long lists are that are looked into.
constexpr int kDeepestPart = 16;
constexpr size_t kLongestPart = 256;

Namespace* script_instance(const Object& object) {
    Namespace* own = as_namespace(object);
    bool is_own = own != nullptr && own->kind == Namespace::Kind::kInstance && own->is_of_script &&
                  own->unknown_all == nullptr && own->of != nullptr && !own->of->is_open;
    return is_own ? own : nullptr;
}

bool is_packed(const Object& object) {
    return object.tuple_class() != nullptr &&
           object.tuple_class()->kind != Namespace::Kind::kNamedTuple;
}

Object packed_at(const Object& object, int depth);

Object packed_items(const Object& object, int depth) {
    std::vector<Object> items;
    bool has_instances = false;
    for (const Object& item : object.items()) {
        items.push_back(packed_at(item, depth));
        has_instances = has_instances || items.back().pointer() != item.pointer();
    }
    return has_instances ? object.with_items(std::move(items)) : object;
}

Object packed_values(const Object& object, int depth) {
    DictObject dict = object.get<DictObject>();
    bool has_instances = false;
    for (auto& [key, value] : dict.items) {
        Object one = packed_at(value, depth);
        has_instances = has_instances || one.pointer() != value.pointer();
        value = std::move(one);
    }
    return has_instances ? Object::dict(std::move(dict)) : object;
}

Object packed_at(const Object& object, int depth) {
    if (depth == kDeepestPart) {
        return object;
    }
    if (object.is_sequence() && object.items().size() <= kLongestPart) {
        return packed_items(object, depth + 1);
    }
    if (object.is(ObjectKind::kDict) && object.get<DictObject>().items.size() <= kLongestPart) {
        return packed_values(object, depth + 1);
    }
    Namespace* own = script_instance(object);
    if (own == nullptr) {
        return object;
    }
    std::vector<std::pair<std::string, Object>> members = own->own_values();
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Object> names, values;
    for (const auto& [name, value] : members) {
        names.push_back(Object::string(name));
        values.push_back(packed_at(value, depth + 1));
    }
    values.insert(values.begin(), Object::tuple(std::move(names)));
    return Object::named_tuple(const_cast<Namespace*>(own->of), std::move(values));
}

Object unpacked_instance(Context& c, const Object& object) {
    const Namespace& type = *object.tuple_class();
    auto [made, own] = make_namespace(c, Namespace::Kind::kInstance, type.name, &type);
    own->is_frozen = type.is_frozen;
    const std::vector<Object>& values = object.items();
    for (size_t i = 1; i < values.size(); ++i) {
        own->set(values[0].items()[i - 1].text(), unpacked(c, values[i]));
    }
    return made;
}

}  // namespace

Object packed(const Object& object) {
    return packed_at(object, 0);
}

Object unpacked(Context& c, const Object& object) {
    if (is_packed(object)) {
        return unpacked_instance(c, object);
    }
    // The lists and dicts around instances are of the branch or loop already.
    if (object.is_sequence() && object.items().size() <= kLongestPart) {
        for (Object& item : object.items()) {
            item = unpacked(c, item);
        }
    } else if (object.is(ObjectKind::kDict) &&
               object.get<DictObject>().items.size() <= kLongestPart) {
        for (auto& [key, value] : object.get<DictObject>().items) {
            value = unpacked(c, value);
        }
    }
    return object;
}

namespace {

// Calls `see(key, part)` for what stands in an instance, list, tuple or dict.
template <typename See>
void each_held(const Object& object, See&& see) {
    if (Namespace* own = script_instance(object)) {
        for (const auto& [name, value] : own->own_values()) {
            see(Object::string(name), value);
        }
    } else if (object.is_sequence()) {
        for (size_t i = 0; i < object.items().size(); ++i) {
            see(Object::integer(static_cast<int64_t>(i)), object.items()[i]);
        }
    } else if (object.is(ObjectKind::kDict)) {
        for (const auto& [key, value] : object.get<DictObject>().items) {
            see(key, value);
        }
    }
}

// The same without the places.
template <typename See>
void each_inner(const Object& object, const See& see) {
    each_held(object, [&see](const Object& key, const Object& part) {
        (void)key;
        see(part);
    });
}

bool reaches_at(const Object& object, const Object& part, int depth) {
    if (object.pointer() != nullptr && object.pointer() == part.pointer()) {
        return true;
    }
    bool is_found = false;
    auto see = [&](const Object& one) { is_found = is_found || reaches_at(one, part, depth + 1); };
    if (depth == kDeepestPart) {
        return false;
    }
    each_inner(object, see);
    return is_found;
}

}  // namespace

bool reaches(const Object& object, const Object& part) {
    return reaches_at(object, part, 0);
}

namespace {

HeldObject held_at(const Context& c, const Object& object, const Object& place, int depth) {
    HeldObject held{place, object.kind(), object.pointer(), {}, {}};
    if (object.is_tensor() || object.is_numbers()) {
        for (const std::shared_ptr<void>& list : choices_of(c, object)) {
            held.lists.emplace_back(list);
        }
    }
    if (depth < kDeepestPart) {
        each_held(object, [&](const Object& key, const Object& part) {
            if (is_open(part) || part.is_sequence() || is_sequence_value(part)) {
                held.parts.push_back(held_at(c, part, key, depth + 1));
            }
        });
    }
    return held;
}

}  // namespace

HeldObject held_objects(const Context& c, const Object& object) {
    return held_at(c, object, Object::none(), 0);
}

namespace {

// The same of what stands in them, place by place. Both have their places in one order, mostly.
void note_parts(Context& c, const Object& made, const HeldObject& held) {
    size_t next = 0, count = held.parts.size();
    each_held(made, [&](const Object& key, const Object& part) {
        bool is_any = is_open(part) || part.is_sequence() || part.is_tensor() || part.is_numbers();
        for (size_t i = 0; is_any && i < count; ++i) {
            const HeldObject& before = held.parts[(next + i) % count];
            if (identical(before.place, key)) {
                note_held(c, part, before);
                next += i + 1;
                return;
            }
        }
    });
}

}  // namespace

void note_held(Context& c, const Object& made, const HeldObject& held) {
    note_choice(c, made, held.kind, held.object);
    for (const std::weak_ptr<void>& list : held.lists) {
        note_choice(c, made, ObjectKind::kList, list);
    }
    note_parts(c, made, held);
}

void note_instances(Context& c, const Object& made, const Object& object) {
    if (made.is(ObjectKind::kModule)) {
        note_choice(c, made, object);
    }
    if (made.pointer() != object.pointer()) {
        note_parts(c, made, held_objects(c, object));
    }
}

namespace {

void add_outer_part(const Context& c, const std::shared_ptr<void>& part, KnownObjects& parts) {
    const ir::Graph *owner = owner_of(c, part), *graph = c.graph;
    while (graph != nullptr && graph != owner) {
        graph = graph->parent();
    }
    if (graph != nullptr) {
        parts.insert(part);
    }
}

void add_outer_parts_at(const Context& c, const Object& object, int depth, KnownObjects& parts) {
    if (depth == kDeepestPart) {
        return;
    }
    if (is_open(object)) {
        add_outer_part(c, object.pointer(), parts);
    }
    if (is_open(object) || object.is_tensor() || object.is_numbers()) {
        for (const std::shared_ptr<void>& other : choices_of(c, object)) {
            add_outer_part(c, other, parts);
        }
    }
    each_inner(object, [&](const Object& part) { add_outer_parts_at(c, part, depth + 1, parts); });
}

}  // namespace

void add_outer_parts(const Context& c, const Object& object, KnownObjects& parts) {
    add_outer_parts_at(c, object, 0, parts);
}

bool are_one(const Object& a, const Object& b) {
    return a.kind() == b.kind() && a.pointer() != nullptr && a.pointer() == b.pointer() &&
           (a.is(ObjectKind::kModule) || a.is_sequence() || a.is(ObjectKind::kDict));
}

}  // namespace sardonyx::elaborate
