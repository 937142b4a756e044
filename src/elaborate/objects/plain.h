// Objects that a text can be compiled with, without the program that has made them.
#pragma once

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

// Numbers, texts, arrays, types, opsets, and containers of them; not scripts, functions and objects
// of a program, whose texts are elsewhere.
bool is_plain(const Object& object);

// Whether it is a number, a text or a container of them, and nothing but `holders` references and
// the containers in it refers to its lists, dicts and sets: then nobody sees what a call does to
// them that gets them.
bool is_held_by_call(const Object& object, int holders = 1);

}  // namespace sardonyx::elaborate
