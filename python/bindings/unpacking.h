// How many results the Python code that is calling expects.
#pragma once

#include <cstddef>

namespace sardonyx::python {

// For a call whose results go straight into `a, b = ...`: 2. A large number for `a, *b = ...`; 0
// for every other call.
//
// The compiler sees the target of an assignment and asks an operator for as many of its optional
// results; that a plain Python call of the same line does the same, the calling frame's next
// instruction is looked at. No other way exists: Python tells a function nothing of what becomes of
// its result, and a tuple that unpacks itself to any length would be longer in every other use.
size_t unpacked_results();

}  // namespace sardonyx::python
