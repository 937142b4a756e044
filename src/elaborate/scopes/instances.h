// Instances of the program's classes as what branches give and loops carry: part by part, as named
// tuples. What the graph makes of two instances is a new one.
#pragma once

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

// Notes that the instances in `made`, which a branch or loop gives, may be those in `object` to
// Python.
void note_instances(Context& c, const Object& made, const Object& object);

}  // namespace sardonyx::elaborate
