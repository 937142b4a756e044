// Comparisons of static objects that only Python, or a class of the program, can answer.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Whether both hold a NaN, which is not equal to itself, but in a list is found by its identity:
// the compiler does not know whether they are one object.
bool may_share_nan(const Object& a, const Object& b);

// Whether it is an instance whose class says itself what it is equal to, or holds one.
bool holds_own_equality(const Object& object, int depth = 0);

// Whether objects that are not equal may be so to Python: they may share a NaN, one holds an
// instance whose class has `__eq__`, or an array, which has no single answer.
bool is_doubtful(const Object& a, const Object& b);

// The same of `a == b` themselves: a text, number and None equal no list or dict, whatever that
// holds.
bool is_doubtful_pair(const Object& a, const Object& b);

Object refuse_doubtful(Context& c, const Object& a, const Object& b, syntax::Range range);

}  // namespace sardonyx::elaborate
