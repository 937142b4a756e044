// Instances of the program's classes as what branches give and loops carry: part by part, as named
// tuples. What the graph makes of two instances is a new one.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// An instance that the script has made as a tuple of its class: its members' names, in order, and
// their values, instances among them and in lists, tuples and dicts in the same way. What holds
// none is left as it is.
Object packed(const Object& object);

// The instances of such tuples: new ones of the current graph.
Object unpacked(Context& c, const Object& object);

// Whether the object is this instance, list or dict, or holds it.
bool reaches(const Object& object, const Object& part);

// Whether it is one object that may hold instances: what a branch leaves as it was stays itself.
bool are_one(const Object& a, const Object& b);

// Objects by what they are, not by where: what stands at the address of a dead one is another.
using KnownObjects = std::set<std::weak_ptr<void>, std::owner_less<>>;

// An instance, list, tuple or dict as it was at one time: which objects stood in it, and where.
struct HeldObject {
    Object place;  // the member, index or key that it has stood at
    ObjectKind kind = ObjectKind::kError;
    std::weak_ptr<void> object;
    std::vector<std::weak_ptr<void>> lists;  // those that a list of the graph may be
    std::vector<HeldObject> parts;
};

HeldObject held_objects(const Context& c, const Object& object);

// Notes that the instances, lists and dicts in `made` may be those that stood in `held`.
void note_held(Context& c, const Object& made, const HeldObject& held);

// Adds the instances, lists and dicts in an object, and what they may be to Python, that were made
// in the current graph or in one around it.
void add_outer_parts(const Context& c, const Object& object, KnownObjects& parts);

// Notes that an instance, and the instances, lists and dicts in `made`, which a branch or loop
// gives, may be those of `object` to Python.
void note_instances(Context& c, const Object& made, const Object& object);

}  // namespace sardonyx::elaborate
