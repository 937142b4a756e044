// Objects that a text can be compiled with, without the program that has made them.
#pragma once

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

// Numbers, texts, arrays, types, opsets, and containers of them; not scripts, functions and objects
// of a program, whose texts are elsewhere.
bool is_plain(const Object& object);

}  // namespace sardonyx::elaborate
